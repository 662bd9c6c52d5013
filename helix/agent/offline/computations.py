"""The computation that a question asks for, over the cells of tables that it names. Pure.

A right calculation over the wrong cell is worse than none. So neither of two cells that are named
equally well is taken, nor any where a telling word of the question stands nowhere in the passages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from helix.agent.figures import Figure
from helix.evidence.naming import Mention, Naming, Words, is_of
from helix.language.paraphrases import meanings
from helix.language.periods import Period, periods, without_periods
from helix.language.rows import INWARDS
from helix.language.word_lists import word_lists

Kind = Literal["percent change", "share", "ratio", "average", "sum", "change"]
Cells = Sequence[tuple[int, Figure]]
"""Figures with the numbers of their sources."""

_NAMED = {
    "share": "share proportion percentage percent rate",
    "ratio": "ratio",
    "average": "average mean",
    "sum": "sum combined together",
    "change": "change increase decrease difference compare higher",
}
"""The names of the operations: by these alone a question asks for one."""
_KINDS = {kind: frozenset(meanings(names)) for kind, names in _NAMED.items()}
_ALL_NAMES = frozenset[str]().union(*_KINDS.values())
_OF_ROWS = ("share", "ratio")
_SPAN = re.compile(r"\b((?:19|20)\d\d)\s?[-–]\s?((?:19|20)\d\d)\b")
_GLUED = re.compile(r"(?<=\b\d{4}),(?=\d{4}\b)")
_OF_TIME = word_lists("tables")["of_time"]
_CLOSE = 0.02
_MOST_PERIODS = 12


@dataclass(frozen=True)
class Computation:
    """An operation over cells: a change is the first minus the second, a share first of second."""

    kind: Kind
    cells: Cells


@dataclass(frozen=True)
class _Found:
    """A cell that a question names."""

    source: int
    figure: Figure
    mention: Mention

    @property
    def value(self) -> tuple[str, Decimal | None, str]:
        """Equal for one figure that is printed in several places."""
        operand = self.figure.operand
        return self.figure.row.rpartition(INWARDS)[2], operand.value, operand.scale


def may_compute(question: str) -> bool:
    """True if a question names an operation."""
    return not _ALL_NAMES.isdisjoint(meanings(question))


def computation_of(question: str, figures: Cells) -> Computation | None:
    """The computation that ``question`` asks for over cells of ``figures``; None without one.

    Over one row in the periods that the question names, or in all that the row has; or over two
    rows in one period: a ratio in their order, a share of the lesser in the greater.
    """
    question = _GLUED.sub(", ", question)
    named = _NamedCells(question, figures)
    asked = _periods(question)
    period = asked[0] if asked else None
    first = named.cells(period)
    kind = _kind(named.words, first[0]) if first else None
    if kind is None or named.names_something_else:
        return None
    if kind in _OF_ROWS or len(asked) < 2:
        second = named.cells(period, first[0].mention)
        if len(second) == 1:
            return _of_rows(kind, sorted((first[0], second[0]), key=named.place))
    if kind in _OF_ROWS or len(first) > 1:
        return None
    return _of_periods(kind, named, asked, first[0])


def _kind(words: Words, first: _Found | None) -> Kind | None:
    asked = words - (first.mention.words if first else frozenset())
    kinds = [kind for kind, names in _KINDS.items() if not names.isdisjoint(asked)]
    if "change" in kinds:
        return "percent change" if "share" in kinds else "change"
    return next((kind for kind in ("share", "ratio", "average", "sum") if kind in kinds), None)


def _size(one: _Found) -> float:
    return abs(float(one.figure.operand.value or 0))


def _of_rows(kind: Kind, found: Sequence[_Found]) -> Computation:
    if kind == "share":
        found = sorted(found, key=_size)
    return Computation(kind, [(one.source, one.figure) for one in found])


def _of_periods(
    kind: Kind, named: _NamedCells, asked: Sequence[Period], first: _Found
) -> Computation | None:
    is_change = kind in ("change", "percent change")
    if not asked:
        found = named.row_of(first)
    else:
        wanted = asked if len(asked) > 1 or not is_change else _with_year_before(asked[0])
        each = [named.cells(period) for period in wanted]
        found = [some[0] for some in each if len(some) == 1]
        if len(found) < len(wanted) or len(set(map(_measure, found))) > 1:
            return None
    if not 1 < len(found) <= (2 if is_change else _MOST_PERIODS):
        return None
    if len({one.figure.operand.start for one in found}) < len(found):
        return None
    if kind == "percent change" and named.has_percentages(found):
        return None
    return Computation(kind, [(one.source, one.figure) for one in found])


def _measure(one: _Found) -> tuple[str, Words]:
    """Equal for cells that differ in their period alone: a row, and its column's other words."""
    column = frozenset(meanings(without_periods(one.figure.column)))
    return one.figure.row, column - _OF_TIME


class _NamedCells:
    """The cells among ``figures`` that a question names."""

    def __init__(self, question: str, figures: Cells) -> None:
        self._cells = [(source, one) for source, one in figures if one.place >= 0]
        cells = [one for _, one in self._cells]
        self._naming = Naming(question, cells, _ALL_NAMES)
        self.words = frozenset(self._naming.words)
        known = frozenset[str]().union(*(one.about for _, one in figures))
        self.names_something_else = bool(self._naming.unmet(known))

    def cells(self, period: Period | None, beside: Mention | None = None) -> list[_Found]:
        """The cells of ``period`` that are named best: one, or one of each row named as well."""
        found = [
            _Found(source, one, mention)
            for source, one in self._cells
            if period is None or is_of(period, one)
            if (mention := self._naming.mention(one, beside))
        ]
        best = max((one.mention.score for one in found), default=0)
        first = [one for one in found if one.mention.score >= best - _CLOSE]
        by_value = {one.value[: None if period else 1]: one for one in reversed(first)}
        return sorted(by_value.values(), key=self.place)

    def row_of(self, one: _Found) -> list[_Found]:
        """The cells of a row whose columns differ in their periods alone, the latest first."""
        row = [
            _Found(source, each, one.mention)
            for source, each in self._cells
            if (each.row, each.caption) == (one.figure.row, one.figure.caption)
            and source == one.source and periods(each.column)
        ]  # fmt: skip
        return sorted(row, key=lambda each: _when(periods(each.figure.column)[0]), reverse=True)

    def has_percentages(self, found: Sequence[_Found]) -> bool:
        """True if the row of amounts that was found has percentages of periods beside them."""
        rows = {(one.source, one.figure.row, one.figure.caption) for one in found}
        return any(
            one.operand.is_percent
            and (source, one.row, one.caption) in rows
            and periods(one.column)
            for source, one in self._cells
        ) and not all(one.figure.operand.is_percent for one in found)

    def place(self, one: _Found) -> int:
        """The place in the question of the first word by which the cell is named."""
        return min(map(self._naming.words.index, one.mention.words), default=0)


def _periods(question: str) -> list[Period]:
    """The periods of a question, the latest first; all years of `2017-2019`."""
    if match := _SPAN.search(question):
        first, last = int(match[1]), int(match[2])
        if 0 < last - first < _MOST_PERIODS:
            return [_year(year) for year in range(last, first - 1, -1)]
    distinct = {period.keys[0]: period for period in periods(question)}.values()
    return sorted(distinct, key=_when, reverse=True)


def _when(period: Period) -> str:
    """A sort key: the year, then the day, month or quarter within it."""
    kind, _, value = period.keys[0].partition(":")
    return f"{value}-0" if kind == "annual" else value


def _year(year: int) -> Period:
    return Period(0, 0, (f"annual:{year}", f"year:{year}"))


def _with_year_before(period: Period) -> list[Period]:
    kind, _, year = period.keys[0].partition(":")
    return [period, _year(int(year) - 1)] if kind in ("annual", "year") else [period]
