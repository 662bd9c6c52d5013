"""Metadata out of whatever a source says of an entry, or a file of itself."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from helix.domain.metadata import LONGEST_TEXT, MOST_ITEMS, MOST_KEYS, checked_metadata
from helix.errors import BadRequest


def valid_metadata(given: Mapping[str, Any]) -> dict[str, Any]:
    """``given`` by valid keys; what is empty or of no kind of value is left out.

    Long texts and lists are cut.
    """
    found: dict[str, Any] = {}
    for name, value in given.items():
        key = str(name).strip().replace(" ", "_").lower()
        usable = _usable(value)
        if usable in (None, "", []) or key in found:
            continue
        try:
            found |= checked_metadata({key: usable})
        except BadRequest:  # a key or a value that there is none of
            continue
    return dict(list(found.items())[:MOST_KEYS])


def _usable(value: Any) -> Any:
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return " ".join(value.split())[:LONGEST_TEXT].strip()
    if isinstance(value, (list, tuple, set)):
        items = [_usable(item) for item in value if isinstance(item, (str, int, float))]
        return [item for item in items if item != ""][:MOST_ITEMS]
    return value
