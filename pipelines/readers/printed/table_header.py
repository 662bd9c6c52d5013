"""The header of a table without a grid: its lines above the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from pipelines.readers.printed.table_columns import Columns, Row
from pipelines.readers.printed.table_lines import Line, Piece, closely_cut
from pipelines.readers.printed.table_rules import Drawn
from pipelines.readers.printed.table_values import (
    is_period,
    is_scale,
    is_unfinished_time,
)
from pipelines.readers.printed.words import Word

_MOST_LINES = 12
_MOST_PIECES = 100  # of a line
_LINES_APART = 1.9  # of a line's height: between two lines of a header
_ROWS_APART = 2.6  # of a line's height: between the header and the first row
_LONGEST = 90  # characters of a header in one line
_SLACK = 14.0  # points that a header may begin left of its column
_BEYOND = 40.0  # points that a header may end right of the last column


@dataclass(slots=True)
class Header:
    """``lines`` from the top, as lines of the page; ``groups`` are labels below it without values.

    ``corner`` is what stands over the labels. ``first`` is the uppermost line of the page used.
    """

    first: int
    lines: list[list[Piece]] = field(default_factory=list)
    corner: list[Piece] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    scale: Piece | None = None


def labels_end(columns: Columns, rows: Sequence[Row]) -> float:
    """The right edge of the longest label of a row with values."""
    labels = max((row.label.right for row in rows if row.label and row.cells), default=0.0)
    return min(labels, columns.left)


def cells_of(columns: Columns, labels: float) -> list[float]:
    """The left edge of each column's cells: that of the numbers is farther to the right."""
    rights = [extent.right for extent in columns.extents]
    steps = sorted(right - left for left, right in pairwise(rights))
    first = max(rights[0] - steps[len(steps) // 2], labels) if steps else labels
    return [min(first, columns.left), *rights[:-1]]


def header_above(
    words: Sequence[Word],
    lines: Sequence[Line],
    first: int,
    columns: Columns,
    labels_right: float,
    edge: float,
    drawn: Drawn,
) -> Header:
    """The header above line ``first``, the first row with a number.

    The labels end at ``labels_right``; the cells beside them begin there, or, by the distance of
    the columns, at ``edge``.
    """
    header = Header(first)
    labels: list[int] = []
    before = lines[first]
    for index in range(first - 1, max(-1, first - 1 - _MOST_LINES), -1):
        line = lines[index]
        height = max(line.height, before.height)
        if before.top - line.bottom > (_LINES_APART if header.lines else _ROWS_APART) * height:
            break
        if len(line.pieces) > _MOST_PIECES or _has_amounts(line) or _is_sentence(line, edge):
            break
        pieces = closely_cut(words, line.pieces)
        begin = labels_right if len(pieces) > 1 else edge
        inside = [p for p in pieces if p.right > columns.left - 2 or p.left > begin]
        outside = [p for p in pieces if p not in inside]
        if not header.lines and not inside:
            if is_scale(line.text):
                header.scale, header.first = line.pieces[0], index
            else:
                labels.append(index)
        elif not inside:
            if not _is_corner(line, before):
                break
            header.corner[:0] = outside
            header.first = index
        elif _is_header_line(line, inside, columns, begin, header):
            header.lines.insert(0, inside)
            header.corner[:0] = outside
            header.groups += labels
            labels.clear()
            header.first = index
        else:
            break
        before = line
    if not header.lines:
        header.groups = [index for index in labels if _is_shaded(lines[index], drawn)]
        header.first = min([header.first, *header.groups])
    return header


def _has_amounts(line: Line) -> bool:
    """True where a line is a row of another table; a header may well have "(1)" or "606" in it."""
    values = [piece for piece in line.pieces if piece.kind == "value"]
    return 2 * len(values) > len(line.pieces) or any(
        not piece.text.strip("()[]").isdigit() for piece in values
    )


def _is_sentence(line: Line, edge: float) -> bool:
    """True where words run on from the labels over the columns."""
    return any(
        piece.left < edge - _SLACK and piece.right > edge + 2 * _SLACK and len(piece.words) > 5
        for piece in line.pieces
    )


def _is_shaded(line: Line, drawn: Drawn) -> bool:
    return drawn.band_at((line.top + line.bottom) / 2) is not None


def _is_corner(line: Line, below: Line) -> bool:
    """True where a line over the labels belongs to the header, and is no end of a sentence."""
    return (
        below.top - line.bottom < 0.8 * line.height
        and len(line.text) < 60
        and not line.text[:1].islower()
        and (line.text[-1] not in ".:" or is_unfinished_time(line.text))
    )


def _is_header_line(
    line: Line, inside: list[Piece], columns: Columns, edge: float, header: Header
) -> bool:
    """True where a line names columns: it is over them and no sentence."""
    if any(len(piece.text) > _LONGEST for piece in inside):
        return False
    if any(piece.text.endswith(".") and len(piece.text) > 40 for piece in inside):
        return False
    first = inside[0]
    if first.left < edge - _SLACK or line.right > columns.right + _BEYOND:
        return False
    if len(inside) > 1 or not header.lines or is_period(first.text) or is_scale(first.text):
        return True
    # A title in the middle of the page is over a whole header, and over more than one column.
    return not (first.text.isupper() and len(header.lines[0]) < len(columns.extents))
