"""The tables of a document: cells with their header paths, known without any reader."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

LABELLED = Path(__file__).parent.parent / "datasets" / "labelled_tables.json"

Words = tuple[str, ...]

_NUMBER = re.compile(r"[($€£¥+\-–—−\s]*(US)?[$€£¥]?\s*\d[\d,]*(\.\d+)?\s*[)%\sx]*\Z", re.IGNORECASE)
_YEAR = re.compile(r"(19|20)\d\d\Z|\D*000\Z")
"""A year, or a measure such as US$000: no values."""
_DASH = re.compile(r"[$€£\s]*[-–—−]+\s*%?\Z")
_SCALE = re.compile(
    r"\W*(in\s*)?(us|u\.s\.)?\s*([$€£]|dollars?)?\s*(amounts?\s+)?(are\s+)?(expressed\s+)?(in\s*)?"
    r"(thousands?|millions?|billions?|000s?)\b.*",
    re.IGNORECASE,
)
_UNFINISHED_TIME = re.compile(
    r".*\b(ended|ending|as of|as at|(january|february|march|april|may|june|july|august|september"
    r"|october|november|december)\s+\d{1,2})\W*\Z",
    re.IGNORECASE,
)
"""A corner that the years beside it complete: "For the year ended December 31," """
_SCALE_AT_END = re.compile(
    r"\s*\((us|u\.s\.)?\s*[$€£]?\s*in\s*(thousands|millions|billions)\)\Z", re.I
)


@dataclass(frozen=True)
class TrueCell:
    """A cell: its text, and every path of its row and of its column that is right.

    There is more than one where the print leaves it open, such as whether a total belongs to the
    group above it.
    """

    text: str
    rows: tuple[Words, ...]
    columns: tuple[Words, ...]


@dataclass(frozen=True)
class TrueTable:
    """A table of the file ``document``; ``page`` counts from 1."""

    document: str
    page: int
    name: str
    cells: tuple[TrueCell, ...]


@dataclass(frozen=True)
class PrintedRow:
    """A row as it is printed; ``indented`` where a group holds it, ``header`` in the head."""

    cells: tuple[str, ...]
    header: bool = False
    indented: bool = False


@dataclass(frozen=True)
class MatrixTable:
    """A raw matrix with what its print makes of it.

    ``spans`` are, for each header row, the (first, last, text) of its texts over the columns, the
    first column being that of the row labels; both ends are included.
    """

    rows: tuple[PrintedRow, ...]
    spans: tuple[tuple[tuple[int, int, str], ...], ...]
    cells: tuple[TrueCell, ...]


def is_value(text: str) -> bool:
    """True where a whole cell is a number that is no year, or a dash."""
    plain = text.strip()
    return bool(_DASH.match(plain) or (_NUMBER.match(plain) and not _YEAR.match(plain)))


def matrix_table(matrix: Sequence[Sequence[str]]) -> MatrixTable | None:
    """A table from the texts of its cells by one rule; None where there is no row of values.

    The first column has the row labels. The body begins at the first row with a value; header rows
    are those before it down to the last that has text beside the label. A row of a label alone
    opens a group unless it is a scale; the next such row, a row that begins with "Total" and one
    of values without a label end it. The table ends where another header begins.
    """
    rows = _squared(matrix)
    first = next((n for n, row in enumerate(rows) if any(map(is_value, row[1:]))), None)
    if first is None:
        return None
    head = max((n + 1 for n in range(first) if any(rows[n][1:])), default=0)
    spans = tuple(_header_spans(row) for row in rows[:head])
    corner = tuple(row[0] for row in rows[:head] if row[0])
    before = corner if _UNFINISHED_TIME.match(" ".join(corner)) else ()
    columns = [_column_paths(spans, column, before) for column in range(len(rows[0]))]
    printed = [PrintedRow(row, header=True) for row in rows[:head]]
    cells: list[TrueCell] = []
    groups: list[str] = []
    for number, row in enumerate(rows[head:], head):
        label = row[0]
        if not label and not any(map(is_value, row)):
            break  # the header of another table below
        if label and not any(row[1:]):
            if _SCALE.match(label):
                printed.append(PrintedRow(row))
                continue
            follows = number > head and not any(rows[number - 1][1:])
            groups = [*(groups if follows else []), label]
            printed.append(PrintedRow(row))
            continue
        total = not label or label.casefold().startswith("total")
        printed.append(PrintedRow(row, indented=bool(groups) and not total))
        paths = _row_paths(groups, label, total)
        cells += [
            TrueCell(text, paths, columns[place])
            for place, text in enumerate(row)
            if place and text
        ]
        groups = [] if total else groups
    return MatrixTable(tuple(printed), spans, tuple(cells))


def _squared(matrix: Sequence[Sequence[str]]) -> list[Words]:
    """The rows with single spaces, as wide as the widest, without empty rows and columns."""
    width = max(map(len, matrix))
    rows = [[" ".join(cell.split()) for cell in row] + [""] * (width - len(row)) for row in matrix]
    kept = [n for n in range(width) if n == 0 or any(row[n] for row in rows)]
    return [tuple(row[n] for n in kept) for row in rows if any(row)]


def _header_spans(row: Words) -> tuple[tuple[int, int, str], ...]:
    """Over which columns each text of a header row stands."""
    last = len(row) - 1
    places = [n for n in range(1, last + 1) if row[n]]
    if row[0] and not places:
        return ()
    block, rest = divmod(last, len(places))
    if not rest and all((n - 1) // block == k for k, n in enumerate(places)):
        ends = [(k * block + 1, (k + 1) * block) for k in range(len(places))]
    else:
        ends = list(zip(places, [*(n - 1 for n in places[1:]), last], strict=True))
    return tuple((start, end, row[n]) for (start, end), n in zip(ends, places, strict=True))


def _column_paths(
    spans: Sequence[Sequence[tuple[int, int, str]]], column: int, corner: Words
) -> tuple[Words, ...]:
    """The path of a column, and the one without its scales ("in thousands"): either is right.

    So are both with a ``corner`` in front that tells of what time they are.
    """
    whole, bare = [], []
    for row in spans:
        is_scale = all(_SCALE.match(text) for _, _, text in row)
        for text in (text for start, end, text in row if start <= column <= end):
            whole.append(text)
            if not is_scale and (short := _SCALE_AT_END.sub("", text)):
                bare.append(short)
    paths = (tuple(whole), tuple(bare))
    return tuple(dict.fromkeys((*paths, *((*corner, *path) for path in paths))))


def _row_paths(groups: Sequence[str], label: str, total: bool) -> tuple[Words, ...]:
    own = (label,) if label else ()
    paths = {(*groups[-1:], *own), (*groups, *own)}
    if total:
        paths.add(own)
    return tuple(sorted(paths))


@cache
def labelled_tables() -> tuple[TrueTable, ...]:
    """The tables of sec10q that were labelled by hand.

    A part of a path with "?" in front may be left out: a heading over the whole statement, such as
    ASSETS, or a date in a row of its own above the headers.
    """
    found = []
    for one in json.loads(LABELLED.read_text("utf-8")):
        columns = [_alternatives(path) for path in one["columns"]]
        cells = []
        for path, values in one["rows"]:
            rows = set(_alternatives(path))
            if path[-1].casefold().startswith("total"):
                rows.add((path[-1],))
            cells += [
                TrueCell(value, tuple(sorted(rows)), column)
                for value, column in zip(values, columns, strict=True)
            ]
        found.append(TrueTable(one["document"], one["page"], one["table"], tuple(cells)))
    return tuple(found)


def _alternatives(path: Sequence[str]) -> tuple[Words, ...]:
    """``path`` with and without each of its parts that may be left out."""
    choices = [((part[1:],), ()) if part.startswith("?") else ((part,),) for part in path]
    return tuple(tuple(part for parts in one for part in parts) for one in product(*choices))
