"""A table before it is text: headers by path, cells by row and column; and the lines it becomes.

"Net sales › Products | Three Months Ended › July 1, 2023: $60,584" says what its numbers are
wherever the line is quoted. Every format's tables go this way, so that they read alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat, starmap
from typing import NamedTuple

from helix.domain.tables import Cell, HeaderPath, Table

GROUP = 20  # rows a section
LONGEST_NAME = 120  # characters of a part of a header; it is repeated in every line
MOST_CELLS = 100_000  # kept by row and column a document; of a larger table the text is complete
_LONGEST_PATH = 240  # characters of a column's path in a line: of a longer one, its inner parts
_LONGEST_SECTION = 2_000  # characters below a caption: a chunk's worth, or rows would go without it
_LONGEST_LINE = 1_500  # characters of a row's line, which then fits in a chunk
_FEW_CELLS = 12  # in one line however long they are
_INWARDS = " › "
_BESIDE = " | "


class Entry(NamedTuple):
    """A text of a table, '' an empty one, and what it was read from, such as its printed words.

    ``text`` is one line without white space around it; it is written as it is. ``origin`` is
    handed back with the place in the document where the text was written.
    """

    text: str = ""
    origin: object = None


NO_ENTRY = Entry()

Path = tuple[Entry, ...]
"""Headers from the outermost inwards; () where there is none."""


class Landing(NamedTuple):
    """The place of an entry: its half-open span, and its origin. A header has one in every line.

    The text there is the entry's, or its beginning where a header was too long to be repeated.
    """

    start: int
    end: int
    origin: object


@dataclass(frozen=True, slots=True)
class GridHead:
    """The header of a table, and the names beside its rows.

    ``units`` is the scale as it is printed, with or without its parentheses. ``corner`` names the
    column of the row labels ("Region"), which is none of ``columns``.
    """

    columns: tuple[Path, ...]
    caption: Entry = NO_ENTRY
    units: Entry = NO_ENTRY
    corner: Entry = NO_ENTRY

    @property
    def names(self) -> str:
        """The headers in one line, for what is embedded."""
        paths = [(self.corner,), *self.columns]
        return _BESIDE.join(filter(None, (_INWARDS.join(texts_of(path)) for path in paths)))

    @property
    def repeated(self) -> list[Name]:
        """The names that are repeated in front of the cells of each column."""
        return [_repeatable(path) for path in self.columns]


@dataclass(frozen=True, slots=True)
class GridRow:
    """A row: its path (group, then label), and its cells, one a column of the head.

    ``number`` is its number as the file's owner counts, from 1, where rows have numbers;
    ``has_origins`` is whether any of its entries may have one.
    """

    path: Path
    cells: tuple[Entry, ...]
    number: int | None = None
    has_origins: bool = True


@dataclass(frozen=True, slots=True)
class Grid:
    """A table as it was read, before it is text."""

    head: GridHead
    rows: tuple[GridRow, ...]


CellPlace = tuple[int, int, int, int]
"""The fields of a ``Cell``: row, column, start and end in the lines."""


@dataclass(slots=True)
class Lines:
    """A text in the making: lines of a table, with its cells and what landed where in them."""

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    cells: list[CellPlace] = field(default_factory=list)
    landed: list[Landing] = field(default_factory=list)
    tops: list[int] = field(default_factory=list)
    """The starts of its captions, or of its first row where it has no caption."""

    @property
    def text(self) -> str:
        """The text that is written so far."""
        return "".join(self.pieces)

    def write(self, text: str) -> None:
        """Text that nothing is known of."""
        self.pieces.append(text)
        self.length += len(text)

    def place(self, entry: Entry, longest: int | None = None) -> None:
        """An entry, at most its ``longest`` first characters."""
        start, text = self.length, entry.text[:longest].rstrip()
        self.write(text)
        if entry.origin is not None and text:
            self.landed.append(Landing(start, self.length, entry.origin))


def texts_of(path: Path) -> HeaderPath:
    """The parts of a path that have a text."""
    return tuple(entry.text for entry in path if entry.text)


def compose(
    head: GridHead,
    rows: Sequence[GridRow],
    first: int = 0,
    lines: Lines | None = None,
    *,
    names: Sequence[Name] | None = None,
    with_cells: bool = True,
) -> Lines:
    """The lines of some rows, below a line with caption and units where there are any.

    ``first`` is the number of the first of ``rows`` in the table, from 0; ``lines`` are those that
    they follow; ``names`` are ``head.repeated``, where they are at hand. A row that has neither
    label nor value has no line; a group that has no value of its own is a line all the same.
    """
    lines = lines or Lines()
    lines.write("\n" if lines.length else "")
    lines.tops.append(lines.length)
    _write_top(lines, head)
    names = head.repeated if names is None else names
    for index, row in enumerate(rows, first):
        _write_row(lines, head, names, row, index if with_cells else None)
    return lines


def sections_of(head: GridHead, rows: Iterable[GridRow]) -> Iterator[list[GridRow]]:
    """Rows in groups of at most 20, each with less than a chunk's characters below a caption."""
    is_headed = _is_headed(head)
    group: list[GridRow] = []
    length = 0
    for row in rows:
        width = _width(head, row) if is_headed else 0
        if group and (len(group) == GROUP or length + width > _LONGEST_SECTION):
            yield group
            group, length = [], 0
        group.append(row)
        length += width
    if group:
        yield group


def one_table(grid: Grid, longest: int | None = None) -> tuple[Lines, Table]:
    """A table in one piece; the spans count from the start of its text.

    One of more than ``longest`` characters tells its caption and units again as sections do.
    """
    head, rows = grid.head, grid.rows
    lines = compose(head, rows)
    if longest is not None and lines.length > longest and _is_headed(head):
        lines, count = Lines(), 0
        for group in sections_of(head, rows):
            lines = compose(head, group, count, lines)
            count += len(group)
    table = Table(
        0,
        lines.length,
        tuple(texts_of(row.path) for row in rows),
        tuple(map(texts_of, head.columns)),
        tuple(starmap(Cell, lines.cells)),
        caption=head.caption.text,
        units=head.units.text,
    )
    return lines, table


def moved(table: Table, by: int) -> Table:
    """The table in a text that begins ``by`` characters earlier."""
    cells = tuple(
        Cell(cell.row, cell.column, cell.start + by, cell.end + by) for cell in table.cells
    )
    return replace(table, start=table.start + by, end=table.end + by, cells=cells)


def bounded(tables: Iterable[Table], most: int = MOST_CELLS) -> tuple[Table, ...]:
    """Tables as far as ``most`` cells go."""
    kept: list[Table] = []
    for table in tables:
        if first := first_cells(table, most):
            most -= len(first.cells)
            kept.append(first)
    return tuple(kept)


def first_cells(table: Table, most: int) -> Table | None:
    """The table up to the row of its last cell of ``most``; None where no row is left."""
    if len(table.cells) > most:
        last = table.cells[most - 1].row if most else -1
        table = replace(table, cells=table.cells[:most], rows=table.rows[: last + 1])
    return table if table.rows else None


def _is_headed(head: GridHead) -> bool:
    return bool(head.caption.text or head.units.text)


def _write_top(lines: Lines, head: GridHead) -> None:
    caption, units = head.caption, head.units
    lines.place(caption)
    if units.text and units.text not in caption.text:
        lines.write(" " if caption.text else "")
        is_bare = not units.text.startswith("(")
        lines.write("(" if is_bare else "")
        lines.place(units)
        lines.write(")" if is_bare else "")


def _write_row(
    lines: Lines, head: GridHead, names: Sequence[Name], row: GridRow, index: int | None
) -> None:
    label = [entry for entry in row.path if entry.text]
    for part in _parts_of(names, row.cells):
        gap = "\n" if lines.length > lines.tops[-1] else ""
        if label:
            lines.write(gap)
            gap = _BESIDE
            _write_label(lines, head.corner, label, LONGEST_NAME if part.start else None)
        elif part.start:  # the first cell stands for a label
            first = row.cells[0]._replace(text=row.cells[0].text[:LONGEST_NAME].rstrip())
            _write_cells(lines, names, (first,), None, gap, slice(1))
            gap = _BESIDE if row.cells[0].text else gap
        if index is None and not row.has_origins:
            _write_plain(lines, names[part], row.cells[part], gap)
        else:
            _write_cells(lines, names, row.cells, index, gap, part)


def _parts_of(names: Sequence[Name], cells: Sequence[Entry]) -> Iterator[slice]:
    """The cells of each line of a row: of a wide one several, each to begin with its label."""
    start = length = 0
    for column, cell in enumerate(cells) if len(cells) > _FEW_CELLS else ():
        if not cell.text:
            continue
        width = len(cell.text) + (_name_width(names[column]) if column < len(names) else 0)
        if length and length + width > _LONGEST_LINE:
            yield slice(start, column)
            start, length = column, 0
        length += width + len(_BESIDE)
    yield slice(start, len(cells))


def _name_width(name: Name) -> int:
    return len(name) if isinstance(name, str) else sum(len(part.text) for part in name)


def _write_label(lines: Lines, corner: Entry, label: Sequence[Entry], longest: int | None) -> None:
    """The label of a row; ``longest`` is that of its last part, which is whole in a first line."""
    if corner.text:
        lines.place(corner, LONGEST_NAME)
        lines.write(": ")
    for entry in label[:-1]:
        lines.place(entry, LONGEST_NAME)
        lines.write(_INWARDS)
    lines.place(label[-1], longest)


def _write_plain(lines: Lines, names: Sequence[Name], cells: Sequence[Entry], gap: str) -> None:
    """Cells of which nothing is kept but the text, as of most of a million rows."""
    named = zip(chain(names, repeat("")), cells, strict=False)
    if told := [f"{name}{cell.text}" for name, cell in named if cell.text]:
        lines.write(gap + _BESIDE.join(told))


def _write_cells(
    lines: Lines,
    names: Sequence[Name],
    cells: Sequence[Entry],
    index: int | None,
    gap: str,
    part: slice,
) -> None:
    pieces, at = lines.pieces, lines.length
    width = len(names)
    for column, (text, origin) in enumerate(cells[part], part.start or 0):
        if not text:
            continue
        name = names[column] if column < width else ""
        if isinstance(name, str):
            pieces.append(f"{gap}{name}{text}")
            at += len(gap) + len(name)
        else:
            lines.write(gap)
            _write_names(lines, name)
            at = lines.length
            pieces.append(text)
        end = at + len(text)
        if index is not None and column < width:  # beyond its columns a row has text alone
            lines.cells.append((index, column, at, end))
        if origin is not None:
            lines.landed.append(Landing(at, end, origin))
        lines.length = at = end
        gap = _BESIDE


def _write_names(lines: Lines, names: Sequence[Entry]) -> None:
    for position, entry in enumerate(names):
        if position:
            lines.write(_INWARDS)
        lines.place(entry, LONGEST_NAME)
    lines.write(": ")


Name = str | list[Entry]
"""The text in front of a cell; as ``str`` where no part of it has an origin."""


def _repeatable(path: Path) -> Name:
    """The parts of a column's path that a line has room for, the innermost first of all."""
    kept: list[Entry] = []
    room = _LONGEST_PATH
    for entry in reversed(path):
        room -= min(len(entry.text), LONGEST_NAME)
        if kept and room < 0:
            break
        if entry.text:
            kept.insert(0, entry)
    if any(entry.origin is not None for entry in kept):
        return kept
    names = _INWARDS.join(entry.text[:LONGEST_NAME].rstrip() for entry in kept)
    return f"{names}: " if names else ""


def _width(head: GridHead, row: GridRow) -> int:
    """About how many characters the line of a row has."""
    paths = [
        row.path,
        *(path for path, cell in zip(head.columns, row.cells, strict=False) if cell.text),
    ]
    names = sum(len(entry.text) + len(_INWARDS) for path in paths for entry in path)
    return names + sum(len(cell.text) for cell in row.cells)
