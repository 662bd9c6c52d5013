"""Waiters by tenant; the tenant whose last turn is longest ago is next."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque

Turn = asyncio.Future[None]


class FairQueue:
    """Waiters by tenant. The queue counts no places: its users do, and wake the next waiter."""

    def __init__(self) -> None:
        self._queues: OrderedDict[str, deque[Turn]] = OrderedDict()
        self._last: str | None = None  # the tenant that had the last turn

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    @property
    def longest(self) -> int:
        """The number of waiters of the tenant that has most."""
        return max(map(len, self._queues.values()), default=0)

    def of(self, tenant: str) -> int:
        """The number of waiters of ``tenant``."""
        return len(self._queues.get(tenant, ()))

    def join(self, tenant: str) -> Turn:
        """A turn behind those of ``tenant``; it is done once ``wake`` has come to it."""
        turn: Turn = asyncio.get_running_loop().create_future()
        self._queues.setdefault(tenant, deque()).append(turn)
        return turn

    def leave(self, tenant: str, turn: Turn) -> bool:
        """Wait no longer. True: its turn had come, in the very moment in which it gave up."""
        queue = self._queues.get(tenant)
        if queue is not None and turn in queue:
            queue.remove(turn)
            if not queue:
                del self._queues[tenant]
        return turn.done() and not turn.cancelled() and turn.exception() is None

    def wake(self) -> bool:
        """Give a turn to the tenant whose last one is longest ago; False where nobody waits.

        Who comes while another tenant always waits is before its next one, not behind it.
        """
        if self._last is not None and self._last in self._queues:
            self._queues.move_to_end(self._last)
        while self._queues:
            tenant, queue = self._queues.popitem(last=False)
            turn = queue.popleft()
            if queue:
                self._queues[tenant] = queue  # behind the others
            if not turn.done():
                turn.set_result(None)
                self._last = tenant
                return True
        return False

    def push_out(self, error: Exception) -> None:
        """Raise ``error`` in the one that came last, of the tenant that has most."""
        tenant, queue = max(self._queues.items(), key=lambda item: len(item[1]))
        queue.pop().set_exception(error)
        if not queue:
            del self._queues[tenant]
