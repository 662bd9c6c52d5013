"""The path of each row and column of a table: what its headers and its groups say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pipelines.readers.printed.table_columns import HeaderCell, Matrix, Row, together
from pipelines.readers.printed.table_lines import Piece
from pipelines.readers.printed.table_rules import Drawn
from pipelines.readers.printed.table_values import is_measure, is_period
from pipelines.readers.printed.words import Word

_INDENT = 2.0  # points; labels that begin closer to one another begin at one place
_STACKED = 0.75  # of a line's height: between two lines of one header

PiecePath = tuple[Piece, ...]


def column_paths(words: Sequence[Word], matrix: Matrix, drawn: Drawn) -> list[PiecePath]:
    """The headers over each column from the top."""
    levels: list[HeaderCell] = []
    for line in matrix.header:
        for cell in line:
            above = next(
                (
                    index
                    for index in range(len(levels) - 1, -1, -1)
                    if levels[index].first <= cell.last and cell.first <= levels[index].last
                ),
                None,
            )
            if above is not None and matrix.is_stacked and _is_one(levels[above], cell, drawn):
                joined = together(words, levels[above].piece, cell.piece)
                if joined:
                    levels[above] = levels[above]._replace(piece=joined)
            else:
                levels.append(cell)
    return [
        tuple(cell.piece for cell in _inwards(levels, column))
        for column in range(len(matrix.columns))
    ]


def _inwards(levels: Sequence[HeaderCell], column: int) -> list[HeaderCell]:
    """The headers over a column; a time of several columns goes before the names above it."""
    path = [cell for cell in levels if cell.first <= column <= cell.last]
    if len(path) > 1 and path[-1].first < path[-1].last and is_period(path[-1].piece.text):
        names = [cell for cell in path[:-1] if cell.first == cell.last]
        if names and not any(is_period(cell.piece.text) for cell in path[:-1]):
            path.insert(0, path.pop())
    return path


def _is_one(upper: HeaderCell, lower: HeaderCell, drawn: Drawn) -> bool:
    """True where two lines of a header over the same columns are one text."""
    if (upper.first, upper.last) != (lower.first, lower.last) or is_measure(lower.piece.text):
        return False
    height = lower.piece.bottom - lower.piece.top
    if lower.piece.top - upper.piece.bottom > _STACKED * height:
        return False
    between = drawn.below(upper.piece.bottom - 0.2 * height, lower.piece.top + 0.25 * height)
    return not any(rule.left - 2 <= lower.piece.middle <= rule.right + 2 for rule in between)


@dataclass(slots=True)
class _Group:
    label: Piece
    rank: int
    left: float
    inside: float | None = None  # where the labels of its rows begin
    rows: int = 0


def row_paths(rows: Sequence[Row]) -> Iterator[tuple[Row, PiecePath]]:
    """Each row that has cells with its path, group then label; a group without rows as a row.

    A label without values is the group of the rows below it: of those that are indented, or, where
    none is, of all up to the next group or a total.
    """
    groups: list[_Group] = []
    first = min((row.label.left for row in rows if row.label), default=0.0)
    for row in rows:
        is_group = row.label is not None and not row.cells
        if row.label:
            yield from _empty(_close(groups, row.label, _rank(row.label) if is_group else None))
            if is_group:
                left = first if row.label.text.isupper() else row.label.left  # or in the middle
                groups.append(_Group(row.label, _rank(row.label), left))
                continue
        for group in groups:
            group.rows += 1
            if group.inside is None and row.label:
                group.inside = row.label.left
        label = (row.label,) if row.label else ()
        yield row, (*(group.label for group in groups), *label)
        if groups and (not row.label or _is_total_of(row.label.text, groups[-1].label.text)):
            groups.pop()
    yield from _empty(groups)


def _empty(groups: Iterable[_Group]) -> Iterator[tuple[Row, PiecePath]]:
    """Rows for groups that have none, so that their labels are not lost."""
    for group in groups:
        if not group.rows:
            yield Row(None, {}, group.label.top, group.label.bottom), (group.label,)


def _close(groups: list[_Group], label: Piece, rank: int | None) -> list[_Group]:
    """Takes the groups off that a label is not inside of; ``rank`` is None for a row with cells."""
    closed = []
    while groups:
        last = groups[-1]
        is_left = label.left < last.left - _INDENT
        is_level = abs(label.left - last.left) <= _INDENT
        if rank is not None:
            if not is_left and not (is_level and last.rank >= rank):
                break
        elif not is_left and not (
            is_level and last.inside is not None and last.inside > last.left + _INDENT
        ):
            break
        closed.append(groups.pop())
    return closed


def _rank(label: Piece) -> int:
    """0 for a group of the first order, set in bold or in capitals, else 1."""
    return 0 if label.bold or label.text.isupper() else 1


def _is_total_of(total: str, group: str) -> bool:
    """True where a row is the total of a group, and not of a part of it ("Total current assets" in
    "Assets") or of something else in it."""
    name = total.casefold().strip(" :")
    if not name.startswith("total"):
        return False
    whole = group.casefold().strip(" :")
    part = name.removeprefix("total").strip()
    if part == whole or not part:
        return True
    shared = set(part.split()) & set(whole.split())
    return bool(shared) and not part.endswith(" " + whole)
