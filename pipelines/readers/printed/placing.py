"""Words of a page from the boxes of their first and last characters: where they are, how they run.

Nearly every page is upright and all words of it run from left to right: that is looked for first,
as the general case takes four times as long.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

from helix.pdfium.document import Page
from pipelines.readers.printed.frame import Boxes, Column, from_edge, turned

_LEAST_SIZE = 1.0  # points


@dataclass(frozen=True, slots=True)
class Placed:
    """Words as they are read, after ``turn`` quarter turns of the page (see ``Frame``).

    ``sizes`` are the heights of their fonts' lines in points; ``aside`` has 1 for each word of
    another direction than most. ``inside`` are the numbers of the words that are on the page as it
    is shown, which the others are those of; None where all are. ``is_whole`` is whether none goes
    beyond its edges.
    """

    boxes: Boxes
    sizes: Column
    turn: int
    aside: bytes
    inside: list[int] | None = None
    is_whole: bool = False


class _Edges(NamedTuple):
    """Of the boxes of characters in the file: ``upper`` and ``lower`` count from below."""

    left: list[float]
    upper: list[float]
    right: list[float]
    lower: list[float]


def placed(page: Page, boxes: list[float]) -> Placed:
    """Words by the boxes of their first characters, then of their last ones.

    ``boxes`` are left, top, right, bottom of each in the file, y upwards.
    """
    middle = len(boxes) // 2
    first = _Edges(*(boxes[edge:middle:4] for edge in range(4)))
    last = _Edges(*(boxes[middle + edge :: 4] for edge in range(4)))
    if page.quarter_turns == 0 and (found := _level(page, first, last)):
        return found
    return _any(page, first, last)


def _level(page: Page, first: _Edges, last: _Edges) -> Placed | None:
    """Words that run from left to right, all of them on the page; None where one is not so."""
    left, _, _, top = page.bounding_box
    width, height = page.size
    end = left + width
    edges = zip(first.left, first.right, last.left, last.right, strict=True)
    if [1 for a, b, c, d in edges if not (left <= a <= b <= d <= end and a <= c <= d)]:
        return None
    boxes = Boxes(
        _less(first.left, left), from_edge(top, first.upper),
        _less(last.right, left), from_edge(top, first.lower),
    )  # fmt: skip
    tops, bottoms = boxes.top.tolist(), boxes.bottom.tolist()
    heights = [bottom - top for top, bottom in zip(tops, bottoms, strict=True)]
    for number in _uneven(first, last):
        upper, lower = last.upper[number], last.lower[number]
        if not abs(upper - first.upper[number]) < last.left[number] - first.left[number]:
            return None
        boxes.top[number] = tops[number] = min(tops[number], top - upper)
        boxes.bottom[number] = bottoms[number] = max(bottoms[number], top - lower)
        heights.append(upper - lower)
    if heights and not (
        isfinite(sum(heights)) and min(heights) >= 0
        and min(tops) >= 0 and max(bottoms) <= height
    ):  # fmt: skip
        return None
    return Placed(boxes, _sizes(heights[: len(boxes)]), 0, bytes(len(boxes)), is_whole=True)


def _uneven(first: _Edges, last: _Edges) -> Sequence[int]:
    """The words whose last character is higher or lower than the first, or of another font."""
    if first.upper == last.upper and first.lower == last.lower:
        return ()
    edges = zip(first.upper, last.upper, first.lower, last.lower, strict=True)
    return [number for number, (a, b, c, d) in enumerate(edges) if a != b or c != d]


def _any(page: Page, first_edges: _Edges, last_edges: _Edges) -> Placed:
    lost = _without_number(first_edges, last_edges)
    first, last = _shown(page, first_edges), _shown(page, last_edges)
    boxes = Boxes(
        array("f", map(min, first.left, last.left)), array("f", map(min, first.top, last.top)),
        array("f", map(max, first.right, last.right)),
        array("f", map(max, first.bottom, last.bottom)),
    )  # fmt: skip
    width, height = page.size
    inside = [
        number
        for number, (left, top, right, bottom) in enumerate(zip(*boxes.columns, strict=True))
        if 0 <= (left + right) / 2 <= width and 0 <= (top + bottom) / 2 <= height
        and number not in lost
    ]  # fmt: skip
    are_all = len(inside) == len(boxes)
    if not are_all:
        first, last, boxes = (given.chosen(inside) for given in (first, last, boxes))
    turn, aside = _directions(first, last)
    boxes, first = (turned(given, turn, width, height) for given in (boxes, first))
    return Placed(boxes, _sizes(_heights(first)), turn, aside, None if are_all else inside)


def _without_number(first: _Edges, last: _Edges) -> set[int]:
    """The words that a damaged file gives an edge that is no number, or none that is finite."""
    columns = *first, *last
    if isfinite(sum(map(sum, columns))):
        return set()
    edges = enumerate(zip(*columns, strict=True))
    return {number for number, each in edges if not all(map(isfinite, each))}


def _shown(page: Page, edges: _Edges) -> Boxes:
    """Boxes of the file on the page as it is shown."""
    left, bottom, right, top = page.bounding_box
    one, upper, other, lower = edges
    upright = Boxes(
        _less(map(min, one, other), left), from_edge(top, map(max, upper, lower)),
        _less(map(max, one, other), left), from_edge(top, map(min, upper, lower)),
    )  # fmt: skip
    return turned(upright, page.quarter_turns, right - left, top - bottom)


def _less(column: Iterable[float], edge: float) -> Column:
    return array("f", [place - edge for place in column] if edge else column)


def _heights(boxes: Boxes) -> list[float]:
    return [bottom - top for top, bottom in zip(boxes.top, boxes.bottom, strict=True)]


def _sizes(heights: list[float]) -> Column:
    if heights and min(heights) < _LEAST_SIZE:
        heights = [max(height, _LEAST_SIZE) for height in heights]
    return array("f", heights)


def _directions(first: Boxes, last: Boxes) -> tuple[int, bytes]:
    """How many quarter turns bring most words upright, and which words are not of those."""
    steps = [
        (right - left, lower - upper)
        for left, right, upper, lower in zip(
            first.left, last.left, first.top, last.top, strict=True
        )
    ]
    turns = [_turn(across, down) for across, down in steps]
    totals = [0.0] * 4
    for turn, (across, down) in zip(turns, steps, strict=True):
        totals[turn] += abs(across) + abs(down)
    turn = totals.index(max(totals))
    return turn, bytes(
        one != turn and step != (0, 0) for one, step in zip(turns, steps, strict=True)
    )


def _turn(across: float, down: float) -> int:
    """Text that runs down is upright after three quarter turns clockwise, one that runs up after
    one."""
    if abs(down) <= abs(across):
        return 0 if across >= 0 else 2
    return 3 if down >= 0 else 1
