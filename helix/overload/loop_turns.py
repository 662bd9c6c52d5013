"""One piece of heavy work in each turn of the event loop."""

from __future__ import annotations

import asyncio

from helix.overload.queue import FairQueue


class LoopTurns:
    """Work that holds up the event loop: one piece in each turn of the loop.

    A turn in which all that is ready is worked on is as long as all of it, for everybody else too.
    It paces one loop at a time; in another, while that one lives, nobody waits.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queue = FairQueue()
        self._given = False  # to somebody, in this turn of the loop

    async def next(self, tenant: str) -> None:
        """Return when the work of ``tenant`` may go on; at once where none else has this turn."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            if self._loop is not None and not self._loop.is_closed():
                return
            self._loop, self._queue, self._given = loop, FairQueue(), False
        if not self._given:
            self._given = True
            loop.call_soon(self._give, loop)
            return
        turn = self._queue.join(tenant)
        try:
            await turn
        finally:
            self._queue.leave(tenant, turn)

    def _give(self, loop: asyncio.AbstractEventLoop) -> None:
        if loop is self._loop:
            self._given = self._queue.wake()
            if self._given:
                loop.call_soon(self._give, loop)
