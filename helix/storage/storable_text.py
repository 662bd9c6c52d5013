"""Text as Postgres can store it, without U+0000 and lone surrogates. Pure.

A question and a model's answer may have both. Such a character becomes U+E000 and its four hex
digits, and so does U+E000 itself, so that ``restored`` gives back exactly the same text.
"""

from __future__ import annotations

import json
import re
from typing import Any

_UNSTORABLE = re.compile("[\x00\ue000\ud800-\udfff]")
_ESCAPED = re.compile("\ue000([0-9a-f]{4})")
_ESCAPED_NUL = "\\u0000"

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def storable(text: str) -> str:
    """``text`` without the characters that Postgres refuses."""
    return _UNSTORABLE.sub(lambda found: f"\ue000{ord(found[0]):04x}", text)


def restored(text: str) -> str:
    """The text that ``storable`` was given."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def storable_json(value: Any) -> str:
    """``value`` as JSON that jsonb takes; its strings are ``storable``.

    Raises:
        ValueError: a number in it is not finite.
    """
    text = _encode(value)
    suspect = _ESCAPED_NUL in text or (not text.isascii() and _UNSTORABLE.search(text))
    return _encode(_each(value, storable)) if suspect else text


def restored_json(value: Any) -> Any:
    """``value`` with every string in it ``restored``."""
    return _each(value, restored)


def _each(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _each(inner, change) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_each(inner, change) for inner in value]
    return value
