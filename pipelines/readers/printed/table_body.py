"""The rows of a table without a grid: labels of several lines joined, cells put into columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from pipelines.readers.printed.table_columns import Columns, Extent, Row, together
from pipelines.readers.printed.table_lines import Line, Piece
from pipelines.readers.printed.table_rules import Drawn
from pipelines.readers.printed.words import Word

_TIGHT = 0.88  # of the distance between rows: lines closer than this are of one row
_OVERLAPPING = 0.8  # of a line's height: between lines closer than this there is no row's gap
_HANGING = 16.0  # points by which the later lines of a label may be indented
_SPACE = 3.0  # points
_UNFINISHED = ("and", "or", "of", "the", "to", "for", "in", "on", "by", "from", "with", "net", "a")


def rows_of(
    words: Sequence[Word],
    lines: Sequence[Line],
    columns: Columns,
    label_side: float,
    drawn: Drawn,
) -> list[Row]:
    """The rows in ``lines``; what begins left of ``label_side`` is a label."""
    rows = [_row(words, line, columns, label_side) for line in lines]
    return _joined(words, rows, drawn)


def label_side(lines: Sequence[Line], columns: Columns) -> float:
    """The right edge of the labels: a line's first piece that begins left of it is its label."""
    first = columns.extents[0]
    labelled = sum(line.pieces[0].left < first.left - 1 for line in lines)
    years = [
        line.pieces[0] for line in lines if len(line.pieces) > 1 and line.pieces[0].kind == "either"
    ]
    if len(columns.extents) > 1 and years and labelled < len(lines) / 2:
        return columns.extents[1].outer
    return first.left - 1


def with_text_columns(lines: Sequence[Line], columns: Columns, label_side: float) -> Columns:
    """The columns, and those of words or years that stand apart from the labels."""
    extents = Columns([Extent(e.left, e.right, e.outer, e.members) for e in columns.extents])
    loose = Columns()
    for line in lines:
        rest = line.pieces[1:] if line.pieces[0].left < label_side else line.pieces
        loose.add(piece for piece in rest if piece.kind != "value" and extents.at(piece) is None)
    for extent in loose.extents:
        if extent.members > 1 and not any(
            other.overlap(extent.left, extent.right) > 0 for other in extents.extents
        ):
            extents.extents.append(extent)
    extents.extents.sort(key=lambda extent: extent.left)
    return extents


def _row(words: Sequence[Word], line: Line, columns: Columns, label_side: float) -> Row:
    label: list[Piece] = []
    found: dict[int, list[Piece]] = {}
    for piece in line.pieces:
        place = columns.at(piece)
        is_label = not found and piece.left < label_side and (not label or place is None)
        if is_label and (
            place is None or piece.left < columns.extents[0].outer or piece.kind != "value"
        ):
            label.append(piece)
            continue
        if place is None:
            place = _nearest(columns, piece)
        found.setdefault(place, []).append(piece)
    cells = {place: one for place, pieces in found.items() if (one := together(words, *pieces))}
    return Row(together(words, *label), cells, line.top, line.bottom)


def _nearest(columns: Columns, piece: Piece) -> int:
    distances = [-extent.overlap(piece.left, piece.right) for extent in columns.extents]
    return distances.index(min(distances))


def _joined(words: Sequence[Word], lines: list[Row], drawn: Drawn) -> list[Row]:
    """Rows of lines: those of one row put together."""
    pitch = _pitch(lines)
    limit = max((row.label.right for row in lines if row.label), default=0.0)
    rows: list[Row] = []
    for line in lines:
        if rows and _is_one(words, rows[-1], line, drawn, pitch, limit):
            rows[-1] = _merged(words, rows[-1], line)
        else:
            rows.append(line)
    return rows


def _merged(words: Sequence[Word], upper: Row, lower: Row) -> Row:
    cells = dict(upper.cells)
    for column, piece in lower.cells.items():
        joined = together(words, cells.get(column), piece)
        if joined:
            cells[column] = joined
    label = together(words, upper.label, lower.label)
    return Row(label, cells, upper.top, max(upper.bottom, lower.bottom))


def _pitch(lines: Sequence[Row]) -> float | None:
    """The distance between rows of one line, None where no two follow one another."""
    distances = [
        lower.bottom - upper.bottom
        for upper, lower in pairwise(lines)
        if upper.label and lower.label and upper.cells and lower.cells
    ]
    return median(distances) if distances else None


def _is_one(
    words: Sequence[Word],
    upper: Row,
    lower: Row,
    drawn: Drawn,
    pitch: float | None,
    limit: float,
) -> bool:
    """True where a line belongs to the row above it."""
    if any(
        upper.cells[column].kind == "value" and piece.kind == "value"
        for column, piece in lower.cells.items()
        if column in upper.cells
    ):
        return False
    height = lower.bottom - lower.top
    gap = lower.top - upper.bottom
    if gap > height:
        return False
    bands = drawn.band_at(upper.bottom - height / 2), drawn.band_at((lower.top + lower.bottom) / 2)
    if bands[0] != bands[1]:
        return False
    if bands[0] and bands[0][1] - bands[0][0] < 5 * height:
        return True
    if lower.top + height / 2 - (upper.bottom - height / 2) < _OVERLAPPING * height:
        return not (upper.cells and lower.cells)
    if _has_rule_between(upper, lower, drawn, height):
        return False
    if not lower.label:
        is_tight = pitch is not None and lower.bottom - upper.bottom < _TIGHT * pitch
        return is_tight or (
            bool(upper.cells)
            and gap < 0.35 * height
            and all(
                piece.kind == "text" and column in upper.cells and piece.text[:1].islower()
                for column, piece in lower.cells.items()
            )
        )
    if not upper.label or (upper.cells and lower.cells):
        return False
    return _continues(words, upper.label, lower, pitch, upper.bottom, limit)


def _has_rule_between(upper: Row, lower: Row, drawn: Drawn, height: float) -> bool:
    return any(
        rule.right - rule.left > 2 * height
        for rule in drawn.below(upper.bottom - 0.2 * height, lower.top + 0.2 * height)
    )


def _continues(
    words: Sequence[Word],
    upper: Piece,
    lower: Row,
    pitch: float | None,
    bottom: float,
    limit: float,
) -> bool:
    """True where a label is the next line of the one above it."""
    label = lower.label
    if label is None or not -1.5 <= label.left - upper.left <= _HANGING:
        return False
    first = words[label.words[0]]
    is_full = words[upper.words[-1]].right + _SPACE + first.right - first.left > limit
    if pitch is not None and lower.bottom - bottom < _TIGHT * pitch:
        return not upper.text.endswith(":") or is_full
    if upper.text.endswith(":"):
        return False
    if upper.text.endswith((",", "-", "–", "—")) or upper.text.split()[-1] in _UNFINISHED:
        return True
    return is_full and (first.text[:1].islower() or first.text[:1] in "($")
