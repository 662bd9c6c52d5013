"""Order where many wait, and the places they wait for: the tenants in turn, the first of each.

And work that would hold up the event loop: paced there, or done in a thread.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from functools import partial
from typing import Any, ParamSpec, TypeVar

Waiter = asyncio.Future[None]

LONG = 1_000
"""Characters from which work over a text goes to the thread; below, handing it over takes longer.

Judging takes 1 to 2 µs a character at most, so the event loop keeps about 2 ms.
"""

_Args = ParamSpec("_Args")
_Result = TypeVar("_Result")
# One thread: only one of several would run, and each would keep the event loop waiting for its
# turn (5 ms, sys.getswitchinterval) whenever it goes on.
_thread = ThreadPoolExecutor(1, "helix-long-work")


class FairQueue:
    """Waiters by tenant. The queue counts no places: its users do, and wake the next waiter."""

    def __init__(self) -> None:
        self._queues: OrderedDict[str, deque[Waiter]] = OrderedDict()
        self._last: str | None = None  # the tenant that was woken last

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    @property
    def longest(self) -> int:
        """The number of waiters of the tenant that has most."""
        return max(map(len, self._queues.values()), default=0)

    def of(self, tenant: str) -> int:
        """The number of waiters of ``tenant``."""
        return len(self._queues.get(tenant, ()))

    def join(self, tenant: str) -> Waiter:
        """A waiter behind those of ``tenant``; it is done once ``wake`` has come to it."""
        waiter: Waiter = asyncio.get_running_loop().create_future()
        self._queues.setdefault(tenant, deque()).append(waiter)
        return waiter

    def leave(self, tenant: str, waiter: Waiter) -> bool:
        """Wait no longer. True: its place had come, in the very moment in which it gave up."""
        queue = self._queues.get(tenant)
        if queue is not None and waiter in queue:
            queue.remove(waiter)
            if not queue:
                del self._queues[tenant]
        return waiter.done() and not waiter.cancelled() and waiter.exception() is None

    def wake(self) -> bool:
        """Wake one of the tenant that was woken longest ago; False where nobody waits.

        Who comes while another tenant always waits is before its next one, not behind it.
        """
        if self._last is not None and self._last in self._queues:
            self._queues.move_to_end(self._last)
        while self._queues:
            tenant, queue = self._queues.popitem(last=False)
            waiter = queue.popleft()
            if queue:
                self._queues[tenant] = queue  # behind the others
            if not waiter.done():
                waiter.set_result(None)
                self._last = tenant
                return True
        return False

    def push_out(self, error: Exception) -> None:
        """Raise ``error`` in the one that came last, of the tenant that has most."""
        tenant, queue = max(self._queues.items(), key=lambda item: len(item[1]))
        waiter = queue.pop()
        if not waiter.done():  # one that has just given up makes room too
            waiter.set_exception(error)
        if not queue:
            del self._queues[tenant]


class FairPlaces:
    """Places that are held, ``most`` at once, for one event loop."""

    def __init__(self, most: int) -> None:
        self._free = most
        self._queue = FairQueue()

    @property
    def waiting(self) -> int:
        """The number of waiters."""
        return len(self._queue)

    @asynccontextmanager
    async def place(self, tenant: str) -> AsyncIterator[None]:
        """One place, for the block."""
        if self._free and not self._queue:
            self._free -= 1
        else:
            await self._wait(tenant)
        try:
            yield
        finally:
            self._leave()

    async def _wait(self, tenant: str) -> None:
        waiter = self._queue.join(tenant)
        try:
            await waiter
        except BaseException:
            if self._queue.leave(tenant, waiter):
                self._leave()
            raise

    def _leave(self) -> None:
        if not self._queue.wake():
            self._free += 1


class LoopPacer:
    """Work that holds up the event loop: one piece in each iteration of the loop.

    An iteration in which all that is ready is worked on is as long as all of it, for everybody else
    too.
    It paces one loop at a time; in another, while that one lives, nobody waits.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queue = FairQueue()
        self._given = False  # to somebody, in this iteration

    async def next(self, tenant: str) -> None:
        """Return when the work of ``tenant`` may go on; at once where the iteration is free."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            if self._loop is not None and not self._loop.is_closed():
                return
            self._loop, self._queue, self._given = loop, FairQueue(), False
        if not self._given:
            self._given = True
            loop.call_soon(self._give, loop)
            return
        waiter = self._queue.join(tenant)
        try:
            await waiter
        finally:
            self._queue.leave(tenant, waiter)

    def _give(self, loop: asyncio.AbstractEventLoop) -> None:
        if loop is self._loop:
            self._given = self._queue.wake()
            if self._given:
                loop.call_soon(self._give, loop)


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


async def off_loop_if_long(
    length: int, work: Callable[_Args, _Result], *args: _Args.args, **kwargs: _Args.kwargs
) -> _Result:
    """The result of ``work(*args, **kwargs)`` over ``length`` characters; raises what it raises."""
    return await off_loop(work, *args, **kwargs) if length >= LONG else work(*args, **kwargs)


async def off_loop(
    work: Callable[_Args, _Result], *args: _Args.args, **kwargs: _Args.kwargs
) -> _Result:
    """The result of ``work(*args, **kwargs)``, which takes long whatever its text; raises alike."""
    loop = asyncio.get_running_loop()
    call: Any = partial(copy_context().run, work, *args, **kwargs)
    result: _Result = await loop.run_in_executor(_thread, call)
    return result
