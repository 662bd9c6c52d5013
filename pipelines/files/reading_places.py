"""Places to read files in, shared by tenants in turn: no tenant waits for another's slow files."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class ReadingPlaces:
    """``places`` for all tenants together, and as many again for tenants that have none.

    A place that is given back goes to the tenant that has the fewest, and of these to the one that
    has not had its turn for longest. Where all are taken, a tenant without any gets one beyond: a
    tenant alone never has more than ``places``. All of it belongs to one event loop.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self._taken = Counter[str]()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._turns = 0
        self._last_turn = Counter[str]()

    @property
    def most(self) -> int:
        """The largest number of places that are taken at once."""
        return 2 * self._places

    @asynccontextmanager
    async def take(self, tenant: str) -> AsyncIterator[None]:
        """A place of ``tenant`` for as long as the block lasts; it is waited for."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(turn)
        self._give()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was given one at the same moment
                self._leave(tenant)
            raise
        try:
            yield
        finally:
            self._leave(tenant)

    def _leave(self, tenant: str) -> None:
        self._taken[tenant] -= 1
        self._give()

    def _give(self) -> None:
        """Give places to those whose turn it is, while there are both."""
        while (tenant := self._next()) is not None:
            turn = self._waiting[tenant].popleft()
            if not self._waiting[tenant]:
                del self._waiting[tenant]
            if not turn.done():  # else it has left
                turn.set_result(None)
                self._taken[tenant] += 1
                self._turns += 1
                self._last_turn[tenant] = self._turns

    def _next(self) -> str | None:
        """The tenant whose turn it is, where there is a place for it."""
        if not self._waiting:
            return None
        tenant = min(self._waiting, key=lambda one: (self._taken[one], self._last_turn[one]))
        free = self._places if self._taken[tenant] else self.most
        return tenant if self._taken.total() < free else None
