"""Engine output as the frames and the JSON of the wire contract; no database.

A frame is bytes ready to send: one `data:` line of JSON, for JSON has no raw line break and so
nothing a model writes can break a frame.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import anyio
from fastapi import Request
from starlette.responses import JSONResponse

from helix.domain.contract import Citation
from helix.domain.wire_json import json_bytes
from helix.errors import BadRequest

_MOST_BYTES = 4096  # that are made before the client is sent them
_CLOSE_SECONDS = 2


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


async def joined(frames: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """``frames`` in their order: the first, then those of one turn of the event loop together.

    To send each costs as much as to make it. The first goes by itself, so that a reader sees it
    before the others are made.

    Raises:
        Exception: what ``frames`` raise, once all before it is sent.
    """
    ready = bytearray()
    came, taken = asyncio.Event(), asyncio.Event()

    async def read() -> None:
        is_first = True
        async with aclosing(frames):
            async for frame in frames:
                ready.extend(frame)
                came.set()
                if is_first or len(ready) >= _MOST_BYTES:
                    is_first = False
                    taken.clear()
                    await taken.wait()

    reading = asyncio.create_task(read())
    reading.add_done_callback(lambda _: came.set())
    try:
        while ready or not reading.done():
            await came.wait()
            came.clear()
            if ready:
                together = bytes(ready)
                ready.clear()
                taken.set()
                yield together
        reading.result()
    finally:
        reading.cancel()
        with anyio.move_on_after(_CLOSE_SECONDS, shield=True):  # else it is closed while it runs
            await asyncio.wait({reading})


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
