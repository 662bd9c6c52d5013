"""Tables drawn as a grid: cells between level and upright lines, and the words in them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pipelines.readers.printed.rules import Rule
from pipelines.readers.printed.table_columns import Extent, HeaderCell, Matrix, Row, together
from pipelines.readers.printed.table_lines import Piece, lines_of, piece_of
from pipelines.readers.printed.table_rules import Drawn
from pipelines.readers.printed.words import Word

_TOUCHING = 2.5  # points between the ends of two lines that meet
_SAME_EDGE = 2.5  # points between two lines that are one edge
_MOST_LINES = 1_500  # level or upright on a page; more are a drawing
_MOST_STEPS = 40  # from line to line; in a grid every line is within a few of any other
_MOST_CELLS = 20_000
_MOST_ACROSS = 0.03  # of the words: a grid that cuts more of them in two is none
_LONGEST_CELL = 150  # words; a longer one is a box of text


@dataclass(frozen=True, slots=True)
class Ruled:
    """A table of a grid: where it is, the words in it, and its matrix."""

    left: float
    top: float
    right: float
    bottom: float
    words: frozenset[int]
    matrix: Matrix


@dataclass(slots=True)
class _Cell:
    first_row: int
    last_row: int
    first_column: int
    last_column: int
    words: list[int]


def ruled_tables(words: Sequence[Word], drawn: Drawn) -> list[Ruled]:
    """The tables of a page that are drawn as a grid of at least two rows and two columns."""
    if len(drawn.upright) < 2 or max(len(drawn.upright), len(drawn.level)) > _MOST_LINES:
        return []
    middles = [((w.left + w.right) / 2, (w.top + w.bottom) / 2) for w in words]
    tables = []
    for level, upright in _networks(drawn):
        table = _table(words, middles, level, upright)
        if table:
            tables.append(table)
    return tables


def _networks(drawn: Drawn) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """Lines that meet, level and upright."""
    across: list[list[int]] = []
    along: list[list[int]] = [[] for _ in drawn.level]
    tops = [rule.top for rule in drawn.level]
    lowest = max((rule.bottom - rule.top for rule in drawn.level), default=0.0)
    for number, upright in enumerate(drawn.upright):
        first = bisect_left(tops, upright.top - _TOUCHING - lowest)
        last = bisect_right(tops, upright.bottom + _TOUCHING)
        across.append([n for n in range(first, last) if _meet(drawn.level[n], upright)])
        for level in across[-1]:
            along[level].append(number)
    seen: set[int] = set()
    for start in range(len(drawn.upright)):
        if start in seen:
            continue
        rows, columns = _connected(across, along, start)
        seen |= columns
        if len(columns) > 1 and len(rows) > 1:
            yield (
                [drawn.level[number] for number in sorted(rows)],
                [drawn.upright[number] for number in sorted(columns)],
            )


def _meet(level: Rule, upright: Rule) -> bool:
    return (
        level.left <= upright.right + _TOUCHING and level.right >= upright.left - _TOUCHING
        and level.top <= upright.bottom + _TOUCHING and level.bottom >= upright.top - _TOUCHING
    )  # fmt: skip


def _connected(
    across: Sequence[Sequence[int]], along: Sequence[Sequence[int]], start: int
) -> tuple[set[int], set[int]]:
    """The level and the upright lines that an upright one meets, itself or through others.

    ``across`` are the level lines that meet each upright one, ``along`` the other way round.
    """
    rows: set[int] = set()
    columns, added = {start}, {start}
    for _ in range(_MOST_STEPS):
        met = {row for column in added for row in across[column]} - rows
        rows |= met
        added = {column for row in met for column in along[row]} - columns
        if not added:
            break
        columns |= added
    return rows, columns


def _table(
    words: Sequence[Word],
    middles: Sequence[tuple[float, float]],
    level: list[Rule],
    upright: list[Rule],
) -> Ruled | None:
    x = _edges(
        [(rule.left + rule.right) / 2 for rule in upright],
        [r.left for r in level],
        [r.right for r in level],
    )
    y = _edges([(rule.top + rule.bottom) / 2 for rule in level], [], [])
    if len(x) < 3 or len(y) < 3 or len(x) * len(y) > _MOST_CELLS:
        return None
    inside = [
        index
        for index, (middle, height) in enumerate(middles)
        if x[0] < middle < x[-1] and y[0] < height < y[-1]
    ]
    cells = _cells(x, y, level, upright)
    at = {
        (row, column): cell
        for cell in cells
        for row in range(cell.first_row, cell.last_row + 1)
        for column in range(cell.first_column, cell.last_column + 1)
    }
    across = 0
    for index in inside:
        middle, height = middles[index]
        cell = at[bisect_left(y, height) - 1, bisect_left(x, middle) - 1]
        cell.words.append(index)
        word = words[index]
        across += word.left < x[cell.first_column] - 2 or word.right > x[cell.last_column + 1] + 2
    filled = [cell for cell in cells if cell.words]
    if across > _MOST_ACROSS * len(inside) or not _is_filled(cells, filled):
        return None
    matrix = _matrix(words, cells, x, y)
    if matrix is None:
        return None
    return Ruled(x[0], y[0], x[-1], y[-1], frozenset(inside), matrix)


def _is_filled(cells: list[_Cell], filled: list[_Cell]) -> bool:
    if len(filled) < 4 or 4 * len(filled) < len(cells):
        return False
    return max(len(cell.words) for cell in filled) <= _LONGEST_CELL


def _edges(middles: list[float], starts: list[float], ends: list[float]) -> list[float]:
    """Heights or widths at which lines are, near ones as one; the outer ends of the others too."""
    every = sorted([*middles, *([min(starts)] if starts else []), *([max(ends)] if ends else [])])
    edges: list[list[float]] = []
    for edge in every:
        if edges and edge - edges[-1][-1] <= _SAME_EDGE:
            edges[-1].append(edge)
        else:
            edges.append([edge])
    return [sum(edge) / len(edge) for edge in edges]


def _cells(
    x: Sequence[float], y: Sequence[float], level: list[Rule], upright: list[Rule]
) -> list[_Cell]:
    """The cells of a grid; those without a line between them are one, if they make a rectangle."""
    below = _drawn_edges(y, x, [(r.top + r.bottom, r.left, r.right) for r in level])
    beside = _drawn_edges(x, y, [(r.left + r.right, r.top, r.bottom) for r in upright])
    rows, columns = len(y) - 1, len(x) - 1
    taken = [bytearray(columns) for _ in range(rows)]
    cells = []
    for row in range(rows):
        for column in range(columns):
            if taken[row][column]:
                continue
            right = column
            while right + 1 < columns and not beside[right + 1][row] and not taken[row][right + 1]:
                right += 1
            bottom = row
            while (
                bottom + 1 < rows
                and not any(below[bottom + 1][column : right + 1])
                and not any(beside[edge][bottom + 1] for edge in range(column + 1, right + 1))
            ):
                bottom += 1
            for filled in taken[row : bottom + 1]:
                filled[column : right + 1] = b"\1" * (right + 1 - column)
            cells.append(_Cell(row, bottom, column, right, []))
    return cells


def _drawn_edges(
    edges: Sequence[float], across: Sequence[float], lines: list[tuple[float, float, float]]
) -> list[bytearray]:
    """The lines drawn at each edge, as 0 or 1 for each space between two of ``across``."""
    drawn = [bytearray(len(across) - 1) for _ in edges]
    middles = [(one + other) / 2 for one, other in pairwise(across)]
    for twice, start, end in lines:
        after = bisect_left(edges, twice / 2)
        near = range(max(after - 1, 0), min(after + 1, len(edges)))
        edge = min(near, key=lambda number: abs(edges[number] - twice / 2))
        first, last = bisect_left(middles, start - 1), bisect_right(middles, end + 1)
        drawn[edge][first:last] = b"\1" * max(last - first, 0)
    return drawn


def _matrix(
    words: Sequence[Word], cells: list[_Cell], x: Sequence[float], y: Sequence[float]
) -> Matrix | None:
    """The matrix of a grid's cells; None where rows are not drawn, or nothing is beside a label."""
    rows, columns = len(y) - 1, len(x) - 1
    table: list[list[tuple[_Cell, Piece] | None]] = [[None] * columns for _ in range(rows)]
    for cell in cells:
        if not cell.words:
            continue
        lines = lines_of([words[index] for index in cell.words])
        if sum(len(line.pieces) == 1 and line.pieces[0].kind == "value" for line in lines) > 1:
            return None  # several rows in one cell: the columns alone are drawn
        order = [
            cell.words[index] for line in lines for piece in line.pieces for index in piece.words
        ]
        if order:
            table[cell.first_row][cell.first_column] = cell, piece_of(words, order)
    used = [column for column in range(columns) if any(row[column] for row in table)]
    if len(used) < 2:
        return None
    extents = [Extent(x[c], x[c + 1], x[c]) for c in used[1:]]
    return _divided(words, table, used, extents, y)


def _divided(
    words: Sequence[Word],
    table: list[list[tuple[_Cell, Piece] | None]],
    used: list[int],
    extents: list[Extent],
    y: Sequence[float],
) -> Matrix:
    """Header and rows: the header ends with the last line of names above the first number."""
    body = _first_body_row(table, used)
    matrix = Matrix(extents, [])
    place = {column: index for index, column in enumerate(used)}
    for number, entries in enumerate(table):
        label: Piece | None = None
        line: list[HeaderCell] = []
        for column in used:
            entry = entries[column]
            if entry is None:
                continue
            cell, piece = entry
            last = max(place[c] for c in used if c <= cell.last_column)
            if place[column] == 0 and last == 0:
                label = piece
            else:
                line.append(HeaderCell(piece, max(0, place[column] - 1), last - 1))
        if number < body:
            matrix.header.append(line)
            matrix.corner += [label] if label else []
            continue
        if (
            len(line) == 1
            and line[0].first == 0
            and line[0].last == len(extents) - 1 > 0
            and not label
        ):
            label, line = line[0].piece, []  # a group across all columns
        merged: dict[int, Piece] = {}
        for header in line:
            joined = together(words, merged.get(header.first), header.piece)
            if joined:
                merged[header.first] = joined
        if label or merged:
            matrix.rows.append(Row(label, merged, y[number], y[number + 1]))
    return matrix


def _first_body_row(table: list[list[tuple[_Cell, Piece] | None]], used: list[int]) -> int:
    """The row after the last one with a text over a column, of those above the first number."""
    beside = used[1:]
    first = next(
        (
            number
            for number, row in enumerate(table)
            if any((entry := row[column]) and entry[1].kind == "value" for column in beside)
        ),
        None,
    )
    if first is None:  # words only: the first row names the columns
        return 1
    named = [number for number in range(first) if any(table[number][column] for column in beside)]
    return named[-1] + 1 if named else 0
