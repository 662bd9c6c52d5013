"""Frames that are ready at the same moment, as one: to send each costs as much as to make it.

The first goes by itself, so that a reader sees it before the others are made.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import anyio

_MOST_BYTES = 4096  # that are made before the client is sent them
_CLOSE_SECONDS = 2


async def joined(frames: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """``frames`` in their order: the first, then those of one turn of the event loop together.

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
