"""Numbers of spreadsheets and charts as text; number formats of days, and of shares as percent."""

from __future__ import annotations

import datetime
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


def number(value: float) -> str:
    """All 15 digits a spreadsheet keeps, with an exponent only where zeros would fill a line."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    short = format(value, ".15g")
    return format(Decimal(short), "f") if 1e-9 <= abs(value) < 1e21 else short


def moment(value: datetime.datetime) -> str:
    """A day, as 2024-01-05; with its time, where it has one, without seconds that are none."""
    return value.isoformat(" ").removesuffix(" 00:00:00").removesuffix(":00")


def duration(value: datetime.timedelta) -> str:
    """Hours, minutes and seconds, as 30:00:00."""
    seconds = round(value.total_seconds())
    minutes, rest = divmod(abs(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{'-' if seconds < 0 else ''}{hours}:{minutes:02}:{rest:02}"
