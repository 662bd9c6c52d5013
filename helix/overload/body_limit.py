"""A limit on a request's body that holds whatever length the request declares."""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import Message

MEGABYTE = 2**20  # bytes


def limit_body(request: Request, limit: int, error: Exception) -> Request:
    """``request``, but reading more than ``limit`` bytes of its body raises ``error``.

    If the request declares a longer body, the first read raises, before any of it has come.
    """
    declared = request.headers.get("content-length", "")
    # its length first: Python refuses to convert a number of thousands of digits
    too_long = declared.isdecimal() and (len(declared) > 15 or int(declared) > limit)
    received = 0

    async def receive() -> Message:
        nonlocal received
        if too_long:
            raise error
        message = await request.receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise error
        return message

    return Request(request.scope, receive)
