"""Blocks of pages to the text of sections, with the box of every word of it."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, compress
from operator import add
from typing import NamedTuple

from pipelines.readers.printed.frame import picked
from pipelines.readers.printed.hyphens import Vocabulary
from pipelines.readers.printed.monospaced import spaces_before
from pipelines.readers.printed.paragraphs import Block, BlockKind
from pipelines.readers.printed.words import AS_HYPHENS, CUT_MARKS, WordColumns

FENCE = "```"
"""The line above and below code, as in Markdown."""

_CUT = frozenset(f"-{CUT_MARKS}")


def _whole_numbers() -> array[int]:
    return array("I")


@dataclass(slots=True)
class Spans:
    """Words in a text: where each starts and ends."""

    starts: array[int] = field(default_factory=_whole_numbers)
    ends: array[int] = field(default_factory=_whole_numbers)

    def __len__(self) -> int:
        return len(self.starts)

    def extend(self, others: Spans) -> None:
        """Add others at the end."""
        self.starts.extend(others.starts)
        self.ends.extend(others.ends)


class Written(NamedTuple):
    """Words of one page in the document's text: their numbers on the page and their spans.

    ``offset`` is where in the passage the first of them is.
    """

    page: int
    offset: int
    numbers: Sequence[int]
    spans: Spans


@dataclass(slots=True)
class Passage:
    """The words of a section in the making, which begins at ``start`` of the document.

    Its text and the spans of all its words are made at once, when it is whole.
    """

    heading_path: tuple[str, ...]
    page: int
    start: int
    _texts: list[str] = field(default_factory=list)
    _numbers: list[int] = field(default_factory=list)
    _gaps: dict[int, str] = field(default_factory=dict)
    """The gap behind a word, by the word's number, where it is not one space."""
    _pages: list[tuple[int, int]] = field(default_factory=list)
    """Each page, and the place of the first of its words."""
    _head: str = ""
    """The text in front of the first word."""
    _ends_in_code: bool = False
    _last_block: int = 0
    """The place of the first word of the block that was written last."""

    def write(
        self, block: Block, words: WordColumns, page: int, gap: str, vocabulary: Vocabulary
    ) -> None:
        """A block of ``page``, whose words these are, ``gap`` after what is there.

        Without a gap the block goes on with the paragraph that is there: a word cut at the end of
        that is put together, other words have a space between them.
        """
        place = len(self._texts)
        gap = self._fenced(block, gap)
        if place:
            gap = gap or self._joint(words.texts[block.lines[0].numbers[0]], vocabulary)
            if gap != " ":
                self._gaps[place - 1] = gap
        if not self._pages or self._pages[-1][0] != page:
            self._pages.append((page, place))
        numbers = list(chain.from_iterable([line.numbers for line in block.lines]))
        self._last_block = place
        self._numbers += numbers
        self._texts += picked(words.texts, numbers)
        if block.kind is BlockKind.CODE:
            self._put_before(place, spaces_before(block.lines, words))
        elif words.joined and not words.joined.isdisjoint(numbers):
            texts = self._texts[place:]
            for at, written, behind in _special(block, words, numbers, texts, vocabulary):
                self._texts[place + at] = written
                if behind != " ":
                    self._gaps[place + at] = behind

    def _fenced(self, block: Block, gap: str) -> str:
        """The gap in front of a block with the fences that end code there, or begin it."""
        end = f"\n{FENCE}" * self._ends_in_code
        self._ends_in_code = block.kind is BlockKind.CODE
        begin = f"{FENCE}\n" * self._ends_in_code
        if not self._texts:
            self._head = f"{gap.lstrip()}{begin}"
        return f"{end}{gap}{begin}"

    def _put_before(self, place: int, spaces: Sequence[str]) -> None:
        """The white space in front of each word from ``place`` on."""
        for at, before in enumerate(spaces, place - 1):
            if at < 0:
                self._head += before
            else:
                self._gaps[at] = (self._gaps.get(at, "") if at == place - 1 else "") + before

    def text(self) -> str:
        """All of it."""
        pieces, begin = [], 0
        for place, gap in self._gaps.items():  # in the order of the text
            pieces += [" ".join(self._texts[begin : place + 1]), gap]
            begin = place + 1
        tail = f"\n{FENCE}" if self._ends_in_code else ""
        whole = [self._head, *pieces, " ".join(self._texts[begin:]), tail]
        # a mark that nothing goes on behind is a hyphen, as long as it, so that the spans stay
        return "".join(whole).translate(AS_HYPHENS)

    def written(self) -> Iterator[Written]:
        """Its words by page. One of which nothing is printed has no place."""
        lengths = list(map(len, self._texts))
        steps = [length + 1 for length in lengths]
        for place, gap in self._gaps.items():
            steps[place] += len(gap) - 1
        starts = list(accumulate(steps, initial=self.start + len(self._head)))[:-1]
        ends, numbers = list(map(add, starts, lengths)), self._numbers
        bounds = [*(first for _, first in self._pages), len(lengths)]
        for (page, first), end in zip(self._pages, bounds[1:], strict=True):
            printed = lengths[first:end]
            columns = [column[first:end] for column in (numbers, starts, ends)]
            if 0 in printed:
                columns = [list(compress(column, printed)) for column in columns]
            spans = Spans(array("I", columns[1]), array("I", columns[2]))
            yield Written(page, starts[first] - self.start, columns[0], spans)

    def _joint(self, following: str, vocabulary: Vocabulary) -> str:
        """The joint between the end of the text and the rest of its paragraph."""
        if self._texts[-1][-1:] not in _CUT:
            return " "
        last = self._last_word()
        joined = vocabulary.joined(last, following)
        if joined is None:
            return " "
        if len(joined) < len(last):  # the hyphen goes
            self._texts[-1] = self._texts[-1][:-1]
        return ""

    def _last_word(self) -> str:
        """The end of the last block, as far as nothing stands between its words."""
        first = len(self._texts) - 1
        while first > self._last_block and self._gaps.get(first - 1) == "":
            first -= 1
        return "".join(self._texts[first:])


def _special(
    block: Block,
    words: WordColumns,
    numbers: Sequence[int],
    texts: Sequence[str],
    vocabulary: Vocabulary,
) -> Iterator[tuple[int, str, str]]:
    """The words of a block at a hyphen, and those of scripts without spaces: the place of each, how
    it is written, and what stands between it and the next."""
    line_ends = set(accumulate(len(line.numbers) for line in block.lines))
    joined = [place for place, number in enumerate(numbers) if number in words.joined]
    before = [place - 1 for place in joined if place]
    for place in sorted({*joined, *before} - {len(numbers) - 1}):
        following = numbers[place + 1]
        text, after, is_line_end = texts[place], texts[place + 1], place + 1 in line_ends
        gap = " " if words.is_spaced(following) or is_line_end else ""
        if text[-1:] in _CUT:
            may_be_cut = is_line_end or text[-1] in CUT_MARKS
            text, gap = _cut_word(text, gap, after, may_be_cut, vocabulary)
        elif is_line_end and _is_ideograph(text[-1:]) and _is_ideograph(after[:1]):
            gap = ""
        yield place, text, gap


def _cut_word(
    text: str, gap: str, following: str, may_be_cut: bool, vocabulary: Vocabulary
) -> tuple[str, str]:
    """A word that ends with a hyphen, and what stands between it and the word ``following``."""
    joined = vocabulary.joined(text, following) if may_be_cut else None
    if joined is not None:
        return joined, ""
    return (f"{text[:-1]}-" if text[-1] in CUT_MARKS else text), gap


def _is_ideograph(letter: str) -> bool:
    return "\u3040" <= letter <= "\u30ff" or "\u3400" <= letter <= "\u9fff"
