"""The cells that a reader gives of a document, against those that it should."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from evals.documents.true_tables import TrueCell
from helix.domain.tables import Table

_FOOTNOTE = re.compile(r"(?:\s*\(\d{1,2}\)|\s*\([a-z]\)|[*†‡¹²³⁴⁵]+)+(?=\s*:?\s*$)")
_DASHES = re.compile(r"[‐‑‒–—―−]")
_EDGES = re.compile(r"[.:…]+$")
_CURRENCY = re.compile(r"^(?:us)?[$€£¥]|(?<=\()[$€£¥]")


@dataclass(frozen=True)
class ReadCell:
    """A cell as it was read, its texts compared without white space and marks."""

    text: str
    row: str
    column: str


@dataclass(frozen=True)
class CellScore:
    """Of one table: cells that should be there, and how many are, by how much of them is right.

    ``strange`` are the cells that were read beside them, where all cells of the document are known.
    """

    cells: int
    exact: int
    with_row: int
    text: int
    strange: int = 0
    missed: tuple[TrueCell, ...] = ()


def squeezed(text: str) -> str:
    """``text`` without white space, in one case, its dashes one."""
    plain = unicodedata.normalize("NFKC", text.replace("\u00ad", "")).casefold()
    return _DASHES.sub("-", "".join(plain.split()))


def header(path: Iterable[str]) -> str:
    """A header path as it is compared: in one, without footnote marks, colons and leaders."""
    return "".join(_EDGES.sub("", squeezed(_FOOTNOTE.sub("", part))) for part in path)


def value(text: str) -> str:
    """A cell's text as it is compared: without its currency sign."""
    return _CURRENCY.sub("", squeezed(text))


def read_cells(text: str, tables: Iterable[Table]) -> list[ReadCell]:
    """The cells of ``tables``, which are of the document's ``text``."""
    return [
        ReadCell(
            value(text[cell.start : cell.end]),
            header(table.rows[cell.row]),
            header(table.columns[cell.column]),
        )
        for table in tables
        for cell in table.cells
    ]


def score(truth: Sequence[TrueCell], read: Sequence[ReadCell]) -> CellScore:
    """The number of cells of ``truth`` that are among ``read``, each of which counts once."""
    exact, missed = _matched(truth, read, lambda c: (c.text, c.row, c.column))
    with_row, _ = _matched(truth, read, lambda c: (c.text, c.row, ""))
    text, _ = _matched(truth, read, lambda c: (c.text, "", ""))
    return CellScore(len(truth), exact, with_row, text, len(read) - text, tuple(missed))


def _matched(
    truth: Sequence[TrueCell], read: Sequence[ReadCell], key: Callable[[ReadCell], object]
) -> tuple[int, list[TrueCell]]:
    left = Counter(key(cell) for cell in read)
    found, missed = 0, []
    for cell in truth:
        wanted = {
            key(ReadCell(value(cell.text), header(row), header(column)))
            for row in cell.rows
            for column in cell.columns
        }
        hit = next((one for one in wanted if left[one]), None)
        if hit is None:
            missed.append(cell)
        else:
            left[hit] -= 1
            found += 1
    return found, missed
