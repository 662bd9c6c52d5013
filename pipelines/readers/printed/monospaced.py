"""Monospaced lines, as code is printed: each of their words begins and ends on a grid.

Fonts seldom say that they are of one width, so the places of the words have to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from pipelines.readers.printed.lines import Line
from pipelines.readers.printed.words import WordColumns

_LEAST_WORDS = 3  # of a line that tells a width
_LEAST_TOLD = 4  # words of lines that tell the same one
_NARROWEST = 0.5  # points
_MOST_SPACES = 200  # in front of a word
_SAME = 0.015  # of the width, between two lines
_OFF = 0.15  # of the width, between a word's edge and the grid
_MOST = 0.6  # of the longer lines of the pages so far
_PITCH = 1.4  # of the size, from foot to foot, where one line alone tells it
_CLOSEST = 0.4  # of that: less is no next line
_LEAST_PROSE = 3  # lines
_PROSE_WORDS = 6  # a line, on average
_MOST_SIGNS = 0.02  # of the letters
_PUNCTUATION = frozenset(".,;:!?'\"()-“”‘’")
_LAST_LETTER = "\u2e7f"  # before the ideographs, which are of one width in prose too
_LEAST_LETTERS = 4  # of a word alone on its line


@dataclass(slots=True)
class MonospacedWidths:
    """The width of monospaced letters, page by page of one document.

    A document that is mostly monospaced has its prose so: none of its lines count as code.
    """

    _long: int = 0
    """Lines that could tell a width, of the pages so far."""
    _told: int = 0

    def of_page(self, lines: Sequence[Line], words: WordColumns) -> float | None:
        """The width of a page's monospaced letters in points; None where no line is code."""
        long = [line for line in lines if len(line.numbers) >= _LEAST_WORDS]
        widths = [_width(_longest(line.numbers, words), words) for line in long]
        pairs = zip(widths, long, strict=True)
        told = [
            (width, line)
            for width, line in pairs
            if width > _NARROWEST and is_monospaced(line, words, width)
        ]
        self._long += len(long)
        if not told:
            return None
        middle = sorted(width for width, _ in told)[len(told) // 2]
        same = [line for width, line in told if abs(width - middle) < _SAME * middle]
        self._told += len(same)
        is_sure = sum(len(line.numbers) for line in same) >= _LEAST_TOLD
        return middle if is_sure and self._told <= _MOST * self._long else None


def is_monospaced(line: Line, words: WordColumns, width: float) -> bool:
    """True where all words of a line begin and end on a grid of that width."""
    is_told = len(line.numbers) > 1 or len(words.texts[line.numbers[0]]) >= _LEAST_LETTERS
    return is_told and may_be_monospaced(line, words, width)


def may_be_monospaced(line: Line, words: WordColumns, width: float) -> bool:
    """True as ``is_monospaced`` is, and for a line too short to tell, such as a bracket alone."""
    for number in line.numbers:
        text = words.texts[number]
        if text[:1] > _LAST_LETTER or text.startswith("```"):
            return False
        length = (words.rights[number] - words.lefts[number]) / width
        column = (words.lefts[number] - line.left) / width
        if abs(length - len(text)) > _OFF or abs(column - round(column)) > _OFF:
            return False
    return True


def is_prose(lines: Sequence[Line], words: WordColumns) -> bool:
    """True for several long lines of words with hardly a sign between them."""
    texts = [words.texts[number] for line in lines for number in line.numbers]
    if len(lines) < _LEAST_PROSE or len(texts) < _PROSE_WORDS * len(lines):
        return False
    letters = "".join(texts)
    signs = sum(not (letter.isalnum() or letter in _PUNCTUATION) for letter in letters)
    return signs < _MOST_SIGNS * len(letters)


def pitch_of(lines: Sequence[Line]) -> float:
    """From foot to foot of lines of code that follow each other, in points."""
    least = [_PITCH * line.size for line in lines]
    steps = (below.bottom - above.bottom for above, below in pairwise(lines))
    return min(
        (step for step in steps if step > _CLOSEST * min(least)), default=min(least, default=0)
    )


def spaces_before(lines: Sequence[Line], words: WordColumns) -> list[str]:
    """The line breaks and spaces in front of each word of lines of code, as they are printed.

    The first word has its line's indent alone.
    """
    width = _width(_longest(chain.from_iterable(line.numbers for line in lines), words), words)
    left = min(line.left for line in lines)
    found, foot, pitch = list[str](), lines[0].bottom, pitch_of(lines)
    for line in lines:
        end = 0
        breaks = min(max(round((line.bottom - foot) / pitch), 1), 2)
        for number in line.numbers:
            column = round((words.lefts[number] - left) / width)
            spaces = max(column - end, int(end > 0 and words.is_spaced(number)))
            spaces = min(spaces, _MOST_SPACES)
            found.append(" " * spaces if end else "\n" * breaks * bool(found) + " " * spaces)
            end = column + len(words.texts[number])
        foot = line.bottom
    return found


def _longest(numbers: Iterable[int], words: WordColumns) -> int:
    return max(numbers, key=lambda number: len(words.texts[number]))


def _width(number: int, words: WordColumns) -> float:
    return (words.rights[number] - words.lefts[number]) / max(len(words.texts[number]), 1)
