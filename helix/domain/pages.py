"""Places of a document's words on its printed pages: boxes packed as bytes, and looked up."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from helix.language.sentences import Span

_WORD = struct.Struct("<II4f")
LONGEST_SIDE = 1_000_000.0
"""Points of a page that is believed; a PDF's own limit is 14,400 units."""


class WordBox(NamedTuple):
    """A run of characters of the document's text and its rectangle on the page.

    ``start`` and ``end`` count from the start of the document's text. The rectangle is in points
    (72 to the inch) from the top left corner of the page as it is shown, rotation applied.
    """

    start: int
    end: int
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class PrintedPage:
    """A page of a PDF: its size, its label, and its words with their boxes.

    ``number`` counts from 1; ``label`` is the page number that is printed on it ("13", "iv"), ''
    where none is. ``width`` and ``height`` are in points, as shown. ``start`` and ``end`` are its
    span of the document's text. ``furniture`` are its running headers, footers and page numbers,
    which are left out of that text. ``words`` are ``pack_words``'s bytes.
    """

    number: int
    label: str
    width: float
    height: float
    start: int
    end: int
    furniture: tuple[str, ...] = ()
    words: bytes = b""


def pack_words(words: Iterable[WordBox]) -> bytes:
    """24 bytes a word, little endian: start and end as uint32, the rectangle as four float32."""
    return b"".join(_WORD.pack(*word) for word in words)


def unpack_words(packed: bytes) -> Iterator[WordBox]:
    """The words of ``pack_words``; struct.error where the bytes are not its."""
    return map(WordBox._make, _WORD.iter_unpack(packed))


_WIDEST_GAP = 1.0  # line heights between two words of a line; the cells of a row are further apart
_SAME_LINE = 0.5  # of the lower one's height, that two words of a line share


class Box(NamedTuple):
    """A rectangle in points from the top left corner of the page as it is shown."""

    left: float
    top: float
    right: float
    bottom: float


def boxes_of(words: Iterable[WordBox], start: int, end: int) -> list[Box]:
    """The rectangles of the characters ``start`` to ``end`` on a page, a line's words as one.

    ``words`` are the page's, in order of their starts. Of a word that is partly within the range,
    its part of the width. A box that stands for several places of the text, as a table's header
    does for each of its rows, is there once.
    """
    boxes: list[Box] = []
    for box in dict.fromkeys(_part(word, start, end) for word in _within(words, start, end)):
        if boxes and _continues(boxes[-1], box):
            boxes[-1] = _around(boxes[-1], box)
        else:
            boxes.append(box)
    return boxes


def _within(words: Iterable[WordBox], start: int, end: int) -> Iterator[WordBox]:
    return (word for word in words if word.start < end and word.end > start)


def _part(word: WordBox, start: int, end: int) -> Box:
    """The word's rectangle, cut where the range begins or ends in it, as if letters were even.

    One that is higher than it is wide may stand upright, and is left whole.
    """
    length, width = word.end - word.start, word.right - word.left
    left, right = word.left, word.right
    if width >= word.bottom - word.top:
        left += width * max(0, start - word.start) / length
        right -= width * max(0, word.end - end) / length
    return Box(left, word.top, right, word.bottom)


def _continues(line: Box, box: Box) -> bool:
    """True if ``box`` is the next word of the line that ends with ``line``."""
    height = min(line.bottom - line.top, box.bottom - box.top)
    shared = min(line.bottom, box.bottom) - max(line.top, box.top)
    gap = box.left - line.right
    widest = _WIDEST_GAP * max(line.bottom - line.top, box.bottom - box.top)
    return shared > _SAME_LINE * height and -widest < gap <= widest


def _around(one: Box, other: Box) -> Box:
    return Box(
        min(one.left, other.left), min(one.top, other.top),
        max(one.right, other.right), max(one.bottom, other.bottom),
    )  # fmt: skip


def spans_in(words: Iterable[WordBox], box: Box) -> list[Span]:
    """The spans of the text whose words lie in ``box`` by their middle; of a point, that hold it.

    ``words`` are the page's, in order of their starts; words that follow each other on the page
    are one span. Of several places of the text that one word on the page stands for, the first.
    """
    spans: list[Span] = []
    seen: set[Box] = set()
    previous: WordBox | None = None  # the word before in the page's text, if it was in the box
    for word in words:
        place = Box(*word[2:])
        if place in seen or not _lies_in(place, box):
            previous = None
            continue
        seen.add(place)
        if previous is not None:
            spans[-1] = (spans[-1][0], word.end)
        else:
            spans.append((word.start, word.end))
        previous = word
    return spans


def _lies_in(word: Box, box: Box) -> bool:
    if box.left == box.right and box.top == box.bottom:
        return word.left <= box.left <= word.right and word.top <= box.top <= word.bottom
    across, down = (word.left + word.right) / 2, (word.top + word.bottom) / 2
    return box.left <= across <= box.right and box.top <= down <= box.bottom
