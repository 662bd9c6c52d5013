"""Blocks of pages to the text of sections, with the box of every word of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise

import numpy as np
from numpy.typing import NDArray

from pipelines.readers.printed.hyphens import Vocabulary
from pipelines.readers.printed.paragraphs import Block
from pipelines.readers.printed.words import CUT_MARKS, Numbers, WordColumns

Spans = NDArray[np.int64]
"""A row a word: start and end in the text."""

_CUT = frozenset(f"-{CUT_MARKS}")


@dataclass(slots=True)
class Written:
    """Words of one page in a text: their numbers on the page, and what tells where they are.

    They stand at the distance of a space but where a block begins: ``blocks`` has its first word
    and where in the text that is. ``lengths`` are those of all words of the page; ``changes`` are
    the words, by place in ``numbers``, with another length or step to the next one.
    """

    page: int
    lengths: NDArray[np.int32]
    numbers: list[int] = field(default_factory=list)
    blocks: list[tuple[int, int]] = field(default_factory=list)
    changes: list[tuple[int, int, int]] = field(default_factory=list)

    def arrays(self) -> tuple[Numbers, Spans]:
        """The numbers of all words and their spans."""
        numbers = np.array(self.numbers, np.int64)
        lengths = self.lengths[numbers].astype(np.int64)
        steps = lengths + 1
        for place, length, step in self.changes:
            lengths[place] += length
            steps[place] += step
        starts = np.cumsum(steps) - steps
        firsts, begins = np.array(self.blocks, np.int64).T
        counts = np.diff(np.append(firsts, len(numbers)))
        starts += np.repeat(begins - starts[firsts], counts)
        return numbers, np.column_stack((starts, starts + lengths))


@dataclass(slots=True)
class Passage:
    """The text of a section in the making.

    ``begins`` says where in it the first text of a page is, for the pages that begin in it.
    """

    heading_path: tuple[str, ...]
    page: int
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
            self.written.append(Written(page, words.lengths))
        self._write_words(block, words, vocabulary)

    def _write_words(self, block: Block, words: WordColumns, vocabulary: Vocabulary) -> None:
        numbers = [number for line in block.lines for number in line.numbers]
        texts = [words.texts[number] for number in numbers]
        written = self.written[-1]
        first = len(written.numbers)
        written.blocks.append((first, self.length))
        written.numbers += numbers
        if words.joined.isdisjoint(numbers):
            self._append(" ".join(texts))
            return
        gaps = [" "] * len(texts)
        gaps[-1] = ""
        for place, text, gap in _special(block, words, numbers, texts, vocabulary):
            by = len(text) - len(texts[place])
            written.changes.append((first + place, by, by + len(gap) - 1))
            texts[place], gaps[place] = text, gap
        self._append("".join(chain.from_iterable(zip(texts, gaps, strict=True))))

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
            written = self.written[-1]
            written.changes.append((len(written.numbers) - 1, -1, -1))
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
    for place, (number, following) in enumerate(pairwise(numbers)):
        if number not in words.joined and following not in words.joined:
            continue
        text, after, is_line_end = texts[place], texts[place + 1], place + 1 in line_ends
        gap = " " if words.spaced[following] or is_line_end else ""
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
