"""Tables of a PDF page: from its words and what is drawn on it to grids with their headers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pipelines.readers.grids import NO_ENTRY, Entry, Grid, GridHead, GridRow, Path, texts_of
from pipelines.readers.printed.ruled_tables import ruled_tables
from pipelines.readers.printed.rules import Rule
from pipelines.readers.printed.table_blocks import Found, groups_of, introduction, levels_of
from pipelines.readers.printed.table_body import label_side, rows_of, with_text_columns
from pipelines.readers.printed.table_columns import Matrix, Row, together
from pipelines.readers.printed.table_header import cells_of, header_above, labels_end
from pipelines.readers.printed.table_lines import Line, Piece, lines_of
from pipelines.readers.printed.table_paths import column_paths, row_paths
from pipelines.readers.printed.table_regions import Region, regions_of
from pipelines.readers.printed.table_rules import Drawn, drawn_of
from pipelines.readers.printed.table_spans import spans_of
from pipelines.readers.printed.table_values import (
    is_aside,
    is_period,
    is_scale,
    is_unfinished_time,
    without_mark,
)
from pipelines.readers.printed.words import Word, printed, whole

_MOST_WORDS = 20_000  # of a page; more are a drawing or an index, and have no table
_SMALL = 0.8  # of a text's height: a footnote mark is smaller
_SAME_COLUMN = 6.0  # points between the right edges of a column on two pages


class Origin(NamedTuple):
    """The words of a page that a text of a table was read from."""

    page: int
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table and where it is on its page, in points from the top left corner.

    ``words`` are the indices of the page's words that the table takes the place of. ``edges`` are
    the right edges of its columns. ``is_headed`` is whether headers or a title are its own.
    """

    page: int
    left: float
    top: float
    right: float
    bottom: float
    words: frozenset[int]
    grid: Grid
    edges: tuple[float, ...] = ()
    is_headed: bool = True


def find_tables(words: Sequence[Word], rules: Sequence[Rule], page: int) -> list[FoundTable]:
    """The tables of a page, numbered from 1, from the top; no two share a word."""
    if not words or len(words) > _MOST_WORDS:
        return []
    drawn = drawn_of(rules)
    lines = lines_of(words)
    groups = groups_of(words, lines)
    if len(groups) == 1:
        return _tables(words, lines, drawn, page)
    found: list[FoundTable] = []
    for group in groups:
        members = [words[index] for index in group]
        found += [
            replace(table, words=frozenset(group[index] for index in table.words))
            for table in _tables(members, lines_of(members), drawn, page)
        ]
    return sorted(found, key=lambda table: table.top)


def _tables(
    words: Sequence[Word], lines: Sequence[Line], drawn: Drawn, page: int
) -> list[FoundTable]:
    found: list[FoundTable] = []
    taken: set[int] = set()
    for ruled in ruled_tables(words, drawn):
        if taken.isdisjoint(ruled.words):
            taken |= ruled.words
            above = introduction(lines, ruled.top)
            table = _found(words, page, ruled.matrix, drawn, above, ruled.words)
            found.append(table)
    if taken:
        lines = _lines_without(words, taken)
    for region in regions_of(lines, drawn):
        matrix, used, top = _matrix(words, lines, region, drawn)
        if not _is_table(matrix):
            continue
        above = introduction(lines, top)
        found.append(_found(words, page, matrix, drawn, above, frozenset(used)))
    return sorted(found, key=lambda table: table.top)


def rows_below(upper: FoundTable, lower: FoundTable) -> tuple[GridRow, ...] | None:
    """The rows of a table that goes on from the page before; None where it is another table.

    It has the columns of ``upper`` where its numbers end, and no header or the same one.
    """
    if len(upper.edges) != len(lower.edges) or lower.page != upper.page + 1:
        return None
    pairs = zip(upper.edges, lower.edges, strict=True)
    if any(abs(one - other) > _SAME_COLUMN for one, other in pairs):
        return None
    heads = [[texts_of(path) for path in table.grid.head.columns] for table in (upper, lower)]
    if lower.is_headed and heads[0] != heads[1]:
        return None
    return lower.grid.rows


def _lines_without(words: Sequence[Word], taken: set[int]) -> list[Line]:
    """Lines of the words that are in no table yet."""
    blank = [word._replace(text="") if index in taken else word for index, word in enumerate(words)]
    return lines_of(blank)


def _matrix(
    words: Sequence[Word], lines: Sequence[Line], region: Region, drawn: Drawn
) -> tuple[Matrix, set[int], float]:
    """The matrix of a region, the words it takes, and where it begins."""
    body = lines[region.first : region.last + 1]
    side = label_side(body, region.columns)
    columns = with_text_columns(body, region.columns, side)
    side = min(side, columns.left - 1) if columns.left < side else side
    labels = labels_end(columns, rows_of(words, body, columns, side, drawn))
    cells = cells_of(columns, labels)
    header = header_above(words, lines, region.first, columns, labels, cells[0], drawn)
    groups = [lines[index] for index in sorted(header.groups)]
    rows = rows_of(words, [*groups, *body], columns, side, drawn)
    matrix = Matrix(columns.extents, rows, corner=header.corner, is_stacked=True)
    lines_of_header = [pieces for pieces in header.lines if not _is_scale_line(pieces)]
    matrix.corner += [p for pieces in header.lines if _is_scale_line(pieces) for p in pieces]
    levels = levels_of(words, lines_of_header, drawn)
    matrix.corner += [p for pieces in levels if _is_scale_line(pieces) for p in pieces]
    levels = [pieces for pieces in levels if not _is_scale_line(pieces)]
    for index, pieces in enumerate(levels):
        below = levels[index + 1] if index + 1 < len(levels) else []
        is_named = any(len(other) == len(columns.extents) for other in levels)
        matrix.header.append(
            spans_of(pieces, below, columns.extents, cells, drawn, is_named=is_named)
        )
    if header.scale:
        matrix.corner.append(header.scale)
    pieces = [piece for line in [*groups, *body] for piece in line.pieces]
    pieces += [piece for line in header.lines for piece in line] + matrix.corner
    used = {index for piece in pieces for index in piece.words}
    return matrix, used, min(words[index].top for index in used)


def _is_table(matrix: Matrix) -> bool:
    """True where numbers are named, as those of a chart and of a list of exhibits are not."""
    rows = [row for row in matrix.rows if row.cells]
    labelled = sum(row.label is not None and row.label.kind != "value" for row in rows)
    if len(rows) == 1:
        return bool(matrix.header) and labelled == 1 and len(matrix.columns) > 1
    last = len(matrix.columns) - 1
    at_right = sum(last in row.cells and row.cells[last].kind == "text" for row in rows)
    return 2 * max(labelled, at_right) >= len(rows)


def _is_scale_line(pieces: Sequence[Piece]) -> bool:
    return len({piece.text for piece in pieces}) == 1 and is_scale(pieces[0].text)


def _found(
    words: Sequence[Word],
    page: int,
    matrix: Matrix,
    drawn: Drawn,
    above: tuple[Found, Found],
    used: frozenset[int],
) -> FoundTable:
    """The table of a matrix, with its grid."""
    entries = _Entries(words, page)
    scales = [piece for piece in matrix.corner if is_scale(piece.text)]
    for line in list(matrix.header):
        if all(is_aside(cell.piece.text) for cell in line):
            matrix.corner += [cell.piece for cell in line]
            matrix.header.remove(line)
            continue
        texts = {cell.piece.text for cell in line}
        if len(texts) == 1 and is_scale(texts.pop()):
            scales += [cell.piece for cell in line]
            matrix.header.remove(line)
    paths = column_paths(words, matrix, drawn)
    corner = [piece for piece in matrix.corner if piece not in scales]
    time = together(words, *corner)
    if time and is_unfinished_time(time.text) and all(p and is_period(p[0].text) for p in paths):
        paths = [(time, *path) for path in paths]
        corner = []
    columns = [tuple(map(entries.of, path)) for path in paths]
    _label_at_right(matrix, columns)
    caption = entries.found(above[0]) if not corner else entries.joined(corner)
    units = entries.found(above[1])
    if scales:
        units = entries.joined(scales[:1])
    rows = tuple(
        GridRow(tuple(map(entries.of, path)), entries.cells(row, len(matrix.columns)))
        for row, path in row_paths(matrix.rows)
    )
    members = [words[index] for index in used]
    return FoundTable(
        page,
        min(word.left for word in members),
        min(word.top for word in members),
        max(word.right for word in members),
        max(word.bottom for word in members),
        used,
        Grid(GridHead(tuple(columns), caption, units), rows),
        tuple(extent.right for extent in matrix.columns),
        bool(matrix.header),
    )


def _label_at_right(matrix: Matrix, columns: list[Path]) -> None:
    """Labels in the last column, behind the numbers, become the labels of their rows."""
    last = len(matrix.columns) - 1
    if last < 1 or any(row.label for row in matrix.rows):
        return
    if not all(row.cells.get(last) and row.cells[last].kind == "text" for row in matrix.rows):
        return
    for row in matrix.rows:
        row.label = row.cells.pop(last)
    matrix.columns.pop()
    columns.pop()


class _Entries:
    """Entries of pieces: their texts without footnote marks, and the words they are of."""

    def __init__(self, words: Sequence[Word], page: int) -> None:
        self._words = words
        self._page = page

    def of(self, piece: Piece) -> Entry:
        """A header, a label or a cell."""
        text = piece.text if piece.kind == "value" else self._without_small(piece)
        body, mark = without_mark(text)
        if mark and (piece.kind == "text" or any(map(str.isdigit, body))):
            text = body
        if piece.kind == "text":
            text = text.removesuffix(":").rstrip() or text
        return Entry(printed(text), self._origin(piece.words))

    def joined(self, pieces: Sequence[Piece]) -> Entry:
        """Several as one text."""
        text = printed(" ".join(piece.text for piece in pieces))
        return Entry(text, self._origin([index for piece in pieces for index in piece.words]))

    def found(self, found: Found) -> Entry:
        """A text from above the table."""
        text, words = found
        return Entry(printed(text), self._origin(words)) if text else NO_ENTRY

    def cells(self, row: Row, count: int) -> tuple[Entry, ...]:
        """The cells of a row, one a column."""
        return tuple(
            self.of(row.cells[column]) if column in row.cells else NO_ENTRY
            for column in range(count)
        )

    def _origin(self, indices: Sequence[int]) -> Origin:
        return Origin(self._page, tuple(self._words[index] for index in indices))

    def _without_small(self, piece: Piece) -> str:
        """The text without the small raised numbers at its end."""
        words = [self._words[index] for index in piece.words]
        height = max(word.size for word in words)
        while len(words) > 1 and len(words[-1].text) < 4 and words[-1].size < _SMALL * height:
            words.pop()
        if len(words) == len(piece.words):
            return piece.text
        return whole(" ".join(word.text for word in words))
