"""Words of a page from the boxes of their first and last characters: where they are, how they run.

Nearly every page is upright and all words of it run from left to right: that is looked for first,
as the general case takes four times as long.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from operator import sub
from typing import NamedTuple

from helix.sandbox.pdfium.document import Page
from pipelines.readers.printed.frame import (
    Boxes,
    Column,
    changes,
    differing,
    from_edge,
    lanes,
    picked,
    turned,
)

_LEAST_SIZE = 1.0  # points


@dataclass(frozen=True, slots=True)
class Placed:
    """Words as they are read, after ``turn`` quarter turns of the page (see ``Frame``).

    ``sizes`` are the heights of their fonts' lines in points; ``steps`` are the places of words
    whose size may be another than that of the word before. ``aside`` has 1 for each word of another
    direction than most. ``inside`` are the numbers of the words that are on the page as it
    is shown, which the others are those of; None where all are. ``is_whole`` is whether none goes
    beyond its edges.
    """

    boxes: Boxes
    sizes: Column
    steps: list[int]
    turn: int
    aside: bytes
    inside: list[int] | None = None
    is_whole: bool = False


class _Edges(NamedTuple):
    """Of the boxes of characters in the file: ``upper`` and ``lower`` count from below."""

    left: Column
    upper: Column
    right: Column
    lower: Column


def placed(page: Page, boxes: Column) -> Placed:
    """Words by the boxes of their first characters, then of their last ones.

    ``boxes`` are left, top, right, bottom of each in the file, y upwards.
    """
    middle = len(boxes) // 2
    first = _Edges(*(boxes[edge:middle:4] for edge in range(4)))
    last = _Edges(*(boxes[middle + edge :: 4] for edge in range(4)))
    if middle and page.quarter_turns == 0 and (found := _level(page, first, last)):
        return found
    return _any(page, first, last)


def _level(page: Page, first: _Edges, last: _Edges) -> Placed | None:
    """Words that run from left to right, all of them on the page; None where one is not so.

    Heights are reckoned once for words that follow each other on a line.
    """
    left, _, _, top = page.bounding_box
    width, height = page.size
    if not _run_right(first, last, left, left + width):
        return None
    upper, lower = first.upper, first.lower
    steps = changes(upper, lower)
    starts = [0, *steps]
    counts = list(map(sub, [*starts[1:], len(upper)], starts))
    tops = from_edge(top, picked(upper, starts)).tolist()
    bottoms = from_edge(top, picked(lower, starts)).tolist()
    heights = list(map(sub, bottoms, tops))
    sizes = _repeated(_sizes(heights), counts)
    boxes = Boxes(
        _less(first.left, left), _repeated(array("f", tops), counts),
        _less(last.right, left), _repeated(array("f", bottoms), counts),
    )  # fmt: skip
    for number in differing((upper, last.upper), (lower, last.lower)):
        above, below = last.upper[number], last.lower[number]
        if not abs(above - upper[number]) < last.left[number] - first.left[number]:
            return None
        boxes.top[number] = min(boxes.top[number], top - above)
        boxes.bottom[number] = max(boxes.bottom[number], top - below)
        tops.append(top - above)
        bottoms.append(top - below)
        heights.append(above - below)
    if not (
        isfinite(sum(heights)) and min(heights) >= 0
        and min(tops) >= 0 and max(bottoms) <= height
    ):  # fmt: skip
        return None
    return Placed(boxes, sizes, steps, 0, bytes(len(boxes)), is_whole=True)


def _run_right(first: _Edges, last: _Edges, left: float, right: float) -> bool:
    """True where each word begins and ends from left to right, and between these two edges.

    False too where an edge is negative: floats that are not are in the order of their bits, so that
    one subtraction compares all of them. A lane keeps the bit put before it where it is no less.
    What is no number has the bits of a larger one than any.
    """
    begins, begun, ends, ended = map(lanes, (first.left, first.right, last.left, last.right))
    signs, most = (lanes(array("f", [edge]) * len(first.left)) for edge in (-0.0, right))
    if (begins | begun | ends | ended) & signs:
        return False
    pairs = (begins, begun), (begun, ended), (begins, ends), (ends, ended), (ended, most)
    if not all(((more | signs) - less) & signs == signs for less, more in pairs):
        return False
    # the right edge is rounded where the left one is not 0
    return left == 0 or (left <= min(first.left) and max(last.right) <= right)


def _repeated(column: Column, counts: Sequence[int]) -> Column:
    """Each number of a column so many times."""
    packed, size = column.tobytes(), column.itemsize
    places = range(0, len(packed), size)
    whole = array("f")
    whole.frombytes(
        b"".join([packed[at : at + size] * times for at, times in zip(places, counts, strict=True)])
    )
    return whole


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
    sizes = _sizes(_heights(first))
    return Placed(boxes, sizes, changes(sizes), turn, aside, None if are_all else inside)


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
    return list(map(sub, boxes.bottom, boxes.top))


def _sizes(heights: list[float]) -> Column:
    if heights and min(heights) < _LEAST_SIZE:
        heights = [max(height, _LEAST_SIZE) for height in heights]
    return array("f", heights)


def _directions(first: Boxes, last: Boxes) -> tuple[int, bytes]:
    """The quarter turns that bring most words upright, and which words are turned otherwise."""
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
