"""The event after which a client goes on with a stream that it has a part of."""

from __future__ import annotations

from fastapi import Request

from helix.errors import BadRequest


def last_event_id(request: Request) -> int:
    """The number in ``Last-Event-ID``; 0 where there is none.

    Raises:
        BadRequest: it is no number.
    """
    text = request.headers.get("last-event-id", "").strip()
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise BadRequest("Last-Event-ID is no id of an event of this stream")
    return int(text)
