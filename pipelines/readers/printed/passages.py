"""Blocks of pages to the text of sections, with the box of every word of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pipelines.readers.printed.hyphens import Vocabulary
from pipelines.readers.printed.paragraphs import Block
from pipelines.readers.printed.words import CUT_MARKS, Word

Spans = NDArray[np.int64]
"""A row a word: start and end in the text."""

_CUT = frozenset(f"-{CUT_MARKS}")
_HAN = "\u3040"
"""Words that sort after it may be of a script without spaces."""


@dataclass(slots=True)
class Written:
    """Words of one page in a text: their numbers on the page, and their spans in the text."""

    page: int
    numbers: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)


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
        self, block: Block, words: Sequence[Word], page: int, gap: str, vocabulary: Vocabulary
    ) -> None:
        """A block of ``page``, whose words these are, ``gap`` after what is there.

        Without a gap the block goes on with the paragraph that is there: a word cut at the end of
        that is put together, other words have a space between them.
        """
        if self.parts and not gap:
            gap = self._joint(words[block.lines[0].numbers[0]].text, vocabulary)
        if self.parts:
            self._append(gap)
        if not self.written or self.written[-1].page != page:
            if page != self.page:
                self.begins.append((page, self.length))
            self.written.append(Written(page))
        self._write_words(block, words, vocabulary)

    def _write_words(self, block: Block, words: Sequence[Word], vocabulary: Vocabulary) -> None:
        written, parts, at = self.written[-1], self.parts, self.length
        gap = ""
        for index, line in enumerate(block.lines):
            following = block.lines[index + 1].numbers[0] if index + 1 < len(block.lines) else -1
            for after, number in zip([*line.numbers[1:], following], line.numbers, strict=True):
                text = words[number].text
                before, gap = gap, " "
                if text[-1:] in _CUT or (after >= 0 and not words[after].spaced) or text > _HAN:
                    text, gap = _special(text, after, words, after == following, vocabulary)
                if before:
                    parts.append(before)
                    at += len(before)
                written.numbers.append(number)
                written.starts.append(at)
                at += len(text)
                written.ends.append(at)
                parts.append(text)
        self.length = at

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
            self.written[-1].ends[-1] -= 1
        return ""

    def _append(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)


def _special(
    text: str, after: int, words: Sequence[Word], at_line_end: bool, vocabulary: Vocabulary
) -> tuple[str, str]:
    """A word that ends with a hyphen, or is not followed by a space: its text and what follows."""
    if after < 0:
        return text, ""
    following = words[after]
    gap = " " if following.spaced or at_line_end else ""
    if text and text[-1] in _CUT:
        may_be_cut = at_line_end or text[-1] in CUT_MARKS
        return _cut_word(text, gap, following.text, may_be_cut, vocabulary)
    if at_line_end and _is_ideograph(text[-1:]) and _is_ideograph(following.text[:1]):
        gap = ""
    return text, gap


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
