"""The head of a table of rows: the text above it, its header rows, its labels and its units.

A header is found by its look where the format does not mark it: the first row that is wide enough,
mostly words, no word twice, and unlike the rows below it; with the rows around it that have no
label, which span columns or name them further.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

from pipelines.readers.grids import LONGEST_NAME, NO_ENTRY, Entry, GridHead, Path

_MOST_HEADERS = 8  # rows
MOST_COLUMNS = 16_384  # a spreadsheet's own limit
_LONGEST_NUMBER = 40

Cells = list[str]


class Row(NamedTuple):
    """A row as it was read.

    ``number`` is its number as the file's owner counts, from 1. ``cells`` are one a column, empty
    ones ''; a cell merged downwards is repeated. ``spans`` is the width of those over several
    columns. ``is_header`` and ``labels``, the count of leading cells that are row headers, are set
    where the format says so. ``is_unmarked``: the format marks headers, and none in this table.
    """

    number: int
    cells: Cells
    spans: Mapping[int, int] = MappingProxyType({})
    is_header: bool = False
    labels: int = 0
    is_unmarked: bool = False


@dataclass(frozen=True, slots=True)
class Opening:
    """The rows that begin a table: so many above it, then so many of its header."""

    above: int
    header: int


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The findings of one table's first rows.

    ``labels`` is how many columns name the rows. ``has_groups``: a row with a label alone names
    the rows below it; else it is a row without values.
    """

    head: GridHead
    labels: int
    has_groups: bool

    @property
    def is_table(self) -> bool:
        """A list of one column is none."""
        return self.labels + len(self.head.columns) > 1


def opening_of(rows: Sequence[Row], *, again: bool) -> Opening | None:
    """The rows that begin the table at the top of ``rows``; None where the one before goes on.

    ``again``: there is one before it, so that only a header which cannot be a row of data counts.
    """
    marked = next((index for index, row in enumerate(rows) if not row.is_header), len(rows))
    if marked:
        titles = next((i for i, row in enumerate(rows[:marked]) if not _is_title(row, rows)), 0)
        return Opening(titles, marked - titles)
    widths = [_width(row) for row in rows]
    wide = max(2, (max(widths) + 1) // 2)
    first = next((index for index, width in enumerate(widths) if width >= wide), 0)
    first = _below_notes(rows, first)
    last = first + 1
    while last < len(rows) and last - first < _MOST_HEADERS and _continues(rows, last):
        last += 1
    top = _first_spanning(rows, first, _MOST_HEADERS - (last - first))
    names = _joined(rows[top:last])
    below = [row.cells for row in rows[last:]]
    needs_contrast = again or any(row.is_unmarked for row in rows)
    stands_out = _stands_out(names, below) or (not again and _names_columns(names, below))
    if (stands_out or not needs_contrast) and _is_header(names, below):
        return Opening(top, last - top)
    if again:
        return None
    bottom = first  # a narrow header above the labels of groups: of one column, or of few
    while bottom and rows[bottom - 1].cells[0] and not any(rows[bottom - 1].cells[1:]):
        bottom -= 1
    top = _first_spanning(rows, bottom, _MOST_HEADERS)
    values = [row.cells for row in rows[bottom:]]
    if top < bottom and any(_usual_kind(values, c) == "number" for c in range(1, len(values[0]))):
        return Opening(top, bottom - top)
    return Opening(first, 0)


def reading_of(above: Sequence[Row], header: Sequence[Row], below: Sequence[Row]) -> Reading:
    """The names in the rows of ``header``, and the units in them or in the rows above.

    ``above`` are the rows of text that are to be the caption.
    """
    labels = _label_columns(header, below)
    named = [row for row in header if not _is_scale(row.cells[1:])]
    width = min(MOST_COLUMNS, max((len(row.cells) for row in (*header, *below)), default=0))
    columns = _columns(named, labels, width)
    corners = [
        _distinct(row.cells[c] for row in header if c < len(row.cells)) for c in range(labels)
    ]
    names = [text for texts in corners for text in texts if not is_units(text)]
    scales = [text for texts in corners for text in texts if is_units(text)]
    scales += [text for row in header if row not in named for text in row.cells[1:] if text]
    caption = " ".join(text for row in above for text in _distinct(row.cells))
    told = _units_in(caption) or next((found for row in header if (found := _units_of(row))), "")
    is_vague = not names or bool(_PERIOD.fullmatch(" ".join(names)))
    if names and is_vague:
        caption = ", ".join(filter(None, (caption, " ".join(names))))
    head = GridHead(
        columns,
        entry_of(caption),
        entry_of("; ".join(dict.fromkeys(filter(None, [told, *scales])))),
        entry_of("" if is_vague else " › ".join(names)),
    )
    return Reading(head, labels, has_groups=bool(labels) and is_vague)


def entry_of(text: str) -> Entry:
    """A text of a table that is from nowhere in particular."""
    return Entry(text) if text else NO_ENTRY


# --- header rows


def _width(row: Row) -> int:
    return sum(row.spans.get(column, 1) for column, cell in enumerate(row.cells) if cell)


def _first_spanning(rows: Sequence[Row], end: int, most: int) -> int:
    """The first of at most ``most`` rows before ``end`` whose words span columns, or ``end``."""
    start = end
    while start and end - start < most and _spans_columns(rows[start - 1]):
        start -= 1
    return start


def _below_notes(rows: Sequence[Row], first: int) -> int:
    """The row to begin at instead of ``first``, where notes of several cells stand above a header.

    That is the last row of nothing but words before a row of values, with a label and more names
    than each row of words above it. A first row with merged cells groups columns, and is no note.
    """
    values = first
    while values < len(rows) and _is_words(rows[values]):
        values += 1
    last = values - 1
    if values == len(rows) or last <= first or not rows[last].cells[0]:
        return first
    names = [sum(map(bool, row.cells)) for row in rows[first:values]]
    is_header = names[-1] > max(names[:-1]) and not rows[first].spans and not rows[last].spans
    return last if is_header else first


def _is_words(row: Row) -> bool:
    return {_kind(cell) for cell in row.cells if cell} <= {"text"}


def _is_title(row: Row, rows: Sequence[Row]) -> bool:
    """One text over a table of several columns."""
    return (
        len(set(filter(None, row.cells))) == 1 and bool(row.cells[0]) and max(map(_width, rows)) > 1
    )


def _spans_columns(row: Row) -> bool:
    """A row of words without a label: its words span columns."""
    kinds = {_kind(cell) for cell in row.cells if cell}
    return not row.cells[0] and bool(kinds) and not kinds & {"number", "dash"}


def _continues(rows: Sequence[Row], index: int) -> bool:
    """True where a row names the columns of the header row before it further."""
    row, below = rows[index], [row.cells for row in rows[index + 1 :]]
    if any(column and span > 1 for column, span in rows[index - 1].spans.items()):
        return bool(below) and not {_kind(cell) for cell in row.cells[1:]} & {"number", "dash"}
    return _spans_columns(row) and any(
        _usual_kind(below, column) == "number" for column, cell in enumerate(row.cells) if cell
    )


def _joined(rows: Sequence[Row]) -> Cells:
    """The names that several header rows give to each column."""
    paths = [tuple(row) for row in zip(*_spread(rows), strict=True)]
    return [" ".join(filter(None, path)) for path in paths]


def _is_header(names: Cells, below: Sequence[Cells]) -> bool:
    given = list(filter(None, names))
    kinds = [_kind(name) for name in given]
    if not below or len(given) < 2 or len(set(given)) < len(given):
        return False
    if names[0].endswith(":") or any(len(name) > LONGEST_NAME for name in given):
        return False
    if 2 * kinds.count("number") >= len(given) or ("text" not in kinds and names[0]):
        return False
    return not any(
        _kind(name) == usual
        for column, name in enumerate(names)
        if (usual := _usual_kind(below, column)) != "text"
    )


def _stands_out(cells: Cells, below: Sequence[Cells]) -> bool:
    """Words only, and over numbers or dates in some column."""
    filled = [column for column, cell in enumerate(cells) if cell]
    return all(_kind(cells[column]) == "text" for column in filled) and any(
        _usual_kind(below, column) not in ("text", "") for column in filled
    )


def _names_columns(cells: Cells, below: Sequence[Cells]) -> bool:
    """True for several names beside an empty corner, and for one over cells that have digits."""
    if not cells[0] and sum(map(bool, cells)) > 1:
        return True
    for column, name in enumerate(cells):
        values = [row[column] for row in below if column < len(row) and row[column]]
        with_digit = sum(any(map(str.isdigit, value)) for value in values)
        is_name = _kind(name) in ("year", "date") or not any(map(str.isdigit, name))
        if name and is_name and with_digit > max(1, len(values) // 2):
            return True
    return False


# --- columns and labels


def _columns(header: Sequence[Row], labels: int, width: int) -> tuple[Path, ...]:
    names = _spread(header)
    paths = (
        _distinct(row[column] for row in names if column < len(row))
        for column in range(labels, width)
    )
    return tuple(tuple(map(Entry, path)) for path in paths)


def _spread(rows: Sequence[Row]) -> list[Cells]:
    """Header rows of one width, a name in each column that it stands over."""
    width = max((len(row.cells) for row in rows), default=0)
    last = len(rows) - 1
    return [_over(row, width, is_last=index == last) for index, row in enumerate(rows)]


def _over(row: Row, width: int, *, is_last: bool) -> Cells:
    cells = [*row.cells, *[""] * (width - len(row.cells))]
    for column, span in row.spans.items():
        cells[column : column + span] = [cells[column]] * len(cells[column : column + span])
    if is_last or row.spans or cells[0]:
        return cells
    # merged cells that a format does not tell of: equal blocks, else each up to the next
    values = cells[1:]
    count = sum(map(bool, values))
    block = len(values) // max(count, 1)
    blocks = [values[at : at + block] for at in range(0, block * count, block)] if count else []
    if block * count == len(values) and all(sum(map(bool, one)) == 1 for one in blocks):
        return ["", *("".join(one) for one in blocks for _ in one)]
    name = ""
    return ["", *(name := value or name for value in values)]


def _label_columns(header: Sequence[Row], below: Sequence[Row]) -> int:
    """The number of columns that name rows: as marked; else 1 where the first has unique words."""
    marked = {row.labels for row in below if len(row.cells) > 1 and row.labels < len(row.cells)}
    if marked - {0}:
        return min(marked - {0})
    width = max((len(row.cells) for row in below), default=0)
    if width < 2:
        return 0
    first = [row.cells[0] for row in below if row.cells[0] and any(row.cells[1:])]
    if header and not any(row.cells[0] for row in header):
        return 1
    is_unique = len(set(first)) == len(first)
    return int(bool(first) and is_unique and all(_kind(cell) == "text" for cell in first))


def _distinct(texts: Iterable[str]) -> list[str]:
    """Texts in order, each of a run of equal ones once, empty ones left out."""
    return [text for text, _ in groupby(filter(None, texts))]


# --- units


_SCALE = r"(?:thousands?|millions?|billions?|trillions?|lakhs?|crores?|['’]?000s?|mn|bn|m)"
_MONEY = (
    r"(?:[$€£¥]|us\$|u\.s\. ?\$|(?:u\.?s\.? )?dollars?|usd|eur|gbp|chf|jpy|inr|euros?|pounds?|yen)"
)
_MEASURE = rf"(?:{_MONEY}[ -]?(?:in )?{_SCALE}?|{_SCALE}(?: of {_MONEY})?)"
_SAID_IN = rf"\bin (?:the )?{_MEASURE}(?![\w$€£¥])"
_UNITS = re.compile(rf"\(?[^()]{{0,40}}{_SAID_IN}[^()]{{0,80}}(?:\(s\))?[^()]*\)?:?", re.IGNORECASE)
_BARE_UNITS = re.compile(
    rf"\(?(?:{_MONEY} ?{_SCALE}|{_SCALE}(?: of)? {_MONEY}|{_SCALE})\)?", re.IGNORECASE
)
_UNITS_WITHIN = re.compile(rf"\(([^()]{{0,40}}{_SAID_IN}[^()]{{0,80}})\)", re.IGNORECASE)
_PERIOD = re.compile(
    r"as (?:of|at)\b.*|at\b.*|.*\b(?:ended|ending|months|weeks|years?|quarters?|fiscal)\b.*"
    r"|(?:january|february|march|april|may|june|july|august|september|october|november|december)"
    r"\b.*",
    re.IGNORECASE,
)


def is_units(text: str) -> bool:
    """True where a text is nothing but the scale of numbers: "(in millions)", "EUR thousand"."""
    if len(text) > LONGEST_NAME:
        return False
    return bool(_UNITS.fullmatch(text) or _BARE_UNITS.fullmatch(text))


def _units_of(row: Row) -> str:
    """The units that a header row tells for the whole table."""
    return next((found for cell in row.cells if (found := _units_in(cell))), "")


def _units_in(text: str) -> str:
    if _UNITS.fullmatch(text[: LONGEST_NAME + 1]):
        return text
    within = _UNITS_WITHIN.search(text[: 2 * LONGEST_NAME])
    return within.group(1) if within else ""


def _is_scale(cells: Cells) -> bool:
    """True where all that a header row says of the columns is one scale."""
    filled = list(filter(None, cells))
    if len(filled) == 1:
        return is_units(filled[0])
    return len(set(filled)) == 1 and bool(_UNITS.fullmatch(filled[0][: LONGEST_NAME + 1]))


# --- kinds of cells


def _usual_kind(rows: Sequence[Cells], column: int) -> str:
    """The kind that more than half of a column's cells are of: text if none; '' if all empty."""
    kinds = [_kind(cells[column]) for cells in rows if column < len(cells) and cells[column]]
    kinds = [kind for kind in kinds if kind != "dash"]
    if not kinds:
        return ""
    most = max(set(kinds), key=kinds.count)
    return most if 2 * kinds.count(most) > len(kinds) else "text"


_YEAR = re.compile(r"(?:19|20)\d\d")
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?: .*)?")
_NUMBER = re.compile(r"[-+−(]?\s?[€$£¥]?\s?[-+−(]?\s?\d[\d.,'’  ]*\s?[%€$£¥)]*\s?[%)]*|TRUE|FALSE")
_DASH = re.compile(r"[$€£¥]?\s?[-–—]+\s?%?")
_THOUSANDS = re.compile(r"[€$£¥]?\s?['’]?000s?")


def _kind(cell: str) -> str:
    if not cell or len(cell) > _LONGEST_NUMBER:
        return "text" if cell else "empty"
    if _YEAR.fullmatch(cell):  # may well name a column
        return "year"
    if _DATE.fullmatch(cell):
        return "date"
    if _DASH.fullmatch(cell):
        return "dash"
    is_number = _NUMBER.fullmatch(cell) and not _THOUSANDS.fullmatch(cell)
    return "number" if is_number else "text"
