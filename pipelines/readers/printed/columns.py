"""Columns of a page in reading order: what is left of a gutter before what is right of it.

A gutter is a strip that no line crosses but titles, wide figures and the like, which part the
page into bands. In a band the left side is read before the right one, and each side may have
gutters of its own. Only text is taken for columns: on both sides some lines that fill their side.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import ceil, floor
from statistics import median
from typing import Generic, TypeVar

from pipelines.readers.printed.lines import Line

_BIN = 3.0  # points
_GUTTER_BINS = 2  # that are empty beside each other: a space between two words is narrower
_LEAST_LINES = 4  # on each side, beside each other
_LEAST_WORDS = 2.5  # a line, on average
_LEAST_FILLED = 0.6  # of its side's width, by half of the lines
_MOST_CROSSED = 0.5  # of a band's lines may cross a gutter somewhere on the page
_NARROW = 0.8  # of the width of all: a line across more is in no column
_DEEPEST = 6  # gutters within the sides of others
_MOST_PIECES = 4_000  # of a page that has columns; more is a drawing, read from the top down

Content = TypeVar("Content")


@dataclass(slots=True)
class Hole(Generic[Content]):
    """A place on the page that is no text, such as a table, in the order of the lines."""

    left: float
    top: float
    right: float
    bottom: float
    content: Content


def in_order(
    pieces: Sequence[Line | Hole[Content]], depth: int = 0
) -> list[list[Line | Hole[Content]]]:
    """Pieces of lines in regions that are read one after the other; within one, from the top."""
    gutter = _gutter(pieces) if depth < _DEEPEST and len(pieces) <= _MOST_PIECES else None
    if gutter is None:
        return [list(pieces)] if pieces else []
    regions: list[list[Line | Hole[Content]]] = []
    above: list[Line | Hole[Content]] = []
    for band, is_open in _bands(pieces, gutter):
        left = [piece for piece in band if piece.left < gutter]
        right = [piece for piece in band if piece.left >= gutter]
        if is_open and right and _are_beside(left, right) >= 2:
            regions += [above] if above else []
            regions += in_order(left, depth + 1) + in_order(right, depth + 1)
            above = []
        else:
            above += band
    return regions + ([above] if above else [])


def _bands(
    pieces: Sequence[Line | Hole[Content]], gutter: float
) -> Iterator[tuple[list[Line | Hole[Content]], bool]]:
    """Pieces from the top down, those that follow each other without one across the gutter as one
    band, and whether it is such."""
    band: list[Line | Hole[Content]] = []
    for piece in sorted(pieces, key=lambda piece: piece.top):
        if piece.left < gutter < piece.right:
            if band:
                yield band, True
            yield [piece], False
            band = []
        else:
            band.append(piece)
    if band:
        yield band, True


def _gutter(pieces: Sequence[Line | Hole[Content]]) -> float | None:
    """The place between two columns of text that has the most lines beside it; None without one."""
    lines = [piece for piece in pieces if isinstance(piece, Line)]
    if len(lines) < 2 * _LEAST_LINES:
        return None
    lines.sort(key=lambda line: line.top)
    width = max([line.right for line in lines]) - min([line.left for line in lines])
    narrow = sum([line.right - line.left < _NARROW * width for line in lines])
    if narrow < 2 * _LEAST_LINES:  # as on most pages of one column
        return None
    best, most = None, 0
    for place, fewer, crossing in _valleys(lines):
        least = max(_LEAST_LINES, most + 1, _MOST_CROSSED * crossing / 2)
        if fewer < least:
            continue
        left = [line for line in lines if line.right <= place]
        if not _is_text(left):
            continue
        right = [line for line in lines if line.left >= place]
        if not _is_text(right):
            continue
        beside = min(_are_beside(left, right), _are_beside(right, left))
        if beside >= least:
            best, most = place, beside
    return best


def _valleys(lines: Sequence[Line]) -> Iterator[tuple[float, int, int]]:
    """Middles of the strips that fewer lines cross than what is left and right of them.

    With each come the lines of the side that has fewer, and the lines that cross it.
    """
    first = [floor(line.left / _BIN) for line in lines]
    last = [ceil(line.right / _BIN) for line in lines]
    start = min(first)
    steps = [0] * (max(last) - start + 1)
    for begin, end in zip(first, last, strict=True):
        steps[begin - start] += 1
        steps[end - start] -= 1
    covered = list(accumulate(steps))[:-1]
    bounds = [place for place, step in enumerate(steps[:-1]) if place and step]
    lefts, rights = sorted([line.left for line in lines]), sorted([line.right for line in lines])
    for begin, end in pairwise(bounds):
        here = covered[begin]
        if end - begin < _GUTTER_BINS or not covered[begin - 1] > here < covered[end]:
            continue
        place = (start + (begin + end) / 2) * _BIN
        left, right = bisect_right(rights, place), len(lines) - bisect_left(lefts, place)
        yield place, min(left, right), len(lines) - left - right


def _are_beside(
    pieces: Sequence[Line | Hole[Content]], others: Sequence[Line | Hole[Content]]
) -> int:
    """The number of pieces at the height of one of ``others``, which come from the top down."""
    tops = [other.top for other in others]
    lowest = list(accumulate([other.bottom for other in others], max))
    found = 0
    for piece in pieces:
        middle = (piece.top + piece.bottom) / 2
        above = bisect_right(tops, middle)
        found += above > 0 and lowest[above - 1] >= middle
    return found


def _is_text(lines: Sequence[Line]) -> bool:
    """True where these are lines of prose, not labels or numbers, and fill their column."""
    if sum([len(line.numbers) for line in lines]) < _LEAST_WORDS * len(lines):
        return False
    width = max([line.right for line in lines]) - min([line.left for line in lines])
    return median([line.right - line.left for line in lines]) >= _LEAST_FILLED * width
