"""The words of a PDF page, each with its box, size and weight, as pdfium has them."""

from __future__ import annotations

import ctypes
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium_raw  # type: ignore[import-untyped]
from numpy.typing import NDArray

from pipelines.readers.printed.frame import Boxes, Frame, turned

CUT_MARKS = "\x02\ufffe\xad"
"""pdfium's marks for a hyphen at a line's end, and the soft hyphen."""

CONTROLS = re.compile(r"[\x00-\x01\x03-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\uffff]")
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(
    # Scripts without spaces in pieces of four, so that a quote's box is not a whole line.
    rf"[{_IDEOGRAPHS}]{{1,4}}"
    rf"|[^\s{CUT_MARKS}{_IDEOGRAPHS}]+[{CUT_MARKS}]?|[{CUT_MARKS}]"
)
_SPECIAL = re.compile(rf"[{CUT_MARKS}{_IDEOGRAPHS}]")
_PLAIN_WORD = re.compile(r"\S+")
_BOLD_WEIGHT = 600
_BOLD_NAME = re.compile(rb"bold|black|heavy|(?:^|[-+,])(?:semi|demi)|[-,]bd", re.IGNORECASE)
_LONGEST_FONT_NAME = 128
_LEAST_TABLE = 4  # words of a page with a table
_LEAST_APART = 2
_BULLET = re.compile(r"[^\w$€£¥%]|\(?\w{1,3}[.)]")
_APART = 0.9  # of the size, between two cells
_SAME_ROW = 0.5  # of the size, between the feet of two words
_SAME_SIZE = 1.02  # of two words: less apart is rounding


class Word(NamedTuple):
    """A word of a page as it is read (see ``Frame``): its box in points from the top left corner.

    The box is as high as its font's line, whatever its letters, so that words of a line have one
    height; ``size`` is that height. ``spaced`` is whether white space stands before it: not inside
    Chinese or Japanese, nor after a hyphen that a line was cut at.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    bold: bool = False
    spaced: bool = True

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        return self.left, self.top, self.right, self.bottom


@dataclass(frozen=True, slots=True)
class PageWords:
    """The words of a page in the order of its file, packed: 40 bytes each and the page's text.

    ``spans`` are those of the words in ``text``, ``aside`` those of another direction than most
    (a stamp along the margin).
    """

    frame: Frame
    text: str
    spans: NDArray[np.int32]
    boxes: Boxes
    sizes: NDArray[np.float32]
    bold: NDArray[np.bool_]
    aside: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.spans)

    def texts(self) -> list[str]:
        """The words, without marks that are not printed."""
        text = self.text
        words = [text[start:end] for start, end in self.spans.tolist()]
        if CONTROLS.search(text):
            words = [CONTROLS.sub("", word) for word in words]
        return words

    def words(self) -> list[Word]:
        """All words, those of another direction as if they were upright."""
        columns = [edge.tolist() for edge in self.boxes.T]
        sizes, bold, spaced = self.sizes.tolist(), self.bold.tolist(), self.spaced().tolist()
        return list(map(Word, self.texts(), *columns, sizes, bold, spaced))

    def spaced(self) -> NDArray[np.bool_]:
        """Whether white space stands before each word."""
        apart = np.ones(len(self.spans), np.bool_)
        apart[1:] = self.spans[1:, 0] > self.spans[:-1, 1]
        return apart


def words_of(page: pdfium.PdfPage, textpage: pdfium.PdfTextPage) -> list[Word]:
    """The upright words of a page as it is read, in the order of its file.

    Raises pdfium's PdfiumError for a damaged page.
    """
    packed = page_words(page, textpage)
    return [word for word, aside in zip(packed.words(), packed.aside, strict=True) if not aside]


def page_words(page: pdfium.PdfPage, textpage: pdfium.PdfTextPage) -> PageWords:
    """All words, packed. What lies outside of the page as it is shown is left out."""
    text = _text(textpage)
    pattern = _WORD if _SPECIAL.search(text) else _PLAIN_WORD
    spans = np.array([match.span() for match in pattern.finditer(text)], np.int32).reshape(-1, 2)
    characters = _characters(textpage, text, spans)
    width, height = page.get_size()
    ends = _placed(page, _loose_boxes(textpage, characters.T.ravel()))
    first, last = ends[: len(spans)], ends[len(spans) :]
    boxes = _union(first, last)
    inside = _inside(boxes, width, height)
    if not inside.all():
        spans, characters, boxes = spans[inside], characters[inside], boxes[inside]
        first, last = first[inside], last[inside]
    turn, aside = _directions(first, last)
    boxes = turned(boxes, turn, width, height)
    first = turned(first, turn, width, height)
    sizes = np.maximum(first[:, 3] - first[:, 1], np.float32(1))
    bold = _bold(textpage, characters, text, spans, sizes)
    return PageWords(Frame(width, height, turn), text, spans, boxes, sizes, bold, aside)


def may_have_tables(page: PageWords) -> bool:
    """Whether words of the page stand apart in rows, or are in an order that is not down the page.

    Most pages of prose have none such, and are spared the search for tables and drawn lines.
    """
    if len(page) < _LEAST_TABLE:
        return False
    boxes, sizes = page.boxes, page.sizes[1:]
    gaps = boxes[1:, 0] - boxes[:-1, 2]
    is_beside = np.abs(boxes[1:, 3] - boxes[:-1, 3]) < _SAME_ROW * sizes
    apart = np.flatnonzero(is_beside & (gaps > _APART * sizes)).tolist()
    cells = sum(not _BULLET.fullmatch(page.text[slice(*page.spans[word])]) for word in apart)
    back = int((boxes[1:, 3] < boxes[:-1, 3] - _SAME_ROW * sizes).sum())
    return cells + back >= _LEAST_APART


def _text(textpage: pdfium.PdfTextPage) -> str:
    """All text of the page, a character a code point."""
    count = textpage.count_chars()
    if count <= 0:
        return ""
    buffer = (ctypes.c_ushort * (2 * count + 1))()  # a character may take two
    written = pdfium_raw.FPDFText_GetText(textpage, 0, count, buffer)
    return bytes(buffer)[: 2 * max(written - 1, 0)].decode("utf-16-le", "replace")


def _characters(
    textpage: pdfium.PdfTextPage, text: str, spans: NDArray[np.int32]
) -> NDArray[np.int32]:
    """pdfium's numbers of the first and the last character of each word."""
    ends = spans - np.array([0, 1], np.int32)
    if len(text) == textpage.count_chars():
        return ends
    # Characters that have no text are counted, too.
    number = pdfium_raw.FPDFText_GetCharIndexFromTextIndex
    raw = textpage.raw
    found = [max(number(raw, place), 0) for place in ends.ravel().tolist()]
    return np.array(found, np.int32).reshape(-1, 2)


def _quick(function: Any, result: Any, *arguments: Any) -> Any:
    """A function of pdfium that takes addresses as numbers.

    A call through pypdfium2's own prototype takes 1.4 µs, through this 1.0, and ``map`` can make
    it: there are a thousand a page.
    """
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    return ctypes.PYFUNCTYPE(result, *arguments)(address)


_LOOSE_BOX = _quick(
    pdfium_raw.FPDFText_GetLooseCharBox,
    ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p,
)  # fmt: skip
_FONT_WEIGHT = _quick(
    pdfium_raw.FPDFText_GetFontWeight, ctypes.c_int, ctypes.c_void_p, ctypes.c_int
)
_FONT_NAME = _quick(
    pdfium_raw.FPDFText_GetFontInfo, ctypes.c_ulong,
    ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_void_p,
)  # fmt: skip
_BOX_BYTES = ctypes.sizeof(pdfium_raw.FS_RECTF)


def _loose_boxes(textpage: pdfium.PdfTextPage, characters: NDArray[np.int32]) -> Boxes:
    """Boxes of characters in the coordinates of the file: left, top, right, bottom, y upwards."""
    boxes = np.zeros((len(characters), 4), np.float32)
    handle = _address(textpage)
    first = boxes.ctypes.data
    places = range(first, first + _BOX_BYTES * len(boxes), _BOX_BYTES)
    deque(map(_LOOSE_BOX, repeat(handle), characters.tolist(), places), maxlen=0)
    return boxes


def _placed(page: pdfium.PdfPage, boxes: Boxes) -> Boxes:
    """Boxes of the file on the page as it is shown."""
    left, bottom, right, top = page.get_bbox()
    upright = np.empty_like(boxes)
    upright[:, 0] = np.minimum(boxes[:, 0], boxes[:, 2]) - left
    upright[:, 2] = np.maximum(boxes[:, 0], boxes[:, 2]) - left
    upright[:, 1] = top - np.maximum(boxes[:, 1], boxes[:, 3])
    upright[:, 3] = top - np.minimum(boxes[:, 1], boxes[:, 3])
    return turned(upright, page.get_rotation() // 90, right - left, top - bottom)


def _union(one: Boxes, other: Boxes) -> Boxes:
    least = np.minimum(one[:, :2], other[:, :2])
    return np.hstack((least, np.maximum(one[:, 2:], other[:, 2:])))


def _inside(boxes: Boxes, width: float, height: float) -> NDArray[np.bool_]:
    x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
    return (x >= 0) & (x <= width) & (y >= 0) & (y <= height)  # and no NaN


def _directions(first: Boxes, last: Boxes) -> tuple[int, NDArray[np.bool_]]:
    """How many quarter turns bring most words upright, and which words are not of those."""
    x, y = (last[:, 0] - first[:, 0]), (last[:, 1] - first[:, 1])
    upright = np.abs(y) <= np.abs(x)
    if bool((upright & (x >= 0)).all()):  # nearly every page
        return 0, np.zeros(len(first), np.bool_)
    # Text that runs down is upright after three quarter turns clockwise, one that runs up after 1.
    turns = np.where(upright, np.where(x >= 0, 0, 2), np.where(y >= 0, 3, 1))
    lengths = np.abs(x) + np.abs(y)
    totals = np.bincount(turns, weights=lengths, minlength=4)
    turn = int(np.argmax(totals))
    return turn, (turns != turn) & (lengths > 0)


def _bold(
    textpage: pdfium.PdfTextPage,
    characters: NDArray[np.int32],
    text: str,
    spans: NDArray[np.int32],
    sizes: NDArray[np.float32],
) -> NDArray[np.bool_]:
    """Whether each word is bold: asked where a line begins and, if that is bold, where it ends.

    Where only the beginning is bold, every word is asked; in a line that does not begin bold none.
    """
    bold = np.zeros(len(spans), np.bool_)
    fonts = _Fonts(textpage)
    numbers = characters[:, 0].tolist()
    for first, last in _lines(text, spans, sizes):
        if fonts.is_bold(numbers[first]):
            if fonts.is_bold(numbers[last]):
                bold[first : last + 1] = True
            else:
                bold[first : last + 1] = [fonts.is_bold(n) for n in numbers[first : last + 1]]
    return bold


def _lines(
    text: str, spans: NDArray[np.int32], sizes: NDArray[np.float32]
) -> Iterator[tuple[int, int]]:
    """First and last word of each line of pdfium's, or of a part of it in one size."""
    if not len(spans):
        return
    ends = np.array([match.start() for match in re.finditer("\n", text)], np.int32)
    line = np.searchsorted(ends, spans[:, 0])
    larger = np.maximum(sizes[1:], sizes[:-1]) > _SAME_SIZE * np.minimum(sizes[1:], sizes[:-1])
    starts = np.flatnonzero((line[1:] != line[:-1]) | larger) + 1
    yield from zip([0, *starts.tolist()], [*(starts - 1).tolist(), len(spans) - 1], strict=True)


class _Fonts:
    """Fonts of a page's characters."""

    def __init__(self, textpage: pdfium.PdfTextPage) -> None:
        self._page = _address(textpage)
        self._name = ctypes.create_string_buffer(_LONGEST_FONT_NAME)
        self._name_at = ctypes.addressof(self._name)
        self._flags = ctypes.c_int()
        self._flags_at = ctypes.addressof(self._flags)
        self._known: dict[bytes, bool] = {}

    def is_bold(self, character: int) -> bool:
        """By the font's name, or by its weight where the name does not tell."""
        size = _LONGEST_FONT_NAME
        if not 0 < _FONT_NAME(self._page, character, self._name_at, size, self._flags_at) <= size:
            return False
        name = self._name.value
        if name not in self._known:
            is_heavy = _FONT_WEIGHT(self._page, character) >= _BOLD_WEIGHT
            self._known[name] = is_heavy or _BOLD_NAME.search(name) is not None
        return self._known[name]


def _address(textpage: pdfium.PdfTextPage) -> int:
    return ctypes.cast(textpage.raw, ctypes.c_void_p).value or 0
