"""The words of a PDF page, each with its box, size and weight, as pdfium has them."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, compress, pairwise
from operator import add, gt
from typing import Any, AnyStr, NamedTuple, overload

from helix.sandbox.pdfium.document import Page, PageText
from pipelines.readers.printed.characters import PageCharacters
from pipelines.readers.printed.frame import Boxes, Column, Frame
from pipelines.readers.printed.line_heights import SAME_SIZE, are_uneven, usual_heights
from pipelines.readers.printed.raised_digits import with_superscripts
from pipelines.readers.printed.word_boxes import placed

CUT_MARKS = "\x02\ufffe\xad"
"""pdfium's marks for a hyphen at a line's end, and the soft hyphen."""

CONTROLS = re.compile(r"[\x00-\x01\x03-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\uffff]")
UNPRINTED = re.compile(rf"{CONTROLS.pattern}|[{CUT_MARKS}]")
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(
    # Scripts without spaces in pieces of four, so that a quote's box is not a whole line.
    rf"[{_IDEOGRAPHS}]{{1,4}}"
    rf"|[^\s{CUT_MARKS}{_IDEOGRAPHS}]+[{CUT_MARKS}]?|[{CUT_MARKS}]"
)
CUT_SIGNS = frozenset(CUT_MARKS)
_CUT_WITHIN = re.compile(rf"(?<=\w)[{CUT_MARKS}] ?(?=\w)")
AS_HYPHENS = str.maketrans(dict.fromkeys(CUT_MARKS, "-"))
_SPACED_WORD = re.compile(r"\S+")
_UNSPACED = re.compile("[\u3040-\udfff\uf900-\ufaff\U00010000-\U0010ffff]")
_CUT = f"-{CUT_MARKS}"
_LAST_HYPHEN = re.compile(r"-(?!\S)")
_LINE_END = re.compile("\n")
_LEADERS = ("..", ". . .", "·", "…")
_LEADERS_BELOW = ("__", "._", "_.")
_MOST_MARKS = 1_000  # of a page of print; each may cut a word in the list of all
_LEAST_TABLE = 4  # words of a page with a table
_LEAST_APART = 2
_BULLET = re.compile(r"[^\w$€£¥%]|\(?\w{1,3}[.)]")
_APART = 0.9  # of the size, between two cells
_SAME_ROW = 0.5  # of the size, between the feet of two words


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
    """The words of a page in the order of its file, packed: 31 bytes each and the page's text.

    ``starts`` and ``ends`` are their spans in ``text``; ``bold``, ``aside`` and ``joined`` have a
    byte of 0 or 1 a word. ``aside`` says which run in another direction than most (a stamp along
    the margin), and ``joined`` which may have no space before or behind them: those at a hyphen,
    and all of scripts without spaces. ``is_plain`` is whether the words are all of the text, with
    white space between them; ``is_whole`` whether no box goes beyond the edges of the page.
    ``letters`` is how many characters the words of each size have.
    """

    frame: Frame
    text: str
    starts: array[int]
    ends: array[int]
    boxes: Boxes
    sizes: Column
    bold: bytes
    aside: bytes
    joined: bytes
    is_plain: bool
    is_whole: bool
    letters: Mapping[float, int]

    def __len__(self) -> int:
        return len(self.starts)

    def texts(self) -> list[str]:
        """The words, without marks that are not printed."""
        text = self.text
        if self.is_plain:
            return text.split()
        words = [text[start:end] for start, end in zip(self.starts, self.ends, strict=True)]
        if CONTROLS.search(text):
            words = [CONTROLS.sub("", word) for word in words]
        return words

    def shown(self) -> Boxes:
        """The boxes on the page as it is shown, cut at its edges."""
        return self.boxes if self.is_whole else self.frame.shown(self.boxes)

    def words(self) -> WordColumns:
        """All words, those of another direction as if they were upright."""
        return WordColumns(self)

    def spaced(self) -> list[bool]:
        """A mark of each word: true where white space stands before it."""
        return [True, *map(gt, self.starts[1:], self.ends)][: len(self)]


class WordColumns(Sequence[Word]):
    """The words of a page as they are read, a list for each thing that is known of them.

    A ``Word`` is made where one is asked for: most pages are laid out by the first and the last
    words of their lines. ``joined`` are the numbers of those that ``PageWords`` has so;
    ``has_leaders`` is whether there may be dots or lines that lead to the end of a line.
    """

    def __init__(self, page: PageWords) -> None:
        self.texts = page.texts()
        self.lefts, self.tops, self.rights, self.bottoms = (
            column.tolist() for column in page.boxes.columns
        )
        self.sizes = page.sizes.tolist()
        self.bold = list(map(bool, page.bold)) if 1 in page.bold else [False] * len(page)
        self.has_leaders = any(marks in page.text for marks in _LEADERS) or (
            "_" in page.text and any(marks in page.text for marks in _LEADERS_BELOW)
        )
        self._page = page
        self.joined = set(numbers_of(page.joined))

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
        """A mark of each word: true where white space stands before it."""
        return self._page.spaced()

    def is_spaced(self, number: int) -> bool:
        """True where white space stands before a word."""
        return not number or self._page.starts[number] > self._page.ends[number - 1]

    @property
    def _columns(self) -> tuple[list[Any], ...]:
        return (
            self.texts, self.lefts, self.tops, self.rights, self.bottoms, self.sizes, self.bold,
            self.spaced,
        )  # fmt: skip


def numbers_of(flags: bytes) -> Iterator[int]:
    """The places of those that are 1."""
    return _places(flags, b"\1")


def _places(text: AnyStr, part: AnyStr) -> Iterator[int]:
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


def whole(text: str) -> str:
    """A text of words and spaces, with those put together that were cut at a mark.

    A mark at the end stays: what comes behind it may be known later.
    """
    return _CUT_WITHIN.sub("", text) if not CUT_SIGNS.isdisjoint(text) else text


def printed(text: str) -> str:
    """A whole text as it is shown, a hyphen in place of each mark that is left."""
    return whole(text).translate(AS_HYPHENS)


def page_words(page: Page, page_text: PageText) -> PageWords:
    """All words, packed. What lies outside of the page as it is shown is left out.

    Raises PdfiumError for a damaged page.
    """
    characters = PageCharacters(page_text)
    found = _words_in(characters)
    firsts = characters.numbers(found.starts)
    lasts = characters.numbers([end - 1 for end in found.ends])
    edges = characters.boxes(firsts + lasts)
    starts, ends, joined, is_plain = found
    text = with_superscripts(characters, starts, ends, edges)
    at = placed(page, edges)
    if at.inside is not None:
        starts, ends, firsts = ([given[n] for n in at.inside] for given in (starts, ends, firsts))
        joined, is_plain = bytes([joined[n] for n in at.inside]), False
    sizes = at.sizes
    steps = [step for step in at.steps if sizes[step] != sizes[step - 1]]
    if are_uneven(sizes, steps):
        sizes = usual_heights(sizes, characters.fonts(firsts))
        steps = [step for step in range(1, len(sizes)) if sizes[step] != sizes[step - 1]]
    bold = _bold(characters, firsts, _line_bounds(characters.text, starts, sizes, steps))
    return PageWords(
        Frame(*page.size, at.turn), text, array("i", starts), array("i", ends),
        at.boxes, sizes, bold, at.aside, joined, is_plain, at.is_whole,
        _letters(starts, ends, sizes, steps),
    )  # fmt: skip


def _letters(
    starts: Sequence[int], ends: Sequence[int], sizes: Column, steps: Sequence[int]
) -> Mapping[float, int]:
    """The letters of each size, of words whose size changes at the places ``steps``."""
    letters: dict[float, int] = {}
    for first, end in pairwise([0, *steps, len(starts)]) if starts else ():
        size = sizes[first]
        letters[size] = letters.get(size, 0) + sum(ends[first:end]) - sum(starts[first:end])
    return letters


class _Found(NamedTuple):
    """Spans of the words in the text, and ``joined`` and ``is_plain`` as ``PageWords`` has them."""

    starts: list[int]
    ends: list[int]
    joined: bytes
    is_plain: bool


def _words_in(characters: PageCharacters) -> _Found:
    text = characters.text
    if characters.has_high and _UNSPACED.search(text):
        starts, ends = _spans(_WORD, text)
        return _Found(starts, ends, b"\1" * len(starts), False)
    spaced = text.replace("\r\n", "  ")
    marks: list[int] = []
    if not spaced.isprintable():
        spaced = spaced.replace("\xa0", " ")
        for mark in CUT_MARKS:
            marks += _places(spaced, mark)
            spaced = spaced.replace(mark, "-")
    if len(marks) <= _MOST_MARKS and spaced.isprintable():  # there is no other white space
        starts, ends = _spaced_spans(spaced)
        cut = _cut_at(marks, starts, ends)
        joined = _joined_by_hyphens(spaced, ends)
        for number in cut:
            joined[number] = 1
        return _Found(starts, ends, bytes(joined), not cut)
    if not UNPRINTED.search(text):
        starts, ends = _spans(_SPACED_WORD, text)
        return _Found(starts, ends, bytes(_joined_by_hyphens(text, ends)), True)
    starts, ends = _spans(_WORD, text)
    befores = [-1, *ends[:-1]]
    spans = zip(starts, ends, befores, strict=True)
    flags = [text[end - 1] in _CUT or start == before for start, end, before in spans]
    return _Found(starts, ends, bytes(flags), False)


def _spaced_spans(text: str) -> tuple[list[int], list[int]]:
    """Starts and ends of the words of a text whose only white space are spaces."""
    words = text.split(" ")  # with an empty one between two spaces
    lengths = list(map(len, words))
    starts = list(accumulate([length + 1 for length in lengths], initial=0))
    return list(compress(starts, words)), list(compress(map(add, starts, lengths), words))


def _spans(word: re.Pattern[str], text: str) -> tuple[list[int], list[int]]:
    spans = [match.span() for match in word.finditer(text)]
    return [start for start, _ in spans], [end for _, end in spans]


def _cut_at(marks: list[int], starts: list[int], ends: list[int]) -> set[int]:
    """Cuts words in two behind these marks within them; the numbers of the parts."""
    within = [mark for mark in sorted(marks) if ends[bisect_right(ends, mark)] > mark + 1]
    for mark in within:
        number = bisect_right(ends, mark)
        ends.insert(number, mark + 1)
        starts.insert(number + 1, mark + 1)
    firsts = [bisect_right(ends, mark) for mark in within]
    return {number + part for number in firsts for part in (0, 1)}


def _joined_by_hyphens(text: str, ends: list[int]) -> bytearray:
    joined = bytearray(len(ends))
    if "-" in text:
        for match in _LAST_HYPHEN.finditer(text):
            joined[bisect_left(ends, match.end())] = 1
    return joined


def may_have_tables(page: PageWords) -> bool:
    """True where words of the page stand apart in rows, or are in an order that is not downward.

    Most pages of prose have none such, and are spared the search for tables and drawn lines.
    """
    if len(page) < _LEAST_TABLE:
        return False
    found = 0
    lefts, _, rights, bottoms = (column.tolist() for column in page.boxes.columns)
    pairs = zip(rights, lefts[1:], bottoms, bottoms[1:], page.sizes.tolist()[1:], strict=False)
    for number, (right, left, foot, next_foot, size) in enumerate(pairs):
        if next_foot < foot - _SAME_ROW * size:
            found += 1
        elif left - right > _APART * size and next_foot - foot < _SAME_ROW * size:
            word = page.text[page.starts[number] : page.ends[number]]
            found += not _BULLET.fullmatch(word)
        if found >= _LEAST_APART:
            return True
    return False


def _bold(characters: PageCharacters, numbers: Sequence[int], bounds: Sequence[int]) -> bytes:
    """The weight of each word, 1 for bold: read at a line's begin and, if bold, at its end.

    Where only the beginning is bold, every word is asked; in a line that does not begin bold none.
    ``numbers`` are those of the words' first characters, ``bounds`` the lines' first words.
    """
    bold = bytearray(len(numbers))
    is_bold = characters.is_bold
    for first, end in pairwise(bounds):
        if is_bold(numbers[first]):
            if is_bold(numbers[end - 1]):
                bold[first:end] = b"\1" * (end - first)
            else:
                bold[first:end] = bytes(map(is_bold, numbers[first:end]))
    return bytes(bold)


def _line_bounds(
    text: str, starts: Sequence[int], sizes: Column, steps: Sequence[int]
) -> list[int]:
    """The first word of each line of pdfium's, or of a part of it in one size; and the end.

    ``steps`` are the places of words of another size than the one before.
    """
    if not starts:
        return []
    begins = {bisect_right(starts, match.start()) for match in _LINE_END.finditer(text)}
    for step in steps:
        one, other = sizes[step - 1], sizes[step]
        if max(one, other) > SAME_SIZE * min(one, other):
            begins.add(step)
    return [0, *sorted(begins - {0, len(starts)}), len(starts)]
