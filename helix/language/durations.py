"""The length of a period that a text names in words: three months, a quarter, a year, or none."""

from __future__ import annotations

import re

from helix.language.periods import periods

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
