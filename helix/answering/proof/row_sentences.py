"""Rows of an answer's table whose cells are sentences: each cell is a claim of its own."""

from __future__ import annotations

import re
from typing import NamedTuple

from helix.answering.proof.facts import Facts

_SENTENCE = re.compile(r"[.!?…؟۔।॥。！？][\"'”’»›)\]]*\Z")
_LEAST_SAID = 3
"""Words with a meaning of a cell that claims something. Read as one row, two claims that people
found borne out passed in 51 of 65 cases, cell by cell in 65; a true one in front of a foreign one
in 5 of 80, cell by cell in 3."""


class RowClaims(NamedTuple):
    """The sentences of a row, and a ``label``: what stands beside them and claims nothing alone."""

    sentences: list[str]
    label: str


def row_claims(text: str) -> RowClaims | None:
    """The claims of a row, cells that are no sentences as one; None where no cell is a sentence.

    None, too, of what is one claim alone, label or not.
    """
    cells = [cell for part in text.split("|") if (cell := part.strip())]
    whole = [cell for cell in cells if _SENTENCE.search(cell) and _says(cell)]
    rest = " | ".join(cell for cell in cells if cell not in whole)
    said = [*whole, rest] if whole and _says(rest) else whole
    return RowClaims(said, "" if rest in said else rest) if len(said) > 1 else None


def _says(text: str) -> bool:
    return len(Facts(text).content) >= _LEAST_SAID
