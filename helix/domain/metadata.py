"""Metadata of one's own: ``key = value`` of a document, a text, a number, a date or a list.

As JSON, on the wire and in ``documents.metadata``: a number is a number, a string that has the form
of an ISO 8601 date is a date, every other string a text. ``{"text": "2026-01-31"}`` is a text that
only looks like a date; so what is read can be sent as it is. A list has values of these kinds.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, get_args

from helix.errors import BadRequest

Value = str | float | date
"""A text, a number, a day or (datetime, in UTC) a moment; a day is its first moment in UTC."""
Kind = Literal["text", "number", "date"]
Json = dict[str, Any]

MOST_KEYS = 64
MOST_ITEMS = 50
LONGEST_TEXT = 500
"""Characters: an entry of an index has 2,704 bytes at most."""
_LARGEST_NUMBER = 2**53
"""Whole numbers up to here are exact as float8, which numbers are compared as."""
_KEY = re.compile(r"[^\W\d_][\w.-]{0,63}")
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?([Zz]|[+-][0-9]{2}:?[0-9]{2})?)?"
)
# No leading zero and no plus: a post code and a telephone number are texts.
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,15})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?")
_ASSIGNED = re.compile(r"([^=:]+)(?::([^=:]*))?=(.*)", re.DOTALL)
_BETWEEN_ITEMS = ";"


def checked_key(text: str) -> str:
    """A key as it is stored: case does not count.

    Raises:
        BadRequest: it is none.
    """
    key = unicodedata.normalize("NFC", text.strip()).lower()
    if not _KEY.fullmatch(key):
        raise BadRequest(
            f"{key[:80]!r} is no key of metadata: 1 to {MOST_KEYS} letters, digits or _ . -,"
            " a letter first"
        )
    return key


def checked_metadata(given: Mapping[str, Any]) -> Json:
    """``given`` as it is stored.

    Raises:
        BadRequest: a key or value is none, or there are too many.
    """
    return {key: value for key, value in checked_changes(given).items() if value is not None}


def checked_changes(given: Mapping[str, Any]) -> Json:
    """A JSON Merge Patch of metadata (RFC 7396): values by key, None takes the key away.

    Raises:
        BadRequest: as ``checked_metadata`` does.
    """
    found: Json = {}
    for name, value in given.items():
        key = checked_key(name)
        if key in found:
            raise BadRequest(f"metadata.{key} is there twice: case does not count")
        found[key] = None if value is None else _stored(f"metadata.{key}", value)
    if len(found) > MOST_KEYS:
        raise BadRequest(f"metadata has {len(found)} keys; the limit is {MOST_KEYS}")
    return found


def _stored(name: str, given: object) -> Any:
    if not isinstance(given, list):
        return json_of(value_of(name, given))
    if not 1 <= len(given) <= MOST_ITEMS:
        raise BadRequest(f"{name} has {len(given)} items: a list has 1 to {MOST_ITEMS}")
    return [json_of(value_of(name, item)) for item in given]


def value_of(name: str, given: object) -> Value:
    """The value that the JSON ``given`` is; ``name`` is what an error calls it.

    Raises:
        BadRequest: it is none.
    """
    if isinstance(given, str):
        return _date(name, given.strip()) if _looks_like_date(given) else _text(name, given)
    if isinstance(given, dict) and list(given) == ["text"] and isinstance(given["text"], str):
        return _text(name, given["text"])
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return _number(name, given)
    raise BadRequest(f"{name} is no text, number, date (as 2026-01-31) or list of these")


def json_of(value: Value) -> Any:
    """The one JSON of a value: ``value_of`` reads it."""
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str):
        return {"text": value} if _looks_like_date(value) else value
    return int(value) if value == int(value) else value


def kind_of(value: Value) -> Kind:
    """The kind of a value."""
    if isinstance(value, str):
        return "text"
    return "date" if isinstance(value, date) else "number"


def moment_of(day: date) -> datetime:
    """The moment that a date is compared by."""
    return day if isinstance(day, datetime) else datetime(day.year, day.month, day.day, tzinfo=UTC)


def typed(name: str, kind: str | None, text: str) -> Any:
    """The JSON of a value that is written as text, of the type ``kind``; None: as it looks.

    Raises:
        BadRequest: there is no such type, or the text is no value of it.
    """
    if kind is None:
        return json_of(inferred(name, text))
    if kind not in get_args(Kind) and kind != "list":
        raise BadRequest(f"{name}: there is no type {kind[:80]!r}: text, number, date and list are")
    if kind == "list":
        items = [item for item in text.split(_BETWEEN_ITEMS) if item.strip()]
        return _stored(name, [json_of(inferred(name, item)) for item in items])
    return json_of(value_as(name, kind, text))


def value_as(name: str, kind: str, text: str) -> Value:
    """The value of one of the kinds that ``text`` writes.

    Raises:
        BadRequest: it is none of this kind.
    """
    if kind == "number":
        return _number(name, text.strip())
    if kind == "date":
        return _date(name, text.strip())
    return _text(name, text)


def inferred(name: str, text: str) -> Value:
    """The value that ``text`` looks like: a number, a date, or else a text.

    Raises:
        BadRequest: it is empty, too long, or no date although it looks like one.
    """
    bare = text.strip()
    if _NUMBER.fullmatch(bare) and _is_exact(bare):
        return _number(name, bare)
    return _date(name, bare) if _looks_like_date(bare) else _text(name, text)


def assignments(texts: Iterable[str]) -> Json:
    """The metadata of ``key=value`` and ``key:type=value``; a key given again makes a list.

    Raises:
        BadRequest: one is none.
    """
    found: Json = {}
    for text in texts:
        match = _ASSIGNED.fullmatch(text)
        if match is None:
            raise BadRequest(f"{text[:80]!r} is no metadata: key=value, or key:type=value")
        key = checked_key(match[1])
        value = typed(f"metadata.{key}", match[2], match[3])
        found[key] = _joined(found[key], value) if key in found else value
    return checked_metadata(found)


def _joined(first: Any, second: Any) -> list[Any]:
    lists = (each if isinstance(each, list) else [each] for each in (first, second))
    return [item for items in lists for item in items]


def _looks_like_date(text: str) -> bool:
    return bool(_DATE.fullmatch(text.strip()))


def _date(name: str, text: str) -> date:
    try:
        if not _DATE.fullmatch(text):
            raise ValueError("no date")
        if len(text) == len("2026-01-31"):
            return date.fromisoformat(text)
        moment = datetime.fromisoformat(text.upper())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadRequest(f"{name} is no date of the calendar, such as 2026-01-31") from None


def _number(name: str, given: str | float) -> float:
    try:
        number = float(given)
    except (ValueError, OverflowError):
        raise BadRequest(f"{name} is no number") from None
    if not math.isfinite(number) or not _is_exact(given):
        raise BadRequest(f"{name} is beyond 2^53, the largest number: make it a text")
    return number + 0.0  # minus zero is zero


def _is_exact(number: str | float) -> bool:
    """True if a finite number is within the largest, before it is rounded to a float8."""
    try:
        return Decimal(number).copy_abs() <= _LARGEST_NUMBER
    except InvalidOperation:  # an exponent beyond those of Decimal
        return False


def _text(name: str, given: str) -> str:
    text = unicodedata.normalize("NFC", given).strip()
    if not text:
        raise BadRequest(f"{name} is empty: null takes a key away")
    if len(text) > LONGEST_TEXT:
        raise BadRequest(f"{name} has {len(text)} characters; the limit is {LONGEST_TEXT}")
    if any(unicodedata.category(c) in ("Cc", "Cs") for c in text):
        raise BadRequest(f"{name} holds control characters: leave them out")
    return text


EDITED, GIVEN = "metadata", "given"
"""The keys of ``documents.edits``: what people changed, and what was told at an ingestion."""


def with_layers(
    own: Mapping[str, Any], given: Mapping[str, Any] | None, edits: Mapping[str, Any]
) -> tuple[Json, Json]:
    """The metadata of a document that is read, and its ``edits`` from then on.

    What people changed stands above what is ``given`` with the file, now or before, and that above
    the document's ``own``, of which as many keys are taken as there is room for.
    """
    told = {**(edits.get(GIVEN) or {}), **(given or {})}
    above = {**told, **(edits.get(EDITED) or {})}
    kept = [key for key in own if key not in above][: max(0, MOST_KEYS - len(above))]
    merged = {key: own[key] for key in kept} | above
    found = {key: value for key, value in merged.items() if value is not None}
    return found, {**edits, GIVEN: told} if told else dict(edits)


def metadata_line(metadata: Mapping[str, Any], keys: Iterable[str]) -> str:
    """The values of these keys on one line, to be embedded with each chunk."""
    return " | ".join(f"{key}: {shown(metadata[key])}" for key in keys if key in metadata)


def shown(stored: Any) -> str:
    """A stored value for people to read."""
    if isinstance(stored, list):
        return ", ".join(map(shown, stored))
    return str(stored["text"] if isinstance(stored, dict) else stored)
