"""Units of measure by what they measure and how much of it, so that values compare across them."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from helix.language.word_lists import tables


class Unit(NamedTuple):
    """A unit: the dimension it measures, and how many of the dimension's own unit it makes."""

    dimension: str
    factor: Decimal


_TABLES = tables("units")


def _units() -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for dimension, factors in _TABLES["other"].items():
        for factor, names in factors.items():
            units |= dict.fromkeys(names.split(), Unit(dimension, Decimal(factor)))
    for sign, names in _TABLES["measured"].items():
        for name in names.split():
            for prefix, factor in {"": "1", **_TABLES["prefixes"]}.items():
                unit = Unit(sign, Decimal(factor))
                units |= {prefix + name: unit, f"{prefix}{name}s": unit}
        for prefix, factor in {"": "1", **_TABLES["sign_prefixes"]}.items():
            if prefix or sign in "mgl":  # 5 a day, 404b and 1990s have no unit
                units.setdefault(f"{prefix}{sign}".lower(), Unit(sign, Decimal(factor)))
    units["kb"] = Unit("B", Decimal("1E3"))
    return units


def _cased_units() -> dict[str, Unit]:
    """Units whose case tells: MW is no mW, and W alone is one where w is none."""
    units = {sign: Unit(sign, Decimal(1)) for sign in "WVAJNBΩ"}
    for prefix, factor in _TABLES["large_sign_prefixes"].items():
        for sign in ("W", "V", "B", "Hz", "J", "Pa", "bit", "Ω"):
            units[prefix + sign] = Unit(sign, Decimal(factor))
        units[f"{prefix}b"] = Unit("B", Decimal(factor))
    return units | {each.lower(): units[each] for each in ("MB", "GB", "TB", "PB", "GHz", "MHz")}


_UNITS = _units()
_CASED = _cased_units()
_LETTERS = frozenset(unit for unit in _UNITS if len(unit) == 1 and unit.isalpha())
UNIT_WORDS = (
    frozenset(_UNITS) - _LETTERS - {"bar", "min", "pounds", "pound", "foot", "feet", "ha", "mi"}
)
"""Words that are units wherever they stand."""
_ATTACHED = frozenset(_UNITS) | frozenset(each.lower() for each in _CASED if len(each) > 1)


def is_attached(suffix: str) -> bool:
    """True if letters directly behind digits are a unit: 5kg, 5W; not those of 404B or 300S."""
    return suffix in ("W", "V") or (
        suffix.casefold() in _ATTACHED and (len(suffix) > 1 or suffix.islower())
    )


_PERCENTAGE_POINTS = Unit("percentage points", Decimal(1))
_POINTS = re.compile(r"[\s-]points?\b|punkte?n?\b", re.IGNORECASE)
_SCALE = re.compile(r"\s(celsius|fahrenheit)\b", re.IGNORECASE)


def unit_of(word: str) -> Unit | None:
    """The unit that a word or sign names; None where it is none."""
    return _CASED.get(word) or _UNITS.get(word.casefold())


def unit_at(text: str, word: str, end: int) -> tuple[Unit | None, int]:
    """The unit that ``word``, which ends at ``end``, begins, and where it ends."""
    unit = unit_of(word)
    if unit is None:
        points = word.casefold() in ("prozentpunkte", "prozentpunkten", "prozentpunkt")
        return (_PERCENTAGE_POINTS if points else None), end
    if unit.dimension == "share" and (found := _POINTS.match(text, end)):
        return _PERCENTAGE_POINTS, found.end()
    if unit.dimension == "°" and (found := _SCALE.match(text, end)):
        return Unit(f"°{found[1][0].lower()}", Decimal(1)), found.end()
    return unit, end
