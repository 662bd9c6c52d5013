"""Engine output to the frames of the wire contract; no HTTP, no database.

A frame is bytes ready to send: one `data:` line of JSON, for JSON has no raw line break and so
nothing a model writes can break a frame.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from helix.contract import Citation

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def token_frame(text: str) -> bytes:
    """One token frame. Lone surrogates, which UTF-8 cannot carry, travel as JSON escapes."""
    return _frame("", {"t": text})


def citations_frame(citations: Sequence[Citation]) -> bytes:
    """The one citations frame that ends a whole answer."""
    return _frame("event: citations\n", list(citations))


def _frame(head: str, payload: object) -> bytes:
    try:
        return f"{head}data: {_encode(payload)}\n\n".encode()
    except UnicodeEncodeError:
        return f"{head}data: {json.dumps(payload, separators=(',', ':'))}\n\n".encode()
