"""Blocks of pages to the text of sections, with the box of every word of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain

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
    """Words of one page in a text, block by block: their numbers on the page, and where in the text
    each begins and ends."""

    page: int
    numbers: list[Numbers] = field(default_factory=list)
    starts: list[Numbers] = field(default_factory=list)
    ends: list[Numbers] = field(default_factory=list)

    def arrays(self) -> tuple[Numbers, Spans]:
        """The numbers of all words and their spans."""
        spans = np.column_stack((np.concatenate(self.starts), np.concatenate(self.ends)))
        return np.concatenate(self.numbers), spans


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
            self.written.append(Written(page))
        self._write_words(block, words, vocabulary)

    def _write_words(self, block: Block, words: WordColumns, vocabulary: Vocabulary) -> None:
        numbers = [number for line in block.lines for number in line.numbers]
        texts = [words.texts[number] for number in numbers]
        places = np.array(numbers, np.int64)
        lengths, apart = words.lengths[places], np.ones(len(numbers), np.int64)
        if words.joined.isdisjoint(numbers):
            text = " ".join(texts)
        else:
            gaps = _joined_up(block, words, numbers, texts, vocabulary)
            lengths = np.array([len(text) for text in texts])
            apart[:-1] = [len(gap) for gap in gaps[1:]]
            text = "".join(chain.from_iterable(zip(gaps, texts, strict=True)))
        ends = self.length + np.cumsum(lengths + apart) - apart
        written = self.written[-1]
        written.numbers.append(places)
        written.starts.append(ends - lengths)
        written.ends.append(ends)
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
            self.written[-1].ends[-1][-1] -= 1
        return ""

    def _append(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)


def _joined_up(
    block: Block,
    words: WordColumns,
    numbers: Sequence[int],
    texts: list[str],
    vocabulary: Vocabulary,
) -> list[str]:
    """What stands before each word of a block. Changes ``texts``: words that were cut lose their
    mark."""
    gaps = ["", *[" "] * (len(texts) - 1)]
    line_ends = set(accumulate(len(line.numbers) for line in block.lines))
    for index, number in enumerate(numbers[:-1]):
        following = numbers[index + 1]
        if number not in words.joined and following not in words.joined:
            continue
        text, after, is_line_end = texts[index], texts[index + 1], index + 1 in line_ends
        gap = " " if words.spaced[following] or is_line_end else ""
        if text[-1:] in _CUT:
            may_be_cut = is_line_end or text[-1] in CUT_MARKS
            texts[index], gap = _cut_word(text, gap, after, may_be_cut, vocabulary)
        elif is_line_end and _is_ideograph(text[-1:]) and _is_ideograph(after[:1]):
            gap = ""
        gaps[index + 1] = gap
    return gaps


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
