"""Periods that a text names: a day, a month, a quarter, a half or a year, by keys that compare.

A key is ``day:2023-07-01``, ``month:2023-07``, ``quarter:2023-3``, ``half:2023-1``,
``annual:2022`` (a whole year) or ``year:2022`` (something of that year). Whether a quarter or a
year is a company's own or the calendar's is seldom told, so that no key tells it.

Beside them, the length of a period that is named in words: three months, a quarter, a year.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from helix.language.word_lists import expression, tables

_MONTHS = {
    name: number
    for number, names in enumerate(tables("periods")["months"], 1)
    for name in names.split()
}
_ORDINALS = {
    word: number
    for number, words in enumerate(tables("periods")["ordinals"], 1)
    for word in words.split()
}
_LATEST = re.compile(expression("periods", "latest"), re.IGNORECASE)
_REPORTED = {
    "quarterly period": ("quarter", 3), "quarter": ("quarter", 3), "three months": ("quarter", 3),
    "six months": ("six months", 6), "half year": ("six months", 6), "half-year": ("six months", 6),
    "nine months": ("nine months", 9), "fiscal year": ("fiscal year", 12), "year": ("year", 12),
    "financial year": ("year", 12), "twelve months": ("year", 12),
}  # fmt: skip
"""Phrases of a report for the period it reports on: its name here, and its months."""
DAY = expression("periods", "any_day")
"""A day in any form, for rules that look for one after a label."""
_ENDED = re.compile(
    rf"\b(?P<length>{'|'.join(sorted(_REPORTED, key=len, reverse=True))})\s+(?:period\s+)?"
    rf"(?:ended|ending)\s*+:?\s*+(?P<day>{DAY})",
    re.IGNORECASE,
)
_SHORT = 1000  # characters: a question, a sentence, a column's header
_CENTURY = 2000  # of a year in two digits
_LENGTH = re.compile(
    r"\b(?:(three|six|nine|twelve|3|6|9|12)[ -]months?|(quarter(?:ly)?)|(half[ -]year(?:ly)?)"
    r"|(?:fiscal |full |financial )?years? ended|annual|full year|fiscal \d{4})\b",
    re.IGNORECASE,
)
_COUNTS = {"three": 3, "3": 3, "six": 6, "6": 6, "nine": 9, "9": 9, "twelve": 12, "12": 12}

_COUNT = re.compile(r"\b(?:three|six|nine|twelve|3|6|9|12)\b", re.IGNORECASE)
_SEVERAL = re.compile(
    r"\b(?:three|six|nine|3|6|9)-?(?:,| and) (?:six|nine|twelve|6|9|12)[ -]months?\b", re.IGNORECASE
)
_TO_DATE = re.compile(
    r"\bYTD\b|\byear[- ]to[- ]date\b|\bfirst (?:six|nine) months\b|\bfirst half\b"
)


class Period(NamedTuple):
    """A period where a text names it: characters ``start`` to ``end``.

    ``keys`` go from what it names exactly to what still holds it: a document of the whole year
    tells of its third quarter too.
    """

    start: int
    end: int
    keys: tuple[str, ...]


def periods(text: str) -> list[Period]:
    """The periods that ``text`` names, in order, none within another."""
    return list(_kept_periods(text) if len(text) <= _SHORT else _periods(text))


def _periods(text: str) -> tuple[Period, ...]:
    found: list[Period] = []
    for pattern, keys_of in _FORMS:
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(one.start < end and start < one.end for one in found):
                continue
            if keys := keys_of(match):
                found.append(Period(start, end, keys))
    return tuple(sorted(found))


_kept_periods = lru_cache(maxsize=2**12)(_periods)


def dates(text: str) -> Iterator[tuple[int, int, date]]:
    """The days that ``text`` names, as (start, end, day), in the order of their form."""
    for pattern, day_of in _DATES:
        for match in pattern.finditer(text):
            if day := day_of(match):
                yield *match.span(), day


class Ended(NamedTuple):
    """A period that a text says has ended: "quarter ended July 1, 2023"."""

    start: int
    end: int
    what: str
    months: int
    day: date


def ended(text: str) -> Iterator[Ended]:
    """The periods that ``text`` says have ended or will, in order."""
    for match in _ENDED.finditer(text):
        for *_, day in dates(match["day"]):
            what, months = _REPORTED[" ".join(match["length"].lower().split())]
            yield Ended(*match.span(), what, months, day)
            break


def reported(text: str) -> tuple[tuple[str, ...], date | None]:
    """The keys of the period that a report's ``text`` is about, and the day it ends, if told.

    "quarter ended July 1, 2023", "Q3 2023", "2022". A quarter without a day is the calendar's.
    """
    if found := next(ended(text), None):
        return keys_until(found.day, found.months), found.day
    named = periods(text)
    if not named:
        return (), None
    first, year = named[0].keys[0], named[0].keys[-1].partition(":")[2]
    keys = (first, f"year:{year}")
    part, _, number = first.partition(":")
    month = {"quarter": 3, "half": 6}.get(part, 0) * int(number[-1]) or int(number[5:7] or 12)
    if part == "day":
        return keys, date.fromisoformat(number)
    return keys, date(int(year), month, 28)


def asks_for_latest(text: str) -> bool:
    """True if ``text`` asks for the newest of several: "the latest 10-Q", "most recent quarter"."""
    return bool(_LATEST.search(text))


def keys_until(end: date, months: int) -> tuple[str, ...]:
    """The keys of a period of so many ``months`` that ends at ``end``.

    Reports end a week after or before the month that they are of: July 1 ends a second quarter.
    A year that ends in its first months has the number of the year before for many, so both.
    """
    middle = date.fromordinal(end.toordinal() - 15 * months)
    month = date.fromordinal(end.toordinal() - 8)
    keys = [f"day:{end}", f"month:{month:%Y-%m}", f"month:{end:%Y-%m}", f"year:{end.year}"]
    if months <= 9:
        keys.append(f"quarter:{month.year}-{(month.month + 2) // 3}")
        keys.append(f"year:{month.year}")
    else:
        keys += [f"annual:{middle.year}", f"year:{middle.year}", f"annual:{end.year}"]
    if months == 6:
        keys.append(f"half:{middle.year}-{1 if middle.month <= 6 else 2}")
    return tuple(dict.fromkeys(keys))


def _day(year: str, month: int | str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:  # the 31st of June, or a month 13
        return None


def _named_day(match: re.Match[str]) -> date | None:
    return _day(match["year"], _MONTHS[match["month"].lower()], match["day"])


def _numbered_day(match: re.Match[str]) -> date | None:
    return _day(match["year"], match["month"], match["day"])


def _of_day(day_of: Callable[[re.Match[str]], date | None]) -> _Keys:
    def keys(match: re.Match[str]) -> tuple[str, ...]:
        day = day_of(match)
        if day is None:
            return ()
        return f"day:{day}", f"month:{day:%Y-%m}", f"annual:{day.year}"

    return keys


def _year(digits: str) -> int:
    return int(digits) if len(digits) == 4 else _CENTURY + int(digits)


def _of_part(name: str) -> _Keys:
    def keys(match: re.Match[str]) -> tuple[str, ...]:
        number, year = match["number"].lower(), _year(match["year"])
        part = _ORDINALS.get(number) or int(number)
        return f"{name}:{year}-{part}", f"annual:{year}"

    return keys


def _of_month(match: re.Match[str]) -> tuple[str, ...]:
    year, month = int(match["year"]), _MONTHS[match["month"].lower()]
    return f"month:{year}-{month:02}", f"annual:{year}"


def _of_year(match: re.Match[str]) -> tuple[str, ...]:
    year = _year(match["year"])
    return f"annual:{year}", f"year:{year}"


def _compiled(key: str) -> re.Pattern[str]:
    month = "|".join(sorted(_MONTHS, key=len, reverse=True))
    ordinal = "|".join(_ORDINALS)
    text = expression("periods", key).replace("MONTH", rf"(?P<month>{month})\.?")
    return re.compile(text.replace("ORDINAL", f"(?P<number>{ordinal})"), re.IGNORECASE)


_Keys = Callable[[re.Match[str]], tuple[str, ...]]
_DATES = (
    (_compiled("american_day"), _named_day),
    (_compiled("european_day"), _named_day),
    (_compiled("iso_day"), _numbered_day),
    (_compiled("slashed_day"), _numbered_day),
    (_compiled("dotted_day"), _numbered_day),
)
# the longest forms first: what one has taken no later one takes
_FORMS: tuple[tuple[re.Pattern[str], _Keys], ...] = (
    *((pattern, _of_day(day_of)) for pattern, day_of in _DATES),
    (_compiled("quarter_then_year"), _of_part("quarter")),
    (_compiled("short_quarter"), _of_part("quarter")),
    (_compiled("leading_quarter"), _of_part("quarter")),
    (_compiled("year_then_quarter"), _of_part("quarter")),
    (_compiled("year_then_ordinal"), _of_part("quarter")),
    (_compiled("half_then_year"), _of_part("half")),
    (_compiled("month_of_year"), _of_month),
    (_compiled("short_year"), _of_year),
    (_compiled("year"), _of_year),
)


def months_in(text: str) -> int | None:
    """The months of the first length that ``text`` names; None where it names none."""
    found = _LENGTH.search(text)
    if not found:
        return None
    if found[1]:
        return _COUNTS[found[1].lower()]
    return 3 if found[2] else 6 if found[3] else 12


def lengths_in(text: str) -> frozenset[int]:
    """The months of all lengths that ``text`` names: `the three and nine months ended` two.

    A year to date is 0 months: how many it has is told elsewhere.
    """
    found = {
        _COUNTS[word.lower()] for some in _SEVERAL.findall(text) for word in _COUNT.findall(some)
    }
    found |= {months_in(one[0]) or 12 for one in _LENGTH.finditer(text)}
    return frozenset(found | ({0} if _TO_DATE.search(text) else set()))


def without_periods(text: str) -> str:
    """``text`` without the periods and their lengths."""
    for period in reversed(periods(text)):
        text = text[: period.start] + " " + text[period.end :]
    return _LENGTH.sub(" ", text)


def with_quarters(text: str) -> str:
    """``text`` with one way to write a length: `quarter` for three months, `annual` for twelve."""
    return _LENGTH.sub(_named_length, text)


def _named_length(found: re.Match[str]) -> str:
    months = months_in(found[0])
    rest = " ".join(re.findall(r"\d{4}", found[0]))
    name = {3: "quarter", 6: "half", 12: "annual"}.get(months or 0, f"{months} months")
    ended = " ended" if found[0].casefold().endswith("ended") else ""
    return f"{name}{ended} {rest}".rstrip()
