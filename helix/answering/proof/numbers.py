"""A number of a text as it compares: its values, unit, bound and rate. Words for numbers."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from helix.answering.proof.units import Unit
from helix.language.word_lists import numbers_by_word, tables

CARDINALS = numbers_by_word("cardinals")
CARDINALS |= {
    f"{one}und{ten}": CARDINALS[ten] + value
    for ten in "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
    for value, one in enumerate("ein zwei drei vier fünf sechs sieben acht neun".split(), 1)
}
ORDINALS = numbers_by_word("ordinals")
SCALES = numbers_by_word("scales")
PARTS = numbers_by_word("parts")
NUMBER_WORDS = frozenset({*CARDINALS, *ORDINALS, "hundred", "thousand", "million", "billion"})
MONTHS = tables("words")["english_months"].split()

_VALUE = re.compile(r"-?\d+(?:\.\d+)?\Z", re.ASCII)


class Number(NamedTuple):
    """A number at ``text[start:end]``: the values it may be read as, what it counts, its bound.

    ``unit`` is None where none is known; it ends at ``until``. ``bound`` is 1 of a lower bound, -1
    of an upper one, else 0; ``within`` is true of `in 2010`. ``per`` is what it is counted by.
    ``sure`` is false of what may be no number: `one`, `first` and `second` as other words.
    """

    values: tuple[str, ...]
    unit: Unit | None
    bound: int
    start: int
    end: int
    sure: bool = True
    until: int = 0
    per: frozenset[str] = frozenset()
    within: bool = False

    def agrees(self, other: Number) -> bool:
        """True if both may be the same; what only one of them states is passed over."""
        if self.per and other.per and self.per.isdisjoint(other.per):
            return False
        if (self.within and other.bound) or (other.within and self.bound):
            return False
        return self.bound * other.bound >= 0 and self._equals(other)

    def comparable(self, other: Number) -> bool:
        """True if one could replace the other: both of one dimension, years with years."""
        if self.is_year != other.is_year:
            return False
        if self.unit is None or other.unit is None:
            return self.unit is other.unit
        return _kind(self.unit) == _kind(other.unit)

    @property
    def is_year(self) -> bool:
        value = self.values[0]
        return self.unit is None and len(value) == 4 and value[:2] in ("17", "18", "19", "20")

    def _equals(self, other: Number) -> bool:
        one, two = self.unit, other.unit
        if one == two or not one or not two:
            return any(value in other.values for value in self.values)
        if one.dimension != two.dimension:
            # degrees without a scale may be of either
            return (
                one.dimension[0] == two.dimension[0] == "°"
                and "°" in (one.dimension, two.dimension)
                and self.values == other.values
            )
        return bool(_amounts(self.values, one) & _amounts(other.values, two))


def _kind(unit: Unit) -> str:
    """The quantity of a unit: time for weeks and months, though they do not convert exactly."""
    return "time" if unit.dimension == "months" else unit.dimension


def _amounts(values: tuple[str, ...], unit: Unit) -> frozenset[Decimal]:
    return frozenset(Decimal(v) * unit.factor for v in values if len(v) <= 20 and _VALUE.match(v))
