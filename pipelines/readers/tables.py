"""Tables as text: a line a row that names its columns, in groups of 20 rows.

"Region: EMEA | Quarter: Q1 | Revenue: 12" says what its numbers are wherever it is quoted. The
names are those of the header row, which is found by its look: the first row that is wide enough,
mostly words, no word twice, and unlike the rows below it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, zip_longest

from pipelines.readers.draft import Draft

GROUP = 20  # rows a section
_AHEAD = 32  # rows looked at to find a header
_AHEAD_AGAIN = 8  # after a gap, of which a sheet may have as many as rows
_LONGEST_NAME = 120  # characters of a column's name; it is repeated in every row
_LONGEST_NUMBER = 40

Cells = list[str]
Row = tuple[int, Cells]
"""The number of a row as its owner counts, from 1, and its cells, empty ones as ''."""


@dataclass(frozen=True)
class Group:
    """Rows that belong together: a line each, the numbers of the first and the last of them.

    ``header`` is the header row, '' where there is none and for what stands above a table.
    """

    lines: list[str]
    first: int
    last: int
    header: str


@dataclass(frozen=True)
class _Opening:
    """How a table begins: so many rows above it, then its header, [] where it has none."""

    above: int
    header: Cells


def one_line(cell: str) -> str:
    """A cell's text without line breaks: the lines of a table are its rows."""
    return " ".join(filter(None, (line.strip() for line in cell.splitlines())))


def add_table(
    draft: Draft, rows: Iterable[Row], heading_path: tuple[str, ...] = (), label: str = ""
) -> None:
    """Sections of at most 20 rows each; ``label`` stands in front of "rows 2-21"."""
    gap = "\n\n"
    for group in row_groups(rows):
        draft.add(
            "\n".join(group.lines),
            heading_path=heading_path,
            label=label + _numbers(group.first, group.last),
            context=group.header,
            rows=True,
            gap=gap,
        )
        gap = "\n"


def table_lines(rows: Iterable[Row]) -> list[str]:
    """A small table as lines, for a reader whose sections are larger than a table."""
    return [line for group in row_groups(rows) for line in group.lines]


def row_groups(rows: Iterable[Row]) -> Iterator[Group]:
    """Rows in groups of 20, empty ones dropped; what stands above a table is a group of its own.

    Reads no more than 32 rows ahead. After a gap in the numbers a table with a header of its own
    may begin.
    """
    source = _Ahead((number, cells) for number, cells in rows if any(cells))
    header: Cells = []
    group: list[Row] = []
    expected = 0
    while near := source.peek(1):
        if near[0][0] != expected:
            near = source.peek(_AHEAD_AGAIN if expected else _AHEAD)
            opening = _opening(near, again=bool(expected))
            if opening:
                yield from _grouped(group, header)
                group, header = [], opening.header
                yield from _grouped(_above(source, opening), [])
        if not source.peek(1):
            break
        group.append(source.take())
        expected = group[-1][0] + 1
        if len(group) == GROUP:
            yield from _grouped(group, header)
            group = []
    yield from _grouped(group, header)


def row_line(cells: Cells, header: Cells) -> str:
    """The cells that hold something in a line, each after the name of its column, if it has one."""
    if not header:
        return " | ".join(filter(None, cells))
    named = zip_longest(header[: len(cells)], cells, fillvalue="")
    return " | ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)


class _Ahead:
    """Rows one by one, with a look at those to come."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = iter(rows)
        self._seen: deque[Row] = deque()

    def peek(self, count: int) -> list[Row]:
        self._seen.extend(islice(self._rows, max(0, count - len(self._seen))))
        return list(islice(self._seen, count))

    def take(self) -> Row:
        return self._seen.popleft()


def _above(source: _Ahead, opening: _Opening) -> list[Row]:
    """Takes what stands above the table and its header; the header is kept among them only where
    a column of it has no value below: no line of the table would name it."""
    rows = [source.take() for _ in range(opening.above)]
    if opening.header:
        head = source.take()
        below = [cells for _, cells in source.peek(_AHEAD)]
        used = {column for cells in below for column, cell in enumerate(cells) if cell}
        if any(name and column not in used for column, name in enumerate(head[1])):
            rows.append(head)
    return rows


def _grouped(rows: list[Row], header: Cells) -> Iterator[Group]:
    if rows:
        lines = [row_line(cells, header) for _, cells in rows]
        yield Group(lines, rows[0][0], rows[-1][0], " | ".join(filter(None, header)))


def _numbers(first: int, last: int) -> str:
    return f"rows {first}-{last}" if last > first else f"row {first}"


def _opening(rows: list[Row], *, again: bool) -> _Opening | None:
    """How the table at the top of ``rows`` begins; None where the one before it goes on.

    ``again``: there is one before it, so that only a header which cannot be a row of data counts.
    """
    table = [cells for _, cells in rows]
    widths = [sum(map(bool, cells)) for cells in table]
    wide = max(2, (max(widths) + 1) // 2)
    above = next((index for index, width in enumerate(widths) if width >= wide), 0)
    below = table[above + 1 :]
    if (not again or _stands_out(table[above], below)) and _is_header(table[above], below):
        return _Opening(above, table[above])
    return None if again else _Opening(above, [])


def _is_header(cells: Cells, below: list[Cells]) -> bool:
    names = list(filter(None, cells))
    kinds = [_kind(name) for name in names]
    if not below or len(names) < 2 or len(set(names)) < len(names):
        return False
    if any(len(name) > _LONGEST_NAME or name.endswith(":") for name in names):
        return False
    if 2 * kinds.count("number") >= len(names) or ("text" not in kinds and cells[0]):
        return False
    return not any(
        _kind(name) == usual
        for column, name in enumerate(cells)
        if (usual := _usual_kind(below, column)) != "text"
    )


def _stands_out(cells: Cells, below: list[Cells]) -> bool:
    """Words only, and over numbers or dates in some column."""
    filled = [column for column, cell in enumerate(cells) if cell]
    return all(_kind(cells[column]) == "text" for column in filled) and any(
        _usual_kind(below, column) not in ("text", "") for column in filled
    )


def _usual_kind(rows: list[Cells], column: int) -> str:
    """The kind that more than half of a column's cells are of: text if none; '' if all empty."""
    kinds = [_kind(cells[column]) for cells in rows if column < len(cells) and cells[column]]
    if not kinds:
        return ""
    most = max(set(kinds), key=kinds.count)
    return most if 2 * kinds.count(most) > len(kinds) else "text"


_YEAR = re.compile(r"(?:19|20)\d\d")
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?: .*)?")
_NUMBER = re.compile(r"[-+(]?[€$£]?\d[\d.,'  ]*[%€$£)]*|TRUE|FALSE")


def _kind(cell: str) -> str:
    if not cell or len(cell) > _LONGEST_NUMBER:
        return "text" if cell else "empty"
    if _YEAR.fullmatch(cell):  # may well name a column
        return "year"
    if _DATE.fullmatch(cell):
        return "date"
    return "number" if _NUMBER.fullmatch(cell) else "text"
