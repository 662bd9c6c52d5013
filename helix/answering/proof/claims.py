"""Claims of a part of a statement that has several sentences: cells of a row, or run together."""

from __future__ import annotations

import re
from typing import NamedTuple

from helix.answering.proof.facts import Facts
from helix.language.sentences import sentences

_SENTENCE = re.compile(r"[.!?…؟۔।॥。！？][\"'”’»›)\]]*\Z")
_LEAST_SAID = 3
"""Words with a meaning of a sentence that claims something. Read as one row, two claims that people
found borne out passed in 51 of 65 cases, cell by cell in 65; a true one in front of a foreign one
in 5 of 80, cell by cell in 3."""


class Claims(NamedTuple):
    """The sentences of a part; the words beside them are one more where they say enough.

    Otherwise they are its ``label``, which claims nothing alone: only its names and numbers count.
    """

    sentences: list[str]
    label: str


def claims_of(text: str) -> Claims | None:
    """The claims of a part; None where it is one claim alone, label or not."""
    pieces = pieces_of(text)
    whole = [piece for piece in pieces if _SENTENCE.search(piece) and _says(piece)]
    rest = " | ".join(piece for piece in pieces if piece not in whole)
    said = [*whole, rest] if whole and _says(rest) else whole
    return Claims(said, "" if rest in said else rest) if len(said) > 1 else None


def pieces_of(text: str) -> list[str]:
    """The sentences of a text, a cell of a row being one at least."""
    return [piece for cell in text.split("|") for piece in sentences(cell)]


def _says(text: str) -> bool:
    return len(Facts(text).content) >= _LEAST_SAID
