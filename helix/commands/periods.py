"""Spans of time as people type them: ``90d``, ``12h``."""

from __future__ import annotations

import re
from datetime import timedelta

from helix.errors import BadRequest

_SPAN = re.compile(r"(\d{1,6})\s*([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def span_of(text: str) -> timedelta:
    """``text``, a number with m (minutes), h, d or w behind it, as a length of time.

    Raises:
        BadRequest: it is none, or nothing.
    """
    match = _SPAN.fullmatch(text.strip().lower())
    if not match or not int(match[1]):
        raise BadRequest(f"{text!r} is no span of time: give a number and m, h, d or w, as 90d")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


def span_or_never(text: str) -> timedelta | None:
    """The span that ``span_of`` reads; None for ``never``."""
    return None if text.strip().lower() == "never" else span_of(text)
