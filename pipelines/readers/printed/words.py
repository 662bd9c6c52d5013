"""The words of a PDF page, each with its box, size and weight, as pdfium has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from helix.pdfium.document import Page, PageText
from pipelines.readers.printed.characters import PageCharacters
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
_LEADERS = ("..", "__", "._", "_.", "·", "…")
_LEAST_TABLE = 4  # words of a page with a table
_LEAST_APART = 2
_BULLET = re.compile(r"[^\w$€£¥%]|\(?\w{1,3}[.)]")
_APART = 0.9  # of the size, between two cells
_SAME_ROW = 0.5  # of the size, between the feet of two words
_SAME_SIZE = 1.02  # of two words: less apart is rounding

Numbers = NDArray[np.int64]
"""The places of words among those of their page."""

_BLANK, _CUT, _HYPHEN, _UNSPACED, _HIDDEN = 1, 2, 4, 8, 16


def _kinds() -> NDArray[np.uint8]:
    """What each code of UTF-16 is, as bits: white space, a mark of a cut word, a hyphen, of a
    script without spaces, not printed."""
    kinds = np.zeros(0x10000, np.uint8)
    kinds[[code for code in range(0x3001) if chr(code).isspace()]] = _BLANK
    kinds[[ord(mark) for mark in CUT_MARKS]] = _CUT
    kinds[ord("-")] = _HYPHEN
    kinds[0x3040:0xE000] = _UNSPACED  # and halves of characters that take two codes
    kinds[0xF900:0xFB00] = _UNSPACED
    for code in (*range(0x20), 0x7F, *range(0xD800, 0xE000), 0xFFFF):
        kinds[code] |= _HIDDEN * bool(CONTROLS.match(chr(code)))
    return kinds


_KINDS = _kinds()


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
    """The words of a page in the order of its file, packed: 41 bytes each and the page's text.

    ``spans`` are those of the words in ``text``; ``aside`` says which run in another direction than
    most (a stamp along the margin), and ``joined`` which may have no space before or behind them:
    those at a hyphen, and all of scripts without spaces. ``is_plain`` is whether the words are all
    of the text, with white space between them.
    """

    frame: Frame
    text: str
    spans: NDArray[np.int32]
    boxes: Boxes
    sizes: NDArray[np.float32]
    bold: NDArray[np.bool_]
    aside: NDArray[np.bool_]
    joined: NDArray[np.bool_]
    is_plain: bool

    def __len__(self) -> int:
        return len(self.spans)

    def texts(self) -> list[str]:
        """The words, without marks that are not printed."""
        text = self.text
        if self.is_plain:
            return text.split()
        words = [text[start:end] for start, end in self.spans.tolist()]
        if CONTROLS.search(text):
            words = [CONTROLS.sub("", word) for word in words]
        return words

    def words(self) -> WordColumns:
        """All words, those of another direction as if they were upright."""
        return WordColumns(self)

    def spaced(self) -> NDArray[np.bool_]:
        """Whether white space stands before each word."""
        apart = np.ones(len(self.spans), np.bool_)
        apart[1:] = self.spans[1:, 0] > self.spans[:-1, 1]
        return apart


class WordColumns(Sequence[Word]):
    """The words of a page as they are read, a list for each thing that is known of them.

    A ``Word`` is made where one is asked for: most pages are laid out by the first and the last
    words of their lines. ``lengths`` are those of ``texts``, ``joined`` as ``PageWords`` has it;
    ``has_leaders`` is whether there may be dots or lines that lead to the end of a line.
    """

    def __init__(self, page: PageWords) -> None:
        self.texts = page.texts()
        self.lefts, self.tops, self.rights, self.bottoms = (edge.tolist() for edge in page.boxes.T)
        self.sizes: list[float] = page.sizes.tolist()
        self.bold: list[bool] = page.bold.tolist()
        self.has_leaders = any(marks in page.text for marks in _LEADERS)
        self._page = page
        self.joined = set(np.flatnonzero(page.joined).tolist())
        self.lengths = (
            page.spans[:, 1] - page.spans[:, 0]
            if page.is_plain
            else np.fromiter(map(len, self.texts), np.int32, len(self.texts))
        )

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, number: int) -> Word: ...
    @overload
    def __getitem__(self, number: slice) -> list[Word]: ...
    def __getitem__(self, number: int | slice) -> Word | list[Word]:
        if isinstance(number, slice):
            return list(map(Word, *(column[number] for column in self._columns)))
        return Word(*[column[number] for column in self._columns])

    def chosen(self, numbers: Sequence[int]) -> list[Word]:
        """Words by number, all at once."""
        if len(numbers) == len(self):
            return self[:]
        return list(map(Word, *([column[n] for n in numbers] for column in self._columns)))

    @cached_property
    def spaced(self) -> list[bool]:
        """Whether white space stands before each word."""
        apart: list[bool] = self._page.spaced().tolist()
        return apart

    @property
    def _columns(self) -> tuple[list[Any], ...]:
        return (
            self.texts, self.lefts, self.tops, self.rights, self.bottoms, self.sizes, self.bold,
            self.spaced,
        )  # fmt: skip


def words_of(page: Page, text: PageText) -> list[Word]:
    """The upright words of a page as it is read, in the order of its file.

    Raises PdfiumError for a damaged page.
    """
    packed = page_words(page, text)
    return packed.words().chosen(np.flatnonzero(~packed.aside).tolist())


def page_words(page: Page, text: PageText) -> PageWords:
    """All words, packed. What lies outside of the page as it is shown is left out."""
    characters = PageCharacters(text)
    spans, joined, is_plain = _words_in(characters)
    numbers = characters.numbers(spans - _FIRST_AND_LAST)
    width, height = page.size
    ends = _placed(page, characters.boxes(numbers.T.ravel()))
    first, last = ends[: len(spans)], ends[len(spans) :]
    boxes = _union(first, last)
    inside = _inside(boxes, width, height)
    if not inside.all():
        spans, numbers, joined, boxes = (
            spans[inside],
            numbers[inside],
            joined[inside],
            boxes[inside],
        )
        first, last, is_plain = first[inside], last[inside], False
    turn, aside = _directions(first, last)
    if turn:
        boxes = turned(boxes, turn, width, height)
        first = turned(first, turn, width, height)
    sizes = np.maximum(first[:, 3] - first[:, 1], np.float32(1))
    bold = _bold(characters, numbers[:, 0], spans, sizes)
    frame = Frame(width, height, turn)
    return PageWords(frame, characters.text, spans, boxes, sizes, bold, aside, joined, is_plain)


_FIRST_AND_LAST = np.array([0, 1], np.int32)


def _words_in(characters: PageCharacters) -> tuple[NDArray[np.int32], NDArray[np.bool_], bool]:
    """Spans of the words in the text, and ``joined`` and ``is_plain`` as ``PageWords`` has them."""
    text, kinds = characters.text, _KINDS[characters.codes]
    marks = int(np.bitwise_or.reduce(kinds)) if len(kinds) else _BLANK
    if marks & _UNSPACED:
        found = [match.span() for match in _WORD.finditer(text)]
        spans = np.array(found, np.int32).reshape(-1, 2)
        return spans, np.ones(len(spans), np.bool_), False
    # A word ends where white space follows, and behind a mark that it is cut.
    is_letter, is_cut = kinds & _BLANK == 0, kinds & _CUT != 0
    is_first, is_last = is_letter.copy(), is_letter.copy()
    is_first[1:] &= ~is_letter[:-1] | is_cut[:-1]
    is_last[:-1] &= ~is_letter[1:] | is_cut[:-1]
    last = np.flatnonzero(is_last)
    spans = np.column_stack((np.flatnonzero(is_first), last + 1)).astype(np.int32)
    joined = kinds[last] & (_CUT | _HYPHEN) != 0
    joined[1:] |= spans[1:, 0] == spans[:-1, 1]
    return spans, joined, not marks & ~(_BLANK | _HYPHEN)


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


def _placed(page: Page, boxes: Boxes) -> Boxes:
    """Boxes of the file on the page as it is shown."""
    left, bottom, right, top = page.bounding_box
    upright = np.empty_like(boxes)
    upright[:, 0] = np.minimum(boxes[:, 0], boxes[:, 2]) - left
    upright[:, 2] = np.maximum(boxes[:, 0], boxes[:, 2]) - left
    upright[:, 1] = top - np.maximum(boxes[:, 1], boxes[:, 3])
    upright[:, 3] = top - np.minimum(boxes[:, 1], boxes[:, 3])
    return turned(upright, page.quarter_turns, right - left, top - bottom)


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
    characters: PageCharacters,
    numbers: NDArray[np.int32],
    spans: NDArray[np.int32],
    sizes: NDArray[np.float32],
) -> NDArray[np.bool_]:
    """Whether each word is bold: asked where a line begins and, if that is bold, where it ends.

    Where only the beginning is bold, every word is asked; in a line that does not begin bold none.
    ``numbers`` are those of the words' first characters.
    """
    bold = np.zeros(len(spans), np.bool_)
    is_bold, given = characters.is_bold, numbers.tolist()
    for first, last in _lines(characters, spans, sizes):
        if is_bold(given[first]):
            if is_bold(given[last]):
                bold[first : last + 1] = True
            else:
                bold[first : last + 1] = [is_bold(number) for number in given[first : last + 1]]
    return bold


def _lines(
    characters: PageCharacters, spans: NDArray[np.int32], sizes: NDArray[np.float32]
) -> Iterator[tuple[int, int]]:
    """First and last word of each line of pdfium's, or of a part of it in one size."""
    if not len(spans):
        return
    line = np.searchsorted(characters.line_ends, spans[:, 0])
    larger = np.maximum(sizes[1:], sizes[:-1]) > _SAME_SIZE * np.minimum(sizes[1:], sizes[:-1])
    starts = np.flatnonzero((line[1:] != line[:-1]) | larger) + 1
    yield from zip([0, *starts.tolist()], [*(starts - 1).tolist(), len(spans) - 1], strict=True)
