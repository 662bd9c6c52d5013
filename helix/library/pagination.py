"""Cursors of lists: where the next page begins, as text that clients pass on unread."""

from __future__ import annotations

import base64
import binascii
import json
import unicodedata
from typing import Any

from helix.domain.input_text import visible_line
from helix.errors import BadRequest

_BAD_CURSOR = "after is no cursor of this list: pass on the next of the page before, as it is"


def encode_cursor(*parts: str | float) -> str:
    """The parts as URL-safe text."""
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def decode_cursor(text: str, *shape: type) -> list[Any]:
    """The parts of a cursor, which are of the types ``shape``.

    Raises:
        BadRequest: it was not made by ``encode_cursor`` from such parts.
    """
    try:
        decoded = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        parts = json.loads(decoded)
    except (ValueError, binascii.Error, RecursionError):
        raise BadRequest(_BAD_CURSOR) from None
    if not isinstance(parts, list) or [type(part) for part in parts] != list(shape):
        raise BadRequest(_BAD_CURSOR)
    for part in parts:
        if isinstance(part, int) and abs(part) >= 2**63:
            raise BadRequest(_BAD_CURSOR)
        check_text("after", str(part))
    return parts


def check_text(name: str, text: str, limit: int = 2000) -> str:
    """``text`` without white space around it, fit for the database.

    Raises:
        BadRequest: longer than ``limit`` characters, or it holds control characters.
    """
    stripped = text.strip()
    if len(stripped) > limit:
        raise BadRequest(f"{name} has {len(stripped)} characters; the limit is {limit}")
    if any(unicodedata.category(c) in ("Cc", "Cs") for c in stripped):
        raise BadRequest(f"{name} holds control characters: leave them out")
    return stripped


def check_name(name: str, text: str, limit: int) -> str:
    """``check_text`` for a title or name: without invisible characters."""
    return visible_line(check_text(name, text, limit))


def like_pattern(search: str) -> str:
    """A pattern of LIKE that fits every text with ``search`` in it, which means itself."""
    escaped = search.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    return f"%{escaped}%"
