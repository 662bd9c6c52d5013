"""Turns that are held for a while, so many at once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from helix.overload.queue import FairQueue


class FairTurns:
    """Turns that are held, ``most`` at once, for one event loop."""

    def __init__(self, most: int) -> None:
        self._free = most
        self._queue = FairQueue()

    @property
    def waiting(self) -> int:
        """The number of waiters."""
        return len(self._queue)

    @asynccontextmanager
    async def turn(self, tenant: str) -> AsyncIterator[None]:
        """One turn, for the block."""
        if self._free and not self._queue:
            self._free -= 1
        else:
            await self._wait(tenant)
        try:
            yield
        finally:
            self._leave()

    async def _wait(self, tenant: str) -> None:
        turn = self._queue.join(tenant)
        try:
            await turn
        except BaseException:
            if self._queue.leave(tenant, turn):
                self._leave()
            raise

    def _leave(self) -> None:
        if not self._queue.wake():
            self._free += 1
