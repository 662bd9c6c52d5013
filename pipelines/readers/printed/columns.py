"""Columns of a page in reading order: what is left of a gutter before what is right of it.

A gutter is a strip that no line crosses but titles, wide figures and the like, which part the
page into bands. In a band the left side is read before the right one, and each side may have
gutters of its own. Only text is taken for columns: on both sides some lines that fill their side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from pipelines.readers.printed.lines import Line

_BIN = 3.0  # points
_GUTTER_BINS = 2
_LEAST_LINES = 4  # on each side, beside each other
_LEAST_WORDS = 2.5  # a line, on average
_LEAST_FILLED = 0.6  # of its side's width, by half of the lines
_MOST_CROSSED = 0.5  # of a band's lines may cross a gutter somewhere on the page
_NARROW = 0.8  # of the width of all: a line across more is in no column
_DEEPEST = 6
_MOST_PIECES = 4_000  # of a page that has columns; more is a drawing, read from the top down

Content = TypeVar("Content")

Boxes = NDArray[np.float64]
"""A row a piece: left, top, right, bottom."""


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
        if is_open and right and _are_beside(_boxes_of(left), _boxes_of(right)) >= 2:
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
    """Where the page falls into two columns of text, the one with the most lines beside it."""
    lines = [piece for piece in pieces if isinstance(piece, Line)]
    if len(lines) < 2 * _LEAST_LINES:
        return None
    lines.sort(key=lambda line: line.top)
    boxes = _boxes_of(lines)
    width = boxes[:, 2].max() - boxes[:, 0].min()
    narrow = int((boxes[:, 2] - boxes[:, 0] < _NARROW * width).sum())
    if narrow < 2 * _LEAST_LINES:  # as on most pages of one column
        return None
    best, most = None, 0
    for place, fewer, crossing in _valleys(boxes):
        least = max(_LEAST_LINES, most + 1, _MOST_CROSSED * crossing / 2)
        if fewer < least:
            continue
        is_left, is_right = boxes[:, 2] <= place, boxes[:, 0] >= place
        left, right = boxes[is_left], boxes[is_right]
        beside = min(_are_beside(left, right), _are_beside(right, left))
        if beside >= least and all(
            _is_text([lines[number] for number in np.flatnonzero(side).tolist()])
            for side in (is_left, is_right)
        ):
            best, most = place, beside
    return best


def _boxes_of(pieces: Sequence[Line | Hole[Content]]) -> Boxes:
    edges = [(piece.left, piece.top, piece.right, piece.bottom) for piece in pieces]
    return np.array(edges).reshape(-1, 4)


def _valleys(boxes: Boxes) -> Iterator[tuple[float, int, int]]:
    """Middles of the strips that fewer lines cross than what is left and right of them.

    With each come the lines of the side that has fewer, and the lines that cross it.
    """
    first = np.floor(boxes[:, 0] / _BIN).astype(int)
    last = np.ceil(boxes[:, 2] / _BIN).astype(int)
    start, bins = int(first.min()), int(last.max() - first.min()) + 2
    steps = np.bincount(first - start, minlength=bins) - np.bincount(last - start, minlength=bins)
    covered = np.cumsum(steps)[:-2]
    bounds = np.concatenate(([0], np.flatnonzero(np.diff(covered)) + 1, [len(covered)]))
    begins, ends = bounds[1:-2], bounds[2:-1]
    here = covered[begins]
    is_valley = (covered[begins - 1] > here) & (here < covered[np.minimum(ends, len(covered) - 1)])
    is_valley &= ends - begins >= _GUTTER_BINS
    places = (start + (begins[is_valley] + ends[is_valley]) / 2) * _BIN
    left = np.searchsorted(np.sort(boxes[:, 2]), places, side="right")
    right = len(boxes) - np.searchsorted(np.sort(boxes[:, 0]), places, side="left")
    crossing = len(boxes) - left - right
    yield from zip(
        places.tolist(), np.minimum(left, right).tolist(), crossing.tolist(), strict=True
    )


def _are_beside(boxes: Boxes, others: Boxes) -> int:
    """How many boxes are at the height of one of ``others``, which come from the top down."""
    tops, lowest = others[:, 1], np.maximum.accumulate(others[:, 3])
    middles = (boxes[:, 1] + boxes[:, 3]) / 2
    above = np.searchsorted(tops, middles, side="right") - 1
    return int(((above >= 0) & (lowest[np.maximum(above, 0)] >= middles)).sum())


def _is_text(lines: Sequence[Line]) -> bool:
    """Whether these are lines of prose, not labels or numbers, and fill their column."""
    width = max(line.right for line in lines) - min(line.left for line in lines)
    filled = median(line.right - line.left for line in lines) >= _LEAST_FILLED * width
    return filled and fmean(len(line.numbers) for line in lines) >= _LEAST_WORDS
