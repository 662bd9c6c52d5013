"""Number formats of spreadsheets and charts: days, and shares shown as percent."""

from __future__ import annotations

import re
from decimal import Decimal

_QUOTED = re.compile(r'"[^"]*"|\[[^][]*\]|\\.')
PERCENT_IDS = frozenset({"9", "10"})
"""The numbers of formats of percent that need no code (ISO/IEC 29500-1, 18.8.30)."""


def is_date(code: str) -> bool:
    """True for a number format of days: "m/d/yyyy", but neither "General" nor "Standard"."""
    letters = set(filter(str.isalpha, _QUOTED.sub("", code).lower()))
    return bool(letters & set("yd")) and letters <= set("ymdhsap")


def is_percent(code: str) -> bool:
    """True for a number format that shows a hundred times the value, with a sign: "0.0%"."""
    return "%" in _QUOTED.sub("", code)


def percent(value: float) -> str:
    """A share as it is shown, with all 15 digits that are kept: 0.0925 is 9.25%."""
    shown = Decimal(format(value, ".15g")) * 100
    return f"{shown.normalize():f}%"
