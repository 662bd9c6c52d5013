"""The columns under each header of a line: by the line below it, or by where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from pipelines.readers.printed.table_columns import Extent, HeaderCell
from pipelines.readers.printed.table_lines import Piece
from pipelines.readers.printed.table_rules import Drawn
from pipelines.readers.printed.table_values import is_period

_UNDERLINED = 1.1  # of a header's height: how far below it its line may be
_MOST_COLUMNS = 24  # of more, a header is over the nearest one
_WIDER = 0.1  # of the space between two columns: what a further one costs or brings
_SAME_LEFT = 1.0  # points
_MISSED = 1_000.0  # points: as good as impossible

_Range = tuple[int, int]


def spans_of(
    pieces: Sequence[Piece],
    below: Sequence[Piece],
    columns: Sequence[Extent],
    cells: Sequence[float],
    drawn: Drawn,
    *,
    is_named: bool = False,
) -> list[HeaderCell]:
    """The columns of each header of a line; ``below`` is the next line, none below the lowest.

    ``is_named`` is whether every column has a header of its own in another line, so that times
    in this one are those of several. ``cells`` are the left edges of the columns' cells.
    """
    count = len(columns)
    if len(pieces) == count:
        return [HeaderCell(piece, index, index) for index, piece in enumerate(pieces)]
    lines = [_underlined(piece, columns, drawn) for piece in pieces]
    if below:  # lines are often drawn column by column below what spans several
        lines = [line if line and line[0] < line[1] else None for line in lines]
    # One line below several headers is none of theirs.
    lines = [line if line and lines.count(line) == 1 else None for line in lines]
    if len(pieces) > count or count > _MOST_COLUMNS:
        ranges = [
            line or _nearest(piece, columns) for piece, line in zip(pieces, lines, strict=True)
        ]
    elif not any(lines) and _begins_blocks(pieces, below, count):
        width = count // len(pieces)
        ranges = [(first, first + width - 1) for first in range(0, count, width)]
    else:
        is_shared = is_named and all(is_period(piece.text) for piece in pieces)
        ranges = _best(pieces, pieces if is_shared else below, lines, columns, cells)
    return [HeaderCell(piece, *span) for piece, span in zip(pieces, ranges, strict=True)]


def _begins_blocks(pieces: Sequence[Piece], below: Sequence[Piece], count: int) -> bool:
    """True where headers begin with each second, or third, of the headers of all columns below.

    That is how a spreadsheet prints text in merged cells, which it does not move to the middle.
    """
    width = count // len(pieces)
    firsts = below[::width] if len(below) == count == width * len(pieces) else ()
    return (
        width > 1
        and len(pieces) > 1
        and len(firsts) == len(pieces)
        and all(
            abs(piece.left - first.left) < _SAME_LEFT
            for piece, first in zip(pieces, firsts, strict=True)
        )
    )


def _best(
    pieces: Sequence[Piece],
    below: Sequence[Piece],
    lines: Sequence[_Range | None],
    columns: Sequence[Extent],
    cells: Sequence[float],
) -> list[_Range]:
    """Ranges without a column in common, from the left, that together fit best."""
    count = len(columns)
    step = (columns[-1].right - cells[0]) / count
    widely = [_may_span(piece, below, step / 2) for piece in pieces]

    @cache
    def cost(number: int, first: int, last: int) -> float:
        line = lines[number]
        if line:
            return 0.0 if line == (first, last) else _MISSED
        off = _off(pieces[number], columns, cells, first, last)
        if widely[number]:  # what spans columns may end where the last of them does
            off = min(off, _right_aligned(pieces[number], columns, first, last))
        off /= step
        return off + (-_WIDER if widely[number] else _WIDER) * (last - first)

    @cache
    def least(number: int, start: int) -> tuple[float, tuple[_Range, ...]]:
        if number == len(pieces):
            return 0.0, ()
        room = count - (len(pieces) - number - 1)
        return min(
            (
                (cost(number, first, last) + rest, ((first, last), *ranges))
                for first in range(start, room)
                for last in range(first, room)
                for rest, ranges in [least(number + 1, last + 1)]
            ),
            key=lambda found: found[0],
        )

    return list(least(0, 0)[1])


def _may_span(piece: Piece, below: Sequence[Piece], reach: float) -> bool:
    """True where columns share a header: it names a time, or times stand below it."""
    if not below or is_period(piece.text):
        return bool(below)
    under = [
        other
        for other in below
        if other.left < piece.right + reach and piece.left - reach < other.right
    ]
    return len(under) > 1 and all(is_period(other.text) for other in under)


def _off(
    piece: Piece, columns: Sequence[Extent], cells: Sequence[float], first: int, last: int
) -> float:
    """Points that a header is off the middle of some columns, or, over one, off its edges."""
    right = columns[last].right
    middles = (
        (left + right) / 2 for left in (columns[first].left, columns[first].outer, cells[first])
    )
    off = min(abs(piece.middle - middle) for middle in middles)
    if first == last:
        off = min(off, abs(piece.right - right), abs(piece.left - columns[first].outer))
    for index, column in enumerate(columns):
        if not first <= index <= last and piece.left <= column.left and column.right <= piece.right:
            off += _MISSED
    # What a header does not reach at all it does not name, however well it is in its middle.
    reach = max(columns[first].outer - piece.right, piece.left - right, 0.0)
    return off + reach


def _right_aligned(piece: Piece, columns: Sequence[Extent], first: int, last: int) -> float:
    """Points that a header ends before or behind its last column, where it begins inside."""
    is_inside = piece.left >= columns[first].outer - 3
    return abs(piece.right - columns[last].right) if is_inside else _MISSED


def _underlined(piece: Piece, columns: Sequence[Extent], drawn: Drawn) -> _Range | None:
    """The columns over the line below a header; None where there is none of its own."""
    height, width = piece.bottom - piece.top, piece.right - piece.left
    slack = max(3.0, width / 10)
    for rule in drawn.below(piece.bottom - 0.25 * height, piece.bottom + _UNDERLINED * height):
        if not (rule.left - slack <= piece.left and piece.right <= rule.right + slack):
            continue
        if rule.left < columns[0].outer - 40 or rule.right - rule.left < 0.5 * width:
            continue
        over = [
            index
            for index, extent in enumerate(columns)
            if rule.left - 2 <= (extent.left + extent.right) / 2 <= rule.right + 2
        ]
        if over:
            return over[0], over[-1]
    return None


def _nearest(piece: Piece, columns: Sequence[Extent]) -> _Range:
    distances = [abs(piece.middle - column.middle) for column in columns]
    nearest = distances.index(min(distances))
    return nearest, nearest
