"""The rate at which an amount is due: `monthly`, `per year`, `a full day`."""

from __future__ import annotations

import re

ADVERBS = {
    "hour": "hourly", "day": "daily", "night": "nightly", "week": "weekly", "month": "monthly",
    "quarter": "quarterly", "year": "yearly", "annum": "yearly",
}  # fmt: skip
"""The adverb of each unit of time."""
_UNITS = {adverb: unit for unit, adverb in reversed(ADVERBS.items())}
_UNITS |= {"annual": "year", "annually": "year", "annum": "year"}
RATE = re.compile(
    rf"\b(?:per|a|each|every) (?:(?:full|whole|calendar|working) )?(?P<unit>{'|'.join(ADVERBS)})\b",
    re.IGNORECASE,
)
"""`per month`."""
RHYTHM = re.compile(rf"\b(?:{'|'.join([*_UNITS])})\b", re.IGNORECASE)
"""`monthly`."""


def rates_of(text: str) -> frozenset[str]:
    """The units of time that a text speaks of as rates: `month` of `monthly` and of `a month`."""
    named = [found["unit"].lower() for found in RATE.finditer(text)]
    named += [found[0].lower() for found in RHYTHM.finditer(text)]
    return frozenset(_UNITS.get(name, name) for name in named)
