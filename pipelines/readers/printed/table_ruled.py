"""Tables drawn as a grid: cells between level and upright lines, and the words in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.readers.printed.rules import Rule
from pipelines.readers.printed.table_columns import Extent
from pipelines.readers.printed.table_lines import Piece, lines_of, piece_of
from pipelines.readers.printed.table_matrix import HeaderCell, Matrix, Row, together
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
    middles = np.array(
        [((word.left + word.right) / 2, (word.top + word.bottom) / 2) for word in words]
    ).reshape(-1, 2)
    tables = []
    for level, upright in _networks(drawn):
        table = _table(words, middles, level, upright)
        if table:
            tables.append(table)
    return tables


def _networks(drawn: Drawn) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """Lines that meet, level and upright."""
    level = np.array([rule[:4] for rule in drawn.level], float).reshape(-1, 4)
    upright = np.array([rule[:4] for rule in drawn.upright], float).reshape(-1, 4)
    meets = (
        (level[:, None, 0] <= upright[None, :, 2] + _TOUCHING)
        & (level[:, None, 2] >= upright[None, :, 0] - _TOUCHING)
        & (level[:, None, 1] <= upright[None, :, 3] + _TOUCHING)
        & (level[:, None, 3] >= upright[None, :, 1] - _TOUCHING)
    )
    seen = np.zeros(len(upright), bool)
    for start in range(len(upright)):
        if seen[start]:
            continue
        rows, columns = _connected(meets, start)
        seen |= columns
        if columns.sum() > 1 and rows.sum() > 1:
            yield (
                [drawn.level[index] for index in np.flatnonzero(rows)],
                [drawn.upright[index] for index in np.flatnonzero(columns)],
            )


def _connected(meets: NDArray[np.bool_], start: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The level and the upright lines that an upright one meets, itself or through others."""
    rows = np.zeros(meets.shape[0], np.bool_)
    columns = np.zeros(meets.shape[1], np.bool_)
    columns[start] = True
    for _ in range(_MOST_STEPS):
        rows = np.any(meets[:, columns], axis=1)
        more: NDArray[np.bool_] = np.any(meets[rows], axis=0) | columns
        if np.array_equal(more, columns):
            return rows, columns
        columns = more
    return rows, columns


def _table(
    words: Sequence[Word], middles: NDArray[np.float64], level: list[Rule], upright: list[Rule]
) -> Ruled | None:
    x = _edges(
        [(rule.left + rule.right) / 2 for rule in upright],
        [r.left for r in level],
        [r.right for r in level],
    )
    y = _edges([(rule.top + rule.bottom) / 2 for rule in level], [], [])
    if len(x) < 3 or len(y) < 3 or len(x) * len(y) > _MOST_CELLS:
        return None
    inside = np.flatnonzero(
        (middles[:, 0] > x[0])
        & (middles[:, 0] < x[-1])
        & (middles[:, 1] > y[0])
        & (middles[:, 1] < y[-1])
    )
    cells = _cells(x, y, level, upright)
    at = {
        (row, column): cell
        for cell in cells
        for row in range(cell.first_row, cell.last_row + 1)
        for column in range(cell.first_column, cell.last_column + 1)
    }
    across = 0
    for index in inside.tolist():
        row = int(np.searchsorted(y, middles[index, 1])) - 1
        column = int(np.searchsorted(x, middles[index, 0])) - 1
        cell = at[row, column]
        cell.words.append(index)
        word = words[index]
        across += word.left < x[cell.first_column] - 2 or word.right > x[cell.last_column + 1] + 2
    filled = [cell for cell in cells if cell.words]
    if across > _MOST_ACROSS * len(inside) or not _is_filled(cells, filled):
        return None
    matrix = _matrix(words, cells, x, y)
    if matrix is None:
        return None
    box = float(x[0]), float(y[0]), float(x[-1]), float(y[-1])
    return Ruled(*box, frozenset(inside.tolist()), matrix)


def _is_filled(cells: list[_Cell], filled: list[_Cell]) -> bool:
    if len(filled) < 4 or 4 * len(filled) < len(cells):
        return False
    return max(len(cell.words) for cell in filled) <= _LONGEST_CELL


def _edges(middles: list[float], starts: list[float], ends: list[float]) -> NDArray[np.float64]:
    """Heights or widths at which lines are, near ones as one; the outer ends of the others too."""
    every = sorted([*middles, *([min(starts)] if starts else []), *([max(ends)] if ends else [])])
    edges: list[list[float]] = []
    for edge in every:
        if edges and edge - edges[-1][-1] <= _SAME_EDGE:
            edges[-1].append(edge)
        else:
            edges.append([edge])
    return np.array([sum(edge) / len(edge) for edge in edges])


def _cells(
    x: NDArray[np.float64], y: NDArray[np.float64], level: list[Rule], upright: list[Rule]
) -> list[_Cell]:
    """The cells of a grid; those without a line between them are one, if they make a rectangle."""
    below = _drawn_edges(y, x, [(r.top + r.bottom, r.left, r.right) for r in level])
    beside = _drawn_edges(x, y, [(r.left + r.right, r.top, r.bottom) for r in upright])
    rows, columns = len(y) - 1, len(x) - 1
    taken = np.zeros((rows, columns), bool)
    cells = []
    for row in range(rows):
        for column in range(columns):
            if taken[row, column]:
                continue
            right = column
            while right + 1 < columns and not beside[right + 1, row] and not taken[row, right + 1]:
                right += 1
            bottom = row
            while (
                bottom + 1 < rows
                and not below[bottom + 1, column : right + 1].any()
                and not beside[column + 1 : right + 1, bottom + 1].any()
            ):
                bottom += 1
            taken[row : bottom + 1, column : right + 1] = True
            cells.append(_Cell(row, bottom, column, right, []))
    return cells


def _drawn_edges(
    edges: NDArray[np.float64],
    across: NDArray[np.float64],
    lines: list[tuple[float, float, float]],
) -> NDArray[np.bool_]:
    """Whether a line is drawn at each edge, in each space between two of ``across``."""
    drawn = np.zeros((len(edges), len(across) - 1), bool)
    middles = (across[1:] + across[:-1]) / 2
    for twice, start, end in lines:
        edge = int(np.argmin(np.abs(edges - twice / 2)))
        drawn[edge] |= (middles >= start - 1) & (middles <= end + 1)
    return drawn


def _matrix(
    words: Sequence[Word], cells: list[_Cell], x: NDArray[np.float64], y: NDArray[np.float64]
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
    extents = [Extent(float(x[c]), float(x[c + 1]), float(x[c])) for c in used[1:]]
    return _divided(words, table, used, extents, y)


def _divided(
    words: Sequence[Word],
    table: list[list[tuple[_Cell, Piece] | None]],
    used: list[int],
    extents: list[Extent],
    y: NDArray[np.float64],
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
            matrix.rows.append(Row(label, merged, float(y[number]), float(y[number + 1])))
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
