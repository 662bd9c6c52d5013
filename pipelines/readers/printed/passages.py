"""Blocks of pages to the text of sections, with the box of every word of it."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, compress, pairwise
from operator import add

from pipelines.readers.printed.frame import picked
from pipelines.readers.printed.hyphens import Vocabulary
from pipelines.readers.printed.paragraphs import Block
from pipelines.readers.printed.words import CUT_MARKS, WordColumns

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


@dataclass(slots=True)
class Written:
    """Words of one page in the document's text: their numbers on the page and their spans."""

    page: int
    numbers: array[int] = field(default_factory=_whole_numbers)
    spans: Spans = field(default_factory=Spans)

    def add(self, numbers: list[int], starts: list[int], lengths: list[int]) -> None:
        """Words of these lengths that begin at ``starts``, of which there may be one more.

        One of which nothing is printed has no place.
        """
        if 0 in lengths:
            numbers = list(compress(numbers, lengths))
            starts, lengths = list(compress(starts, lengths)), list(filter(None, lengths))
        self.numbers.fromlist(numbers)
        self.spans.starts.fromlist(starts[: len(lengths)])
        self.spans.ends.fromlist(list(map(add, starts, lengths)))


@dataclass(slots=True)
class Passage:
    """The text of a section in the making, which begins at ``start`` of the document.

    ``begins`` says where in it the first text of a page is, for the pages that begin in it.
    """

    heading_path: tuple[str, ...]
    page: int
    start: int
    parts: list[str] = field(default_factory=list)
    length: int = 0
    written: list[Written] = field(default_factory=list)
    begins: list[tuple[int, int]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What is written so far."""
        return "".join(self.parts)

    def write(
        self, block: Block, words: WordColumns, page: int, gap: str, vocabulary: Vocabulary
    ) -> None:
        """A block of ``page``, whose words these are, ``gap`` after what is there.

        Without a gap the block goes on with the paragraph that is there: a word cut at the end of
        that is put together, other words have a space between them.
        """
        if self.parts and not gap:
            gap = self._joint(words.texts[block.lines[0].numbers[0]], vocabulary)
        if self.parts:
            self._append(gap)
        if not self.written or self.written[-1].page != page:
            if page != self.page:
                self.begins.append((page, self.length))
            self.written.append(Written(page))
        self._write_words(block, words, vocabulary)

    def _write_words(self, block: Block, words: WordColumns, vocabulary: Vocabulary) -> None:
        numbers = list(chain.from_iterable([line.numbers for line in block.lines]))
        texts = list(picked(words.texts, numbers))
        lengths = list(map(len, texts))
        steps = [length + 1 for length in lengths]
        if not words.joined or words.joined.isdisjoint(numbers):
            text = " ".join(texts)
        else:
            bounds = [0]
            for place, written, gap in _special(block, words, numbers, texts, vocabulary):
                texts[place] = written
                lengths[place], steps[place] = len(written), len(written) + len(gap)
                if not gap:
                    bounds.append(place + 1)
            bounds.append(len(texts))
            text = "".join([" ".join(texts[first:end]) for first, end in pairwise(bounds)])
        starts = list(accumulate(steps, initial=self.start + self.length))
        self.written[-1].add(numbers, starts, lengths)
        self._append(text)

    def _joint(self, following: str, vocabulary: Vocabulary) -> str:
        """What stands between the end of the text and the rest of its paragraph."""
        last = self.parts[-1]
        if last[-1:] not in _CUT:
            return " "
        joined = vocabulary.joined(last, following)
        if joined is None:
            return " "
        if len(joined) < len(last):  # the hyphen goes
            self.parts[-1] = joined
            self.length -= 1
            self.written[-1].spans.ends[-1] -= 1
        return ""

    def _append(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)


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
