"""JSON as it is sent: UTF-8 on one line, whatever people and models wrote. Pure."""

from __future__ import annotations

import json

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_LINE_ENDS = {end.encode(): f"\\u{ord(end):04x}".encode() for end in "\x85\u2028\u2029"}
"""Characters that end a line for ``str.splitlines``, and so for ``httpx.Response.iter_lines``."""


def json_bytes(payload: object) -> bytes:
    """``payload`` as JSON on one line; lone surrogates and ends of lines travel as escapes."""
    try:
        encoded = _encode(payload).encode()
    except UnicodeEncodeError:
        return json.dumps(payload, separators=(",", ":")).encode()
    for end, escape in _LINE_ENDS.items():
        encoded = encoded.replace(end, escape)
    return encoded
