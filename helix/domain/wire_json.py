"""JSON as it is sent: UTF-8 on one line, whatever people and models wrote. Pure."""

from __future__ import annotations

import json

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def json_bytes(payload: object) -> bytes:
    """``payload`` as JSON on one line; lone surrogates travel as escapes."""
    try:
        return _encode(payload).encode()
    except UnicodeEncodeError:
        return json.dumps(payload, separators=(",", ":")).encode()
