"""Columns of text on a page: a table in one of them has no cells in the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pipelines.readers.printed.table_lines import Line
from pipelines.readers.printed.words import Word

_FEWEST_LINES = 6  # with text on both sides
_SHARE = 0.35  # of the lines with a gap there: as many have text on both sides
_WORDS = 4  # of a line of text; a label or a cell is mostly shorter
_NEAR = 8.0  # points between the starts of lines in one column

_Group = list[int]


def groups_of(words: Sequence[Word], lines: Sequence[Line]) -> list[_Group]:
    """The words beside one another's column, then the others: one group where there are none.

    Indices of ``words``; a line over both columns is in the last group.
    """
    gutter = _gutter(lines)
    if gutter is None:
        return [list(range(len(words)))]
    left, right = gutter
    beside = [line for line in lines if not _crosses(line, left, right)]
    top, bottom = min(line.top for line in beside), max(line.bottom for line in beside)
    groups: tuple[_Group, _Group, _Group] = ([], [], [])
    crossing = {
        index
        for line in lines
        if _crosses(line, left, right) or not top <= line.top <= bottom
        for piece in line.pieces
        for index in piece.words
    }
    for index, word in enumerate(words):
        groups[2 if index in crossing else 0 if word.right <= right else 1].append(index)
    return [group for group in groups if group]


def _crosses(line: Line, left: float, right: float) -> bool:
    return any(piece.left < left - 1 and piece.right > right + 1 for piece in line.pieces)


def _gutter(lines: Sequence[Line]) -> tuple[float, float] | None:
    """From where the left column's longest line ends to where the right column begins."""
    starts: dict[int, list[tuple[float, float]]] = {}
    for line in lines:
        for one, other in pairwise(line.pieces):
            if len(one.words) >= _WORDS and len(other.words) >= _WORDS:
                starts.setdefault(round(other.left / _NEAR), []).append((one.right, other.left))
    found = max(starts.values(), key=len, default=[])
    if len(found) < _FEWEST_LINES:
        return None
    right = min(start for _, start in found)
    left = max(end for end, _ in found)
    gaps = sum(
        any(one.right <= right <= other.left + 1 for one, other in pairwise(p))
        for p in (line.pieces for line in lines)
    )
    return (min(left, right), right) if len(found) >= _SHARE * gaps else None
