"""Tables as rows of cells, of any format, made into grids and lines, as many at a time as needed.

"Region: EMEA | Quarter: Q1 | Revenue: 12" says what its numbers are wherever it is quoted
(grids.py). The names are those of the header rows (table_heads.py).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice

from helix.domain.tables import Table
from helix.language.sentences import Span
from pipelines.readers.draft import Draft, TableDraft
from pipelines.readers.grids import (
    GROUP,
    LONGEST_NAME,
    NO_ENTRY,
    Entry,
    Grid,
    GridHead,
    GridRow,
    Path,
    compose,
    moved,
    one_table,
)
from pipelines.readers.outline import LONGEST_TABLE
from pipelines.readers.table_heads import (
    Opening,
    Reading,
    Row,
    entry_of,
    opening_of,
    reading_of,
)

_AHEAD = 32  # rows looked at to find a header
_AHEAD_AGAIN = 8  # after a gap, of which a sheet may have as many as rows
_MOST_CAPTIONS = 2  # rows
_MOST_GROUPS = 2  # levels of them
_TEXT = GridHead(())
_NO_TABLE = Reading(_TEXT, 0, has_groups=False)


@dataclass(frozen=True)
class Part:
    """At most 20 rows of a table, or what stands above one, which has no ``reading``.

    The parts of one table have the same ``reading`` object.
    """

    reading: Reading | None
    rows: list[GridRow]

    @property
    def head(self) -> GridHead:
        """The table's; that of plain text where there is none."""
        return self.reading.head if self.reading else _TEXT


def one_line(cell: str) -> str:
    """A cell's text without line breaks: the lines of a table are its rows."""
    if cell.isprintable():  # no line ends; nearly all cells of a million
        return cell.strip()
    return " ".join(filter(None, (line.strip() for line in cell.splitlines())))


def add_table(
    draft: Draft, rows: Iterable[Row], heading_path: tuple[str, ...] = (), label: str = ""
) -> None:
    """Sections of at most 20 rows each; ``label`` stands in front of "rows 2-21"."""
    for reading, parts in groupby(parts_of(rows), key=lambda part: part.reading):
        table = TableDraft(draft, reading.head if reading else _TEXT, heading_path)
        for part in parts:
            table.add(part.rows, label=label)
        if reading and reading.is_table:
            table.close()


def small_tables(rows: Iterable[Row]) -> tuple[str, list[Table]]:
    """A table in one piece, for a reader whose sections are larger than a table.

    Its text, and the tables in it with spans from the start of that text.
    """
    pieces: list[str] = []
    tables: list[Table] = []
    length = 0
    for grid, is_table in grids_of(rows):
        lines, table = one_table(grid) if is_table else (compose(grid.head, grid.rows), None)
        if lines.text:
            length += len("\n") if pieces else 0
            pieces.append(lines.text)
            if table:
                tables.append(moved(table, length))
            length += lines.length
    return "\n".join(pieces), tables


def uncut(lines: str, start: int) -> Iterator[Span]:
    """A table in one piece, or its rows where it is long."""
    if len(lines) <= LONGEST_TABLE:
        yield start, start + len(lines)
        return
    for line in lines.split("\n"):
        yield start, start + len(line)
        start += len(line) + 1


def grids_of(rows: Iterable[Row]) -> Iterator[tuple[Grid, bool]]:
    """All rows as whole grids, each with whether it is a table; if not, its rows are text."""
    for reading, parts in groupby(parts_of(rows), key=lambda part: part.reading):
        whole = tuple(row for part in parts for row in part.rows)
        yield Grid(reading.head if reading else _TEXT, whole), bool(reading and reading.is_table)


def parts_of(rows: Iterable[Row]) -> Iterator[Part]:
    """Rows in groups of 20, empty ones dropped; what stands above a table is a part of its own.

    Reads no more than 32 rows ahead. After a gap in the numbers a table with a header of its own
    may begin.
    """
    source = _Ahead(row for row in rows if any(row.cells))
    table = _Rows(_NO_TABLE)
    expected = 0
    while row := source.first():
        if row.number != expected:
            near = source.peek(_AHEAD_AGAIN if expected else _AHEAD)
            if opening := opening_of(near, again=bool(expected)):
                table.end()
                yield from table.taken()
                above, reading = _opened(source, opening, is_first=not expected)
                table = _Rows(reading)
                if above:
                    yield Part(None, above)
                if not (row := source.first()):
                    break
        source.take()
        expected = row.number + 1
        table.add(row)
        if table.parts:
            yield from table.taken()
    table.end()
    yield from table.taken()


class _Ahead:
    """Rows one by one, with a look at those to come."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = iter(rows)
        self._seen: deque[Row] = deque()

    def first(self) -> Row | None:
        """The next row; None at the end."""
        if not self._seen:
            self._seen.extend(islice(self._rows, _AHEAD))
        return self._seen[0] if self._seen else None

    def peek(self, count: int) -> list[Row]:
        self._seen.extend(islice(self._rows, max(0, count - len(self._seen))))
        return list(islice(self._seen, count))

    def take(self) -> Row:
        return self._seen.popleft()


def _opened(source: _Ahead, opening: Opening, *, is_first: bool) -> tuple[list[GridRow], Reading]:
    """Takes what stands above the table and its header: the text above it, and its reading.

    A header is kept among the text only where a column of it has no value below: no line of the
    table would name it.
    """
    above = [source.take() for _ in range(opening.above)]
    header = [source.take() for _ in range(opening.header)]
    below = source.peek(_AHEAD)
    gap = 1 if is_first else 0
    captions = _captions(above, (header or below)[0].number, gap) if header or below else []
    reading = reading_of(captions, header, below)
    text = above[: len(above) - len(captions)]
    is_long = any(
        len(cell) > LONGEST_NAME // 2 and row.is_header for row in header for cell in row.cells
    )
    used = {column for row in below for column, cell in enumerate(row.cells) if cell}
    is_stated = all(
        used & set(range(column, column + row.spans.get(column, 1)))
        for row in header
        for column, cell in enumerate(row.cells)
        if cell
    )
    if is_long or not is_stated:
        text += header
    return [_text_row(row) for row in text], reading


def _captions(above: Sequence[Row], number: int, gap: int) -> list[Row]:
    """The rows of one short text each above the row of this number, at most ``gap`` rows apart.

    Below a sheet's title a row is often left empty; below another table's notes too.
    """
    found: list[Row] = []
    for row in reversed(above):
        texts = list(filter(None, row.cells))
        is_near = (found[0].number if found else number) - row.number <= 1 + gap
        if not is_near or len(set(texts)) != 1 or len(texts[0]) > LONGEST_NAME:
            break
        if len(found) == _MOST_CAPTIONS:
            return []
        found.insert(0, row)
    return found


def _text_row(row: Row) -> GridRow:
    return GridRow((), tuple(map(entry_of, row.cells)), row.number)


@dataclass
class _Rows:
    """The rows of one table as they come, under the groups that they belong to."""

    reading: Reading
    rows: list[GridRow] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    """The parts that are whole and not taken yet."""
    groups: list[Row] = field(default_factory=list)
    is_open: bool = False
    """The last row read was a group's, and no row of it has come yet."""

    def add(self, row: Row) -> None:
        labels = self.reading.labels
        path: Path = ()
        if labels:
            if self._is_group(row):
                if len(self.groups) == _MOST_GROUPS:
                    self._close_group()
                self.groups = [*self.groups, row] if self.is_open else [row]
                self.is_open = True
                return
            if row.cells[0][:5].lower() == "total":
                self._close_group()
                self.groups = []
            self.is_open = False
            path = (*self._path(), *(Entry(cell) for cell in row.cells[:labels] if cell))
        cells = row.cells[labels:] if labels else row.cells
        entries = [Entry(cell) if cell else NO_ENTRY for cell in cells]
        self._append(GridRow(path, tuple(entries), row.number, has_origins=False))

    def end(self) -> None:
        self._close_group()
        if self.rows:
            self.parts.append(Part(self.reading, self.rows))
            self.rows = []

    def taken(self) -> list[Part]:
        """Takes the parts that are whole."""
        parts, self.parts = self.parts, []
        return parts

    def _append(self, row: GridRow) -> None:
        self.rows.append(row)
        if len(self.rows) == GROUP:
            self.parts.append(Part(self.reading, self.rows))
            self.rows = []

    def _close_group(self) -> None:
        """A group without rows is a row without values."""
        if self.is_open:
            self._append(GridRow(self._path(), (), self.groups[-1].number))
        self.is_open = False

    def _path(self) -> Path:
        return tuple(Entry(group.cells[0].removesuffix(":").rstrip()) for group in self.groups)

    def _is_group(self, row: Row) -> bool:
        first = row.cells[0]
        if not 0 < len(first) <= LONGEST_NAME:
            return False
        if any(cell and cell != first for cell in row.cells[1:]):
            return False
        spans_all = row.spans.get(0, 1) >= len(row.cells) > 1
        return spans_all or first.endswith(":") or self.reading.has_groups
