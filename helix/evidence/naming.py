"""Naming: how far a question names a cell of a table, by its row, its column and its caption. Pure.

Words are compared by their meanings and weighed by how rare they are among the cells at hand, and
by how much they say; the periods of both are compared by their keys, and are no words here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import Protocol

from helix.evidence.words import SAYS_MUCH, SAYS_NOTHING, Vocabulary, words_of
from helix.language.paraphrases import meanings
from helix.language.periods import Period, periods, without_periods
from helix.language.rows import INWARDS

_IN_GROUP, _IN_CAPTION, _STRANGE = 0.9, 0.5, 0.1
"""The weight of a word in a row's group or column, in the caption, and in a column unasked."""
_UNSEEN = 3
"""The count that a word has which no name has: it is rare among names, and perhaps of no name."""
LEAST_SHARE = 0.6
"""The share of a row's label, and of a question's words, that the other has to have."""
_BRACKETS = re.compile(r"\([^()]{0,40}\)")

Words = frozenset[str]


class Cell(Protocol):
    """A cell: the path of its row, the path of its column, and the line above its table."""

    @property
    def row(self) -> str: ...
    @property
    def column(self) -> str: ...
    @property
    def caption(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Mention:
    """A cell as a question names it: ``words`` of its label that it has, and a score of 0 to 2.

    ``covered`` is the share of the question that its names have. ``all_words`` are those of its
    label and of its groups, its column and its caption.
    """

    words: Words
    score: float
    covered: float
    all_words: Words


class Naming:
    """The words of a question beside those of cells; ``aside`` are words that name none of them."""

    def __init__(self, question: str, cells: Iterable[Cell], aside: Words = frozenset()) -> None:
        bare = without_periods(question)
        self.words = tuple(dict.fromkeys(meanings(bare)))
        self._aside = aside
        names = {(cell.row, cell.column, cell.caption) for cell in cells}
        counts = Counter(word for name in names for word in _all_words(*name))
        self._says = _telling(bare)
        self._count, self._counts = len(names) + 1, counts

    def mention(self, cell: Cell, beside: Mention | None = None) -> Mention | None:
        """The mention of ``cell``, by words of its own where another cell is named ``beside`` it.

        None where it is not named.
        """
        name = words_of_cell(cell.row, cell.column, cell.caption)
        met = name.label.intersection(self.words)
        share = self._share(met, name.label) if name.label else LEAST_SHARE
        if share < LEAST_SHARE or (beside and not met - beside.all_words):
            return None
        without = beside.words if beside else frozenset[str]()
        asked = [word for word in self.words if word not in self._aside | without]
        outer = name.group | name.column
        total = sum(map(self._weight, asked))
        covered = sum(
            self._weight(word)
            * (1.0 if word in name.label else _IN_GROUP if word in outer else _IN_CAPTION)
            for word in asked
            if word in name.label | outer | name.caption
        )
        strange = len(name.plain_column.difference(self.words, name.caption))
        share_covered = covered / total if total else 0.0
        score = share_covered + share - _STRANGE * strange
        return Mention(met, score, share_covered, met | outer | name.caption)

    def unmet(self, known: Words) -> list[str]:
        """The words of the question that say much and are not among ``known``."""
        unknown = set(self.words) - known - self._aside
        return [word for word in unknown if self._says.get(word, 0) >= 1]

    def _weight(self, word: str) -> float:
        """The weight of a word: how rare it is, where it is anywhere, and how much it says."""
        return self._rarity(word) * self._says.get(word, 1.0) ** 2

    def _rarity(self, word: str) -> float:
        return log(1 + self._count / ((self._counts[word] or _UNSEEN) + 0.5))

    def _share(self, met: Words, label: Words) -> float:
        return sum(map(self._rarity, met)) / sum(map(self._rarity, label))


@dataclass(frozen=True, slots=True)
class CellWords:
    """The meanings of the words of a cell's label, of its groups, its column and its caption.

    ``plain_column`` are its column's without brackets, which have a unit: `Amount (EUR)`.
    """

    label: Words
    group: Words
    column: Words
    plain_column: Words
    caption: Words


@lru_cache(maxsize=4096)
def words_of_cell(row: str, column: str, caption: str) -> CellWords:
    """The words of a cell's names, without periods and, in its row, without brackets."""
    *groups, label = row.split(INWARDS)
    bare = _BRACKETS.sub(" ", label)
    label, plain = bare if meanings(bare) else label, _BRACKETS.sub(" ", column)
    texts = label, " ".join(groups), column, plain, caption
    return CellWords(*(frozenset(meanings(without_periods(text))) for text in texts))


def _all_words(row: str, column: str, caption: str) -> Words:
    found = words_of_cell(row, column, caption)
    return found.label | found.group | found.column | found.caption


def _telling(text: str) -> dict[str, float]:
    """By meaning how much each word of a text says, 0.1 to 1."""
    found = words_of(text)
    vocabulary = Vocabulary([found])
    says = (vocabulary.weights - SAYS_NOTHING) / (SAYS_MUCH - SAYS_NOTHING)
    return {
        meaning: min(max(float(says[vocabulary.place_of[word.form]]), 0.1), 1.0)
        for word in found
        for meaning in meanings(word.written)
    }


def is_of(period: Period, cell: Cell) -> bool:
    """True if the cell's column, else its row, else its table's caption names the period."""
    for text in (cell.column, cell.row.replace(INWARDS, " "), cell.caption):
        if named := periods(text):
            return any(agrees(period, one) for one in named)
    return False


def telling_words(text: str, least: float) -> Words:
    """The meanings of the words of a text that say as much as ``least``, 0.1 to 1."""
    return frozenset(word for word, says in _telling(text).items() if says >= least)


def agrees(period: Period, other: Period) -> bool:
    """True if a period is another, or the year that it lies in."""
    is_year = period.keys[0].startswith(("annual:", "year:"))
    return period.keys[0] == other.keys[0] or (is_year and period.keys[0] in other.keys)
