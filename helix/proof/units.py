"""Units of measure by what they measure and how much of it, so that values compare across them."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple


class Unit(NamedTuple):
    """What is measured, and how many of the dimension's own unit one of these is."""

    dimension: str
    factor: Decimal


_PREFIXES = {
    "kilo": "1E3", "mega": "1E6", "giga": "1E9", "tera": "1E12", "peta": "1E15", "hecto": "1E2",
    "deci": "0.1", "centi": "0.01", "milli": "0.001", "micro": "1E-6", "nano": "1E-9",
}  # fmt: skip
_SIGNS = {
    "k": "1E3", "m": "0.001", "c": "0.01", "d": "0.1", "n": "1E-9", "µ": "1E-6", "μ": "1E-6",
    "h": "100", "mc": "1E-6",
}  # fmt: skip
_LARGE = {"M": "1E6", "G": "1E9", "T": "1E12", "P": "1E15"}
_MEASURED = {  # SI names, and the sign that takes a prefix
    "metre meter": "m", "gram gramme gramm": "g", "watt": "W", "volt": "V", "hertz": "Hz",
    "litre liter": "l", "joule": "J", "pascal": "Pa", "byte": "B", "bit": "bit", "newton": "N",
    "amp ampere": "A", "ohm": "Ω", "calorie": "cal", "bar": "bar", "lumen": "lm",
    "decibel": "dB", "pixel": "px", "mole": "mol",
}  # fmt: skip
_FIXED = {  # names: dimension, factor
    "% percent pct prozent percentage": ("share", "0.01"),
    "‰ permille promille": ("share", "0.001"),
    "°": ("°", "1"), "°c": ("°c", "1"), "°f": ("°f", "1"),
    "degree degrees grad": ("°", "1"),
    "second seconds sec secs sekunde sekunden": ("time", "1"),
    "minute minutes min mins minuten": ("time", "60"),
    "hour hours h hr hrs stunde stunden": ("time", "3600"),
    "day days tag tage tagen": ("time", "86400"),
    "week weeks woche wochen": ("time", "604800"),
    "month months monat monate monaten": ("months", "1"),
    "year years yr yrs jahr jahre jahren": ("months", "12"),
    "decade decades jahrzehnt jahrzehnte": ("months", "120"),
    "century centuries": ("months", "1200"),
    "$ usd dollar dollars us$": ("usd", "1"), "€ eur euro euros": ("eur", "1"),
    "£ gbp": ("gbp", "1"), "¥ yen jpy": ("yen", "1"), "chf franc francs franken": ("chf", "1"),
    "cent cents": ("cent", "1"),
    "mile miles mi": ("mile", "1"), "inch inches": ("foot", "0.08333"),
    "foot feet ft": ("foot", "1"), "yard yards yd": ("foot", "3"), "acre acres": ("acre", "1"),
    "hectare hectares ha hektar": ("ha", "1"), "pound pounds lb lbs": ("pound", "1"),
    "ounce ounces oz": ("ounce", "1"), "gallon gallons": ("gallon", "1"),
    "ton tons tonne tonnes": ("g", "1E6"), "knot knots": ("knot", "1"), "mph": ("mph", "1"),
    "kwh kilowatthour": ("kwh", "1"), "kmh": ("kmh", "1"),
}  # fmt: skip


def _all() -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for names, (dimension, factor) in _FIXED.items():
        units |= dict.fromkeys(names.split(), Unit(dimension, Decimal(factor)))
    for names, sign in _MEASURED.items():
        for name in names.split():
            for prefix, factor in {"": "1", **_PREFIXES}.items():
                unit = Unit(sign, Decimal(factor))
                units |= {prefix + name: unit, f"{prefix}{name}s": unit}
        for prefix, factor in {"": "1", **_SIGNS}.items():
            if prefix or sign in "mgl":  # 5 a day, 404b and 1990s have no unit
                units.setdefault(f"{prefix}{sign}".lower(), Unit(sign, Decimal(factor)))
    units["kb"] = Unit("B", Decimal("1E3"))
    return units


_UNITS = _all()
_CASED = {
    prefix + sign: Unit(sign, Decimal(factor))
    for prefix, factor in _LARGE.items()
    for sign in ("W", "V", "B", "Hz", "J", "Pa", "bit", "Ω")
} | {prefix + "b": Unit("B", Decimal(factor)) for prefix, factor in _LARGE.items()}
_CASED |= {sign: Unit(sign, Decimal(1)) for sign in "WVAJNBΩ"}
_CASED |= {each.lower(): _CASED[each] for each in ("MB", "GB", "TB", "PB", "GHz", "MHz")}
_LETTERS = frozenset(unit for unit in _UNITS if len(unit) == 1 and unit.isalpha())
WORDS = frozenset(_UNITS) - _LETTERS - {"bar", "min", "pounds", "pound", "foot", "feet", "ha", "mi"}
"""Words that are units wherever they stand."""
_ATTACHED = frozenset(_UNITS) | frozenset(each.lower() for each in _CASED if len(each) > 1)


def is_attached(suffix: str) -> bool:
    """Whether letters directly behind digits are a unit: 5kg, 5W; not those of 404B or 300S."""
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
    if unit is None and word.casefold() in ("prozentpunkte", "prozentpunkten", "prozentpunkt"):
        return _PERCENTAGE_POINTS, end
    if unit is None:
        return None, end
    if unit.dimension == "share":
        points = _POINTS.match(text, end)
        return (_PERCENTAGE_POINTS, points.end()) if points else (unit, end)
    if unit.dimension == "°":
        scale = _SCALE.match(text, end)
        if scale:
            return Unit(f"°{scale[1][0].lower()}", Decimal(1)), scale.end()
    return unit, end
