"""The plane of a page: where things are as it is shown, and as its text is read."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress, count, pairwise, repeat
from operator import itemgetter, sub
from typing import Literal, TypeAlias, TypeVar

Column: TypeAlias = "array[float]"
"""float32, which every sum is rounded to as pdfium's own are."""

_MOST_JUMPS = 4  # words for each place where numbers do not go on: with fewer, word by word

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Boxes:
    """A column an edge, in points from the top left corner, y downwards; 16 bytes a box.

    Arrays of the standard library: numpy would be a third of the reader's memory.
    """

    left: Column
    top: Column
    right: Column
    bottom: Column

    def __len__(self) -> int:
        return len(self.left)

    @property
    def columns(self) -> tuple[Column, Column, Column, Column]:
        """Left, top, right, bottom."""
        return self.left, self.top, self.right, self.bottom

    def chosen(self, numbers: Sequence[int]) -> Boxes:
        """Boxes by number, in that order."""
        if not len(numbers):
            return no_boxes()
        first, end = numbers[0], numbers[-1] + 1
        if end - first == len(numbers) and list(numbers) == list(range(first, end)):
            return Boxes(*(column[first:end] for column in self.columns))
        jumps = [at for at, step in enumerate(map(sub, numbers[1:], numbers), 1) if step != 1]
        if _MOST_JUMPS * len(jumps) > len(numbers):
            return Boxes(*(array("f", picked(column, numbers)) for column in self.columns))
        runs = [
            slice(numbers[first], numbers[end - 1] + 1)
            for first, end in pairwise([0, *jumps, len(numbers)])
        ]
        return Boxes(*(_joined([column[run] for run in runs]) for column in self.columns))

    def are_within(self, width: float, height: float) -> bool:
        """True where no box is beyond a page of that size."""
        return not len(self) or (
            min(self.left) >= 0 and max(self.right) <= width
            and min(self.top) >= 0 and max(self.bottom) <= height
        )  # fmt: skip

    def extend(self, others: Boxes) -> None:
        """Add others at the end."""
        for column, more in zip(self.columns, others.columns, strict=True):
            column.extend(more)


def no_boxes() -> Boxes:
    """None yet, to be extended."""
    return Boxes(array("f"), array("f"), array("f"), array("f"))


def picked(column: Sequence[T], numbers: Sequence[int]) -> Sequence[T]:
    """Items of a column by number."""
    if len(numbers) < 2:
        return [column[number] for number in numbers]
    found: tuple[T, ...] = itemgetter(*numbers)(column)
    return found


def lanes(column: Column, order: Literal["little", "big"] = sys.byteorder) -> int:
    """All numbers of a column as one whole number, 32 bits each: one step for all of them.

    The first is in the lowest bits where ``order`` is "little".
    """
    return int.from_bytes(column.tobytes(), order)


def differing(*pairs: tuple[Column, Column]) -> list[int]:
    """The places where the two columns of a pair, all of one length, have other numbers."""
    differ = 0
    for one, other in pairs:
        differ |= lanes(one, "little") ^ lanes(other, "little")
    return list(compress(count(), _flags(differ, len(pairs[0][0]))))


def changes(*columns: Column) -> list[int]:
    """The places, from 1, where one of the columns, all of one length, has another number than at
    the place before."""
    differ = 0
    for column in columns:
        numbers = lanes(column, "little")
        differ |= numbers ^ numbers >> 32
    length = len(columns[0])
    return list(compress(range(1, length), _flags(differ, length)))


def _flags(bits: int, length: int) -> array[int]:
    """``length`` lanes; none where all would be 0."""
    flags = array("I")
    if bits:
        flags.frombytes(bits.to_bytes(4 * length, "little"))
    return flags


@dataclass(frozen=True, slots=True)
class Frame:
    """A page of ``width`` x ``height`` points as it is shown, and how its text lies on it.

    ``turn`` is how many quarter turns clockwise bring most of its lines upright: 0 on nearly every
    page, 1 or 3 where a wide table is printed along the long side. What reads the layout sees the
    turned page; what is stored are boxes of the page as it is shown.
    """

    width: float
    height: float
    turn: int = 0

    @property
    def read_width(self) -> float:
        """Points across the page as its text is read."""
        return self.height if self.turn % 2 else self.width

    @property
    def read_height(self) -> float:
        """Points down the page as its text is read."""
        return self.width if self.turn % 2 else self.height

    def shown(self, boxes: Boxes) -> Boxes:
        """Boxes of the page as it is read, on the page as it is shown, cut at its edges."""
        boxes = turned(boxes, -self.turn, self.read_width, self.read_height)
        if boxes.are_within(self.width, self.height):
            return boxes
        left, top, right, bottom = boxes.columns
        return Boxes(
            _cut(left, self.width), _cut(top, self.height),
            _cut(right, self.width), _cut(bottom, self.height),
        )  # fmt: skip


def _joined(columns: Sequence[Column]) -> Column:
    whole = columns[0]
    for column in columns[1:]:
        whole.extend(column)
    return whole


def _cut(column: Column, most: float) -> Column:
    return array("f", [min(max(edge, 0.0), most) for edge in column])


def turned(boxes: Boxes, quarters: int, width: float, height: float) -> Boxes:
    """Boxes of a page of ``width`` x ``height`` after so many quarter turns of it clockwise."""
    for _ in range(quarters % 4):
        left, top, right, bottom = boxes.columns
        boxes = Boxes(from_edge(height, bottom), left, from_edge(height, top), right)
        width, height = height, width
    return boxes


def from_edge(edge: float, column: Iterable[float]) -> Column:
    """The distances of a column from an edge that is to the right of it or below."""
    (edge,) = array("f", (edge,))
    return array("f", list(map(sub, repeat(edge), column)))
