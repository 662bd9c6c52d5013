"""The cells that a computation takes, found by the words of their row, column and table.

A right calculation over the wrong cell is worse than none. So neither of two cells that fit
equally well is taken, and no cell whose row has fewer of the question's words than another row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from helix.agent.figures import Figure
from helix.agent.offline.computed import COMPARING, OF_TIME, Computed, Wanted
from helix.agent.offline.measures import is_sound, is_suitable
from helix.language.durations import without_periods
from helix.language.paraphrases import meanings
from helix.language.periods import Period, periods
from helix.language.rows import INWARDS
from helix.language.word_lists import word_lists

_LISTS = word_lists("tables")
_GENERIC = _LISTS["generic"] | {"other"}
_NOISE = OF_TIME | _LISTS["arithmetic"]
_LEAST_LABEL = 0.6
"""The share of a row's name that the question has to have."""
_LEAST_ASKED = 0.5
"""The share of the question's words that row, column and table have to have."""
_CLOSE = 0.02
_MOST_PERIODS = 12
_CHANGE = re.compile(r"\b(?:chang|increas|decreas|growth|variance)\w*|\bchg\b", re.IGNORECASE)
_OTHER = re.compile(r"\bother\b", re.IGNORECASE)
_UNITS = re.compile(
    r"\((?:[\d,\s]+|[^()]*(?:\bper\b|\bcents?\b|\bshares\b|illions?\b|thousands?\b|\byears?\b"
    r"|[%$€£])[^()]*)\)",
    re.IGNORECASE,
)
"""Brackets in a name that hold its unit, or a footnote."""


Cells = Sequence[tuple[int, Figure]]
"""Figures with the numbers of their sources."""
Around = Mapping[int, frozenset[str]]
"""The meanings of the words of a document's passages, by the document's id."""


@dataclass(frozen=True)
class Found:
    """A figure with how well it fits; ``source`` is the number of its source."""

    source: int
    figure: Figure
    score: float

    @property
    def place(self) -> tuple[int, int]:
        """The document's id, and the figure's offset in the document."""
        return self.figure.operand.document_id, self.figure.operand.start

    @property
    def told(self) -> tuple[str, str, str, Decimal | None]:
        """Its row, column, unit and value: equal for one figure printed in several places."""
        row, column, scale = self.alike
        return row.rpartition(INWARDS)[2], column, scale, self.figure.operand.value

    @property
    def alike(self) -> tuple[str, str, str]:
        """Equal for cells of one row whose columns differ only in their period."""
        bare = " ".join(meanings(without_periods(self.figure.column)))
        return self.figure.row, bare, self.figure.operand.scale


@dataclass(frozen=True)
class _Tables:
    """The cells to choose from, the names of all rows, and the words of their passages."""

    cells: Cells
    known: frozenset[str]
    around: Around


@dataclass(frozen=True)
class _Named:
    """The meanings of the words of a cell's row, row groups, column and caption.

    ``bare`` and the groups are without their units.
    """

    bare: frozenset[str]
    label: frozenset[str]
    group: frozenset[str]
    column: frozenset[str]
    caption: frozenset[str]


def operands_of(asked: Computed, figures: Sequence[tuple[int, Figure]]) -> tuple[Found, ...] | None:
    """The cell of each wanted number; None where one has no cell, or several equally good ones."""
    cells = [
        (source, figure)
        for source, figure in figures
        if figure.place >= 0 and not _CHANGE.search(figure.column)
    ]
    suitable = [(source, figure) for source, figure in cells if is_suitable(asked, figure)]
    named = suitable if asked.of_shares else cells  # shares have the names of their amounts
    known = frozenset[str]().union(*(_rows_of(figure) for _, figure in named))
    tables = _Tables(suitable, known, _around(figures))
    if asked.every:
        return _every_period(asked, tables)
    found = [_best(wanted, tables) for wanted in asked.wanted]
    if any(len(one) > 1 for one in found):
        found = _of_one_kind(found)
    chosen = tuple(one[0] for one in found if len(one) == 1)
    if len(chosen) != len(asked.wanted) or len({one.place for one in chosen}) < len(chosen):
        return None
    same_words = len({wanted.words for wanted in asked.wanted}) == 1
    if same_words and len({one.figure.row for one in chosen}) > 1 and _dated_columns(chosen):
        return None
    return chosen if is_sound(asked, [one.figure for one in chosen]) else None


def _around(figures: Cells) -> Around:
    """The meanings of the words of each document's passages, also of those without a table."""
    found: dict[int, frozenset[str]] = {}
    for about, document in {(one.about, one.operand.document_id) for _, one in figures}:
        found[document] = found.get(document, frozenset()) | about
    return found


def _dated_columns(chosen: Sequence[Found]) -> bool:
    return all(periods(one.figure.column) for one in chosen)


def _best(wanted: Wanted, tables: _Tables) -> list[Found]:
    """The cells with the best score, each place once."""
    found = sorted(_fitting(wanted, tables), key=lambda one: -one.score)
    if "total" in wanted.words:
        found = [one for one in found if "total" in _rows_of(one.figure)] or found
    best = [one for one in found if one.score >= found[0].score - _CLOSE]
    best.sort(key=lambda one: (one.source, one.figure.operand.start))
    # a report prints the same value of the same row in several tables
    return list({one.told: one for one in reversed(best)}.values())


def _of_one_kind(found: Sequence[list[Found]]) -> list[list[Found]]:
    """Of several fitting cells, those whose columns have the same name except for the period."""
    common = set.intersection(*({one.alike for one in some} for some in found))
    if len(common) != 1:
        return [list(some) for some in found]
    return [[one for one in some if one.alike in common] for some in found]


def _fitting(wanted: Wanted, tables: _Tables) -> Iterator[Found]:
    for source, figure in tables.cells:
        if wanted.period and not _is_of(wanted.period, figure):
            continue
        about = tables.around[figure.operand.document_id]
        score = _score(wanted, figure, tables.known, about)
        if score is not None:
            yield Found(source, figure, score)


def _score(
    wanted: Wanted, figure: Figure, known: frozenset[str], around: frozenset[str]
) -> float | None:
    """How well a cell fits, 0 to about 2; None where it does not."""
    named = _named(figure.row, figure.column, figure.caption)
    asked = wanted.words | wanted.beside
    bare = named.bare - _GENERIC - _NOISE or named.bare - _NOISE or named.bare
    met = bare & asked
    if bare and not met:
        return None
    share = len(met) / len(bare) if bare else _LEAST_LABEL
    own = named.label | named.column | named.group
    if share < _LEAST_LABEL or not wanted.words & own:
        return None
    if (wanted.words & known) - own - named.caption - _GENERIC:
        return None  # another row has the name that is asked for
    if (wanted.words & frozenset(["other"])) - own:
        return None
    telling = wanted.words - _GENERIC or wanted.words
    if telling - around - _GENERIC - _NOISE:
        return None  # a word of the question that nothing of the document's passages has
    total = sum(
        1.0 if word in named.label
        else 0.9 if word in named.column | named.group
        else 0.5 if word in named.caption
        else 0.0
        for word in telling
    )  # fmt: skip
    covered = total / len(telling)
    if covered < _LEAST_ASKED:
        return None
    beside = len(wanted.beside & own) / len(wanted.beside) if wanted.beside else 0.0
    strange = len((named.column | named.group) - asked - _GENERIC - named.caption)
    generic = len((named.label ^ asked) & _GENERIC)
    return covered + share + 0.3 * beside - 0.1 * strange - 0.15 * generic


def _rows_of(figure: Figure) -> frozenset[str]:
    named = _named(figure.row, figure.column, "")
    return named.label | named.group | named.column


@lru_cache(maxsize=4096)
def _named(row: str, column: str, caption: str) -> _Named:
    *groups, label = row.split(INWARDS)
    texts = _UNITS.sub(" ", label), label, _UNITS.sub(" ", " ".join(groups)), column, caption
    return _Named(*map(_words, texts))


def _words(text: str) -> frozenset[str]:
    found = frozenset(meanings(without_periods(text))) - OF_TIME
    return found | frozenset(["other"] if _OTHER.search(text) else [])


def _is_of(period: Period, figure: Figure) -> bool:
    """Whether the cell's column, else its row, else its table's caption names the period."""
    for text in (figure.column, figure.row.replace(INWARDS, " "), figure.caption):
        if named := periods(text):
            return any(_agrees(period, one) for one in named)
    return False


def _agrees(period: Period, other: Period) -> bool:
    if period.keys[0] == other.keys[0]:
        return True
    is_year = period.keys[0].startswith(("annual:", "year:"))
    return is_year and period.keys[0] in other.keys


def _every_period(asked: Computed, tables: _Tables) -> tuple[Found, ...] | None:
    """All cells of the best row, where its columns are periods under one name.

    For a change the row must have two, and the later one is first.
    """
    found = _best(asked.wanted[0], tables)
    if len({one.alike for one in found}) != 1:
        return None
    dated = [(_begins(one), one) for one in found]
    if not all(when for when, _ in dated) or not 1 < len(dated) <= _MOST_PERIODS:
        return None
    dated.sort(key=lambda each: each[0], reverse=True)
    if asked.kind in COMPARING and len(dated) != 2:
        return None
    chosen = tuple(one for _, one in dated)
    return chosen if is_sound(asked, [one.figure for one in chosen]) else None


def _begins(found: Found) -> str:
    named = periods(found.figure.column)
    return named[0].keys[0].partition(":")[2] if named else ""
