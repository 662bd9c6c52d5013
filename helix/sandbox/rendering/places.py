"""The places of pages that are drawn at once, and whose turn is next."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Places:
    """``most`` at once. A place that is left goes to the tenant that holds the fewest.

    Of several such tenants to the one that was served longest ago: whoever asks for a hundred
    pages that take long is not in the way of another. Belongs to one event loop.
    """

    def __init__(self, most: int) -> None:
        self._free = most
        self._held = Counter[str]()
        self._served: dict[str, int] = {}
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def one(self, tenant: str) -> AsyncIterator[None]:
        """Hold a place for ``tenant`` while the block lasts."""
        if self._free:
            self._give(tenant)
        else:
            await self._turn(tenant)
        try:
            yield
        finally:
            self._leave(tenant)

    async def _turn(self, tenant: str) -> None:
        turn = tenant, asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn[1]
        except asyncio.CancelledError:
            if turn in self._waiting:
                self._waiting.remove(turn)
            else:  # its turn came in the very moment in which it gave up
                self._leave(tenant)
            raise

    def _give(self, tenant: str) -> None:
        self._free -= 1
        self._held[tenant] += 1
        self._served[tenant] = max(self._served.values(), default=0) + 1

    def _leave(self, tenant: str) -> None:
        self._free += 1
        self._held[tenant] -= 1
        if not self._waiting:
            self._served = {one: self._served[one] for one, held in self._held.items() if held}
            self._held = +self._held
            return
        following = min(
            self._waiting, key=lambda turn: (self._held[turn[0]], self._served.get(turn[0], 0))
        )
        self._waiting.remove(following)
        self._give(following[0])
        following[1].set_result(None)
