"""Questions for a computed number: the kind of computation, and the numbers that it takes. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from helix.agent.offline import wording
from helix.domain.input_text import judged
from helix.language.durations import without_periods
from helix.language.paraphrases import meanings
from helix.language.periods import Period, periods
from helix.language.word_lists import word_lists

Kind = Literal[
    "change", "percent change", "decrease", "percent decrease", "difference", "average", "sum",
    "share", "ratio",
]  # fmt: skip
"""A decrease is the earlier value minus the later one: positive where the value fell."""

_LISTS = word_lists("tables")
OF_TIME = _LISTS["of_time"] - {"month", "week", "day"}
"""Words of periods, which are compared as periods; a monthly price is another than a yearly one."""
_ASKING = _LISTS["asking"] | OF_TIME
_IN_PERCENT: frozenset[Kind] = frozenset(("percent change", "percent decrease", "share"))
COMPARING: frozenset[Kind] = frozenset(
    ("change", "percent change", "decrease", "percent decrease", "difference")
)


@dataclass(frozen=True)
class OperandQuery:
    """One number to find: the words of its row, column and table, and its period, if any.

    ``beside`` are words that its row or column may have too: in `the domestic and international
    rates` both numbers are rates.
    """

    words: frozenset[str]
    period: Period | None = None
    beside: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Computation:
    """A computation, and the numbers that it takes, in the order of its expression.

    ``every``: over all periods of the first number's row, because the question names none.
    ``queries`` are the searches, one for each side of a question that has two sides.
    ``of_averages``, ``of_shares``: the table has to present each number as an average, or in
    percent. ``within``: the first number is a part of the second.
    """

    kind: Kind
    operands: tuple[OperandQuery, ...]
    every: bool = False
    queries: tuple[str, ...] = ()
    of_averages: bool = False
    of_shares: bool = False
    within: bool = False


def computation_of(question: str) -> Computation | None:
    """The computation that a question asks for; None where it asks for none, or for several."""
    text = wording.GLUED.sub(", ", judged(question).strip().rstrip("?").strip())
    if len(wording.COMPUTED.findall(text)) > 1 or wording.NOT_ASKED.search(text):
        return None
    computation = _single_computation(text)
    if computation is None:
        return None
    compares = computation.kind in COMPARING
    return replace(
        computation,
        of_averages=compares and bool(wording.AVERAGE.search(text)),
        of_shares=computation.kind not in _IN_PERCENT and bool(wording.AS_PERCENT.search(text)),
    )


def _single_computation(text: str) -> Computation | None:
    named_periods = periods(text)
    if ratio := _part_and_whole(text, named_periods):
        return ratio
    kind = _kind(text)
    if kind is None:
        return None
    subject = words_of(text)
    if kind in COMPARING:
        return _two_numbers(kind, text, subject, named_periods)
    return _several_numbers(kind, text, subject, named_periods)


def _kind(text: str) -> Kind | None:
    falls = bool(wording.DECREASE.search(text)) and not wording.INCREASE.search(text)
    if wording.PERCENT_CHANGE.search(text) and not wording.POINTS.search(text):
        return "percent decrease" if falls else "percent change"
    if wording.DIFFERENCE.search(text):
        return "difference"
    if wording.AVERAGE.search(text) and not wording.CHANGE.search(text):
        return "average"
    if wording.CHANGE.search(text) or (wording.COMPARE.search(text) and len(periods(text)) == 2):
        return "decrease" if falls else "change"
    return "sum" if wording.SUM.search(text) else None


def words_of(text: str) -> frozenset[str]:
    """The meanings of the words of ``text``, without periods and words of computation."""
    bare = without_periods(wording.YEARS.sub(" ", text))
    words = frozenset(meanings(wording.COMPUTING.sub(" ", bare))) - _ASKING
    words = words or frozenset(meanings(bare)) - _ASKING
    return words | {word.lower() for word in wording.KEPT.findall(text)} if words else words


def without_computing(question: str) -> str:
    """The question without its words of computation, for the search."""
    bare = wording.ASKED_FOR.sub("", " ".join(wording.COMPUTING.sub(" ", question).split()))
    return bare if words_of(bare) else question


def _two_numbers(
    kind: Kind, text: str, subject: frozenset[str], named_periods: Sequence[Period]
) -> Computation | None:
    """Two numbers: one thing in the later and the earlier period, or two things in one period."""
    later = _ordered(text, named_periods)
    if later:
        return Computation(kind, tuple(OperandQuery(subject, period) for period in later))
    sides = wording.BETWEEN.search(text) or wording.THAN.search(text)
    if sides and kind not in _IN_PERCENT and not periods(sides["one"]):
        one, other = sides["one"], sides["other"]
        if kind != "difference":
            one, other = other, one  # a change is from the first to the second
        return _sides(kind, text, one, other, named_periods)
    if len(named_periods) == 1 and kind != "difference":
        before = _year_before(named_periods[0])
        if before:
            operands = OperandQuery(subject, named_periods[0]), OperandQuery(subject, before)
            return Computation(kind, operands)
    return None if named_periods else Computation(kind, (OperandQuery(subject),), every=True)


def _ordered(text: str, named_periods: Sequence[Period]) -> tuple[Period, Period] | None:
    """Two periods, the later one first: a change is that of the later one."""
    distinct = _spread(text, named_periods, whole=False)
    if len(distinct) != 2:
        return None
    return distinct[1], distinct[0]


def _when(period: Period) -> str:
    """A sort key of a period: its year, then the day, month or quarter within it."""
    kind, _, value = period.keys[0].partition(":")
    return f"{value}-0" if kind == "annual" else value


def _year_before(period: Period) -> Period | None:
    kind, _, year = period.keys[0].partition(":")
    if kind not in ("annual", "year") or not year.isdigit():
        return None
    return _of_year(int(year) - 1)


def _sides(
    kind: Kind, text: str, one: str, other: str, named_periods: Sequence[Period]
) -> Computation | None:
    """Two things, each named on its side; the words around both sides belong to both."""
    common = words_of(text.replace(one, " ").replace(other, " ")) - _LISTS["arithmetic"]
    first, second = words_of(one), words_of(other)
    if not first or not second or first == second:
        return None
    side_periods = periods(one), periods(other)
    whole = named_periods[0] if len({period.keys[0] for period in named_periods}) == 1 else None
    periods_of = [each[0] if len(each) == 1 else whole for each in side_periods]
    shared = first & second
    operands = (
        OperandQuery(first, periods_of[0], common | second),
        OperandQuery(second - shared or second, periods_of[1], common | first | shared),
    )
    return Computation(kind, operands, queries=(without_computing(text),))


def _several_numbers(
    kind: Kind, text: str, subject: frozenset[str], named_periods: Sequence[Period]
) -> Computation | None:
    """Several numbers: one thing in several or all periods, or several things in one period."""
    distinct = _spread(text, named_periods)
    if len(distinct) > 1:
        return Computation(kind, tuple(OperandQuery(subject, one) for one in distinct))
    if kind == "average" and not distinct:
        return Computation(kind, (OperandQuery(subject),), every=True)
    sides = wording.AND.search(_after_kind(text)) if wording.ADDED.search(text) else None
    return _sides(kind, text, sides["one"], sides["other"], named_periods) if sides else None


def _after_kind(text: str) -> str:
    match = re.search(r"\b(?:average|mean|sum|total|combined)\b(?: of)?", text, re.IGNORECASE)
    return text[match.end() :] if match else text


def _spread(text: str, named_periods: Sequence[Period], *, whole: bool = True) -> list[Period]:
    """The periods in order; ``whole``: with the years between the ends of `2017-2019`."""
    if match := wording.YEARS.search(text):
        first, last = int(match[1]), int(match[2])
        if 0 < last - first < 10:
            years = range(first, last + 1) if whole else (first, last)
            return [_of_year(year) for year in years]
    distinct = list({period.keys[0]: period for period in named_periods}.values())
    distinct.sort(key=_when)
    if whole and len(distinct) == 2 and all(p.keys[0].startswith("annual:") for p in distinct):
        first, last = (int(period.keys[0].partition(":")[2]) for period in distinct)
        between = text[min(p.end for p in distinct) : max(p.start for p in distinct)]
        if re.search(r"\b(?:to|through|until)\b", between, re.IGNORECASE) and last - first < 10:
            return [_of_year(year) for year in range(first, last + 1)]
    return distinct


def _of_year(year: int) -> Period:
    return Period(0, 0, (f"annual:{year}", f"year:{year}"))


def _part_and_whole(text: str, named_periods: Sequence[Period]) -> Computation | None:
    """A part and its whole, where the question asks for one as a share or ratio of the other."""
    if match := wording.AS_SHARE.search(text):
        sides = text[: match.start()], text[match.end() :]
        return _of_whole("share", text, *sides, named_periods)
    if wording.CHANGE.search(text):
        return None
    for pattern in (wording.IN_TOTAL, wording.SHARE_OF):
        if match := pattern.search(text):
            second = match["part"] is None
            part, whole = ("part2", "whole2") if second else ("part", "whole")
            share = _of_whole("share", text, match[part], match[whole], named_periods)
            return replace(share, within=True) if share else None
    if wording.DIFFERENCE.search(text):
        return None
    if match := wording.RATIO.search(text):
        sides = next(
            (match[f"part{n}"], match[f"whole{n}"])
            for n in ("", "2", "3")
            if match[f"part{n}"] is not None
        )
        return _of_whole("ratio", text, *sides, named_periods)
    return None


def _of_whole(
    kind: Kind, text: str, part: str, whole: str, named_periods: Sequence[Period]
) -> Computation | None:
    one = named_periods[0] if len({period.keys[0] for period in named_periods}) == 1 else None
    side_periods = periods(part), periods(whole)
    top, below = words_of(part), words_of(whole)
    if not top or not below:
        return None
    operands = (
        OperandQuery(top, side_periods[0][0] if len(side_periods[0]) == 1 else one, below - top),
        OperandQuery(below, side_periods[1][0] if len(side_periods[1]) == 1 else one),
    )
    return Computation(kind, operands, queries=(without_computing(part), without_computing(whole)))
