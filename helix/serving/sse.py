"""Engine output as the frames and the JSON of the wire contract; no database.

A frame is bytes ready to send: one `data:` line of JSON, for JSON has no raw line break and so
nothing a model writes can break a frame.
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.responses import JSONResponse

from helix.domain.contract import Citation
from helix.domain.wire_json import json_bytes


def token_frame(text: str) -> bytes:
    """One token frame. Lone surrogates, which UTF-8 cannot carry, travel as JSON escapes."""
    return _frame("", {"t": text})


def citations_frame(citations: Sequence[Citation]) -> bytes:
    """The one citations frame that ends a whole answer."""
    return _frame("event: citations\n", list(citations))


def event_frame(event: str, payload: object) -> bytes:
    """A frame of a typed stream: one event by that name."""
    return _frame(f"event: {event}\n", payload)


def comment_frame(name: str, payload: object) -> bytes:
    """A comment line, which clients of server-sent events pass over."""
    return f": {name} ".encode() + json_bytes(payload) + b"\n\n"


def _frame(head: str, payload: object) -> bytes:
    return f"{head}data: ".encode() + json_bytes(payload) + b"\n\n"


class TextJson(JSONResponse):
    """JSON of texts that people and models wrote: lone surrogates travel as escapes."""

    def render(self, content: object) -> bytes:
        """``content`` as the response's body."""
        return json_bytes(content)
