"""Questions for a computed number: the kind of computation, and the numbers that it takes. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from helix.agent.offline import wording
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
class Wanted:
    """One number to find: the words of its row, column and table, and its period, if any.

    ``beside`` are words that its row or column may have too: in `the domestic and international
    rates` both numbers are rates.
    """

    words: frozenset[str]
    period: Period | None = None
    beside: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Computed:
    """A computation, and the numbers that it takes, in the order of its expression.

    ``every``: over all periods of the first number's row, because the question names none.
    ``queries`` are the searches, one for each side of a question that has two sides.
    ``of_averages``, ``of_shares``: the table has to present each number as an average, or in
    percent. ``within``: the first number is a part of the second.
    """

    kind: Kind
    wanted: tuple[Wanted, ...]
    every: bool = False
    queries: tuple[str, ...] = ()
    of_averages: bool = False
    of_shares: bool = False
    within: bool = False


def computed(question: str) -> Computed | None:
    """The computation that a question asks for; None where it asks for none, or for several."""
    text = wording.GLUED.sub(", ", question.strip().rstrip("?").strip())
    if len(wording.COMPUTED.findall(text)) > 1 or wording.NOT_ASKED.search(text):
        return None
    found = _computed(text)
    if found is None:
        return None
    compares = found.kind in COMPARING
    return replace(
        found,
        of_averages=compares and bool(wording.AVERAGE.search(text)),
        of_shares=found.kind not in _IN_PERCENT and bool(wording.AS_PERCENT.search(text)),
    )


def _computed(text: str) -> Computed | None:
    named = periods(text)
    if ratio := _part_and_whole(text, named):
        return ratio
    kind = _kind(text)
    if kind is None:
        return None
    subject = words_of(text)
    if kind in COMPARING:
        return _two_numbers(kind, text, subject, named)
    return _several_numbers(kind, text, subject, named)


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
    found = frozenset(meanings(wording.COMPUTING.sub(" ", bare))) - _ASKING
    found = found or frozenset(meanings(bare)) - _ASKING
    return found | {word.lower() for word in wording.KEPT.findall(text)} if found else found


def without_computing(question: str) -> str:
    """The question without its words of computation, for the search."""
    bare = wording.ASKED_FOR.sub("", " ".join(wording.COMPUTING.sub(" ", question).split()))
    return bare if words_of(bare) else question


def _two_numbers(
    kind: Kind, text: str, subject: frozenset[str], named: Sequence[Period]
) -> Computed | None:
    """Two numbers: one thing in the later and the earlier period, or two things in one period."""
    later = _ordered(text, named)
    if later:
        return Computed(kind, tuple(Wanted(subject, period) for period in later))
    sides = wording.BETWEEN.search(text) or wording.THAN.search(text)
    if sides and kind not in _IN_PERCENT and not periods(sides["one"]):
        one, other = sides["one"], sides["other"]
        if kind != "difference":
            one, other = other, one  # a change is from the first to the second
        return _sides(kind, text, one, other, named)
    if len(named) == 1 and kind != "difference":
        before = _year_before(named[0])
        if before:
            wanted = Wanted(subject, named[0]), Wanted(subject, before)
            return Computed(kind, wanted)
    return None if named else Computed(kind, (Wanted(subject),), every=True)


def _ordered(text: str, named: Sequence[Period]) -> tuple[Period, Period] | None:
    """Two periods, the later one first: a change is that of the later one."""
    distinct = _spread(text, named, whole=False)
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


def _sides(kind: Kind, text: str, one: str, other: str, named: Sequence[Period]) -> Computed | None:
    """Two things, each named on its side; the words around both sides belong to both."""
    common = words_of(text.replace(one, " ").replace(other, " ")) - _LISTS["arithmetic"]
    first, second = words_of(one), words_of(other)
    if not first or not second or first == second:
        return None
    own = periods(one), periods(other)
    whole = named[0] if len({period.keys[0] for period in named}) == 1 else None
    periods_of = [each[0] if len(each) == 1 else whole for each in own]
    shared = first & second
    wanted = (
        Wanted(first, periods_of[0], common | second),
        Wanted(second - shared or second, periods_of[1], common | first | shared),
    )
    return Computed(kind, wanted, queries=(without_computing(text),))


def _several_numbers(
    kind: Kind, text: str, subject: frozenset[str], named: Sequence[Period]
) -> Computed | None:
    """Several numbers: one thing in several or all periods, or several things in one period."""
    distinct = _spread(text, named)
    if len(distinct) > 1:
        return Computed(kind, tuple(Wanted(subject, one) for one in distinct))
    if kind == "average" and not distinct:
        return Computed(kind, (Wanted(subject),), every=True)
    sides = wording.AND.search(_after_kind(text)) if wording.ADDED.search(text) else None
    return _sides(kind, text, sides["one"], sides["other"], named) if sides else None


def _after_kind(text: str) -> str:
    found = re.search(r"\b(?:average|mean|sum|total|combined)\b(?: of)?", text, re.IGNORECASE)
    return text[found.end() :] if found else text


def _spread(text: str, named: Sequence[Period], *, whole: bool = True) -> list[Period]:
    """The periods in order; ``whole``: with the years between the ends of `2017-2019`."""
    if found := wording.YEARS.search(text):
        first, last = int(found[1]), int(found[2])
        if 0 < last - first < 10:
            years = range(first, last + 1) if whole else (first, last)
            return [_of_year(year) for year in years]
    distinct = list({period.keys[0]: period for period in named}.values())
    distinct.sort(key=_when)
    if whole and len(distinct) == 2 and all(p.keys[0].startswith("annual:") for p in distinct):
        first, last = (int(period.keys[0].partition(":")[2]) for period in distinct)
        between = text[min(p.end for p in distinct) : max(p.start for p in distinct)]
        if re.search(r"\b(?:to|through|until)\b", between, re.IGNORECASE) and last - first < 10:
            return [_of_year(year) for year in range(first, last + 1)]
    return distinct


def _of_year(year: int) -> Period:
    return Period(0, 0, (f"annual:{year}", f"year:{year}"))


def _part_and_whole(text: str, named: Sequence[Period]) -> Computed | None:
    """A part and its whole, where the question asks for one as a share or ratio of the other."""
    if found := wording.AS_SHARE.search(text):
        sides = text[: found.start()], text[found.end() :]
        return _of_whole("share", text, *sides, named)
    if wording.CHANGE.search(text):
        return None
    for pattern in (wording.IN_TOTAL, wording.SHARE_OF):
        if found := pattern.search(text):
            second = found["part"] is None
            part, whole = ("part2", "whole2") if second else ("part", "whole")
            share = _of_whole("share", text, found[part], found[whole], named)
            return replace(share, within=True) if share else None
    if wording.DIFFERENCE.search(text):
        return None
    if found := wording.RATIO.search(text):
        sides = next(
            (found[f"part{n}"], found[f"whole{n}"])
            for n in ("", "2", "3")
            if found[f"part{n}"] is not None
        )
        return _of_whole("ratio", text, *sides, named)
    return None


def _of_whole(
    kind: Kind, text: str, part: str, whole: str, named: Sequence[Period]
) -> Computed | None:
    one = named[0] if len({period.keys[0] for period in named}) == 1 else None
    own = periods(part), periods(whole)
    top, below = words_of(part), words_of(whole)
    if not top or not below:
        return None
    wanted = (
        Wanted(top, own[0][0] if len(own[0]) == 1 else one, below - top),
        Wanted(below, own[1][0] if len(own[1]) == 1 else one),
    )
    return Computed(kind, wanted, queries=(without_computing(part), without_computing(whole)))
