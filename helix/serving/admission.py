"""How many questions are answered at once, how many wait, and whose turn is next.

A server that takes every question answers none in time. So a number of answers is under way, a
bounded number of questions waits, taken from the tenants in turn, and the others are refused at
once with 503 and ``Retry-After``: their callers can go elsewhere while there is still time.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Protocol, Self, TypeVar

from fastapi import HTTPException, Request

from helix.serving.limits import answers_for, asker

WAIT_SECONDS = 10.0
"""Longest that a question waits for its turn."""
RETRY_SECONDS = 2
_T = TypeVar("_T")


class Ticket(Protocol):
    """A question that was let in (helix/serving/door.py)."""

    def close(self) -> None:
        """It is decided whether it is answered."""
        ...


class Counted(Protocol):
    """Whoever asks, counted by what is under way (helix/serving/limits.py)."""

    async def take_place(self) -> None:
        """Count one answer; raises where it is one too many."""
        ...

    def give_place_back(self) -> None:
        """Count it no longer."""
        ...


_Turn = asyncio.Future[None]


class Overloaded(HTTPException):
    """The question was not begun: too many are under way and waiting. 503 on every route."""

    def __init__(self) -> None:
        super().__init__(
            503,
            "too many questions at once (HELIX_ANSWERS, HELIX_ANSWERS_WAITING); try again",
            {"Retry-After": str(RETRY_SECONDS)},
        )


class Admission:
    """The places for answers of one server, for one event loop.

    Args:
        most: answers under way at once.
        waiting: questions that wait for a place; of a tenant that fills the queue the latest
            gives way to another tenant's.
    """

    def __init__(self, most: int, waiting: int) -> None:
        self._most = most
        self._room = waiting
        self._under_way = 0
        self._queues: OrderedDict[str, deque[_Turn]] = OrderedDict()

    def place(
        self, tenant: str, asker: Counted | None = None, decided: Callable[[], None] | None = None
    ) -> Place:
        """A place for one answer of ``tenant``, not yet taken.

        ``asker``: whose it counts as; ``decided`` is called when the place is asked for.
        """
        return Place(self, tenant, asker, decided)

    @property
    def is_full(self) -> bool:
        """Whether the next question would be refused, or have to push out another tenant's."""
        return self._under_way >= self._most and self._waiting() >= self._room

    def has_room(self, more: int) -> bool:
        """Whether one question finds a place or waits for one behind ``more`` that come first."""
        return self._under_way + self._waiting() + more < self._most + self._room

    def gives_way_to(self, tenant: str, more: int = 0) -> bool:
        """Whether a full queue takes one of ``tenant`` for another's, behind ``more`` of its own.

        It does for a tenant that would have fewer there than the one that has most.
        """
        longest = max(map(len, self._queues.values()), default=0)
        return longest > len(self._queues.get(tenant, ())) + more + 1

    def _waiting(self) -> int:
        return sum(map(len, self._queues.values()))

    async def _enter(self, tenant: str) -> None:
        if self._under_way < self._most and not self._queues:
            self._under_way += 1
            return
        turn = self._queued(tenant)
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._leave()  # its turn came in the very moment in which it gave up
            self._forget(tenant, turn)
            if isinstance(error, TimeoutError):
                raise Overloaded from None
            raise

    def _queued(self, tenant: str) -> _Turn:
        """A turn at the end of the tenant's queue, where there is room or another makes room."""
        if self._waiting() >= self._room:
            if not self.gives_way_to(tenant):
                raise Overloaded
            longest = max(self._queues.values(), key=len)
            longest.pop().set_exception(Overloaded())
        turn: _Turn = asyncio.get_running_loop().create_future()
        self._queues.setdefault(tenant, deque()).append(turn)
        return turn

    def _forget(self, tenant: str, turn: _Turn) -> None:
        queue = self._queues.get(tenant)
        if queue is None:
            return
        if turn in queue:
            queue.remove(turn)
        if not queue:
            del self._queues[tenant]

    def _leave(self) -> None:
        """Give the place to the tenant who has waited longest since its last turn, if any does."""
        while self._queues:
            tenant, queue = self._queues.popitem(last=False)
            turn = queue.popleft() if queue else None
            if queue:
                self._queues[tenant] = queue  # behind the others
            if turn is not None and not turn.done():
                turn.set_result(None)
                return
        self._under_way -= 1


class Place:
    """One answer's place: taken by ``run``, left once, at the block's end or after ``until``."""

    def __init__(
        self,
        admission: Admission,
        tenant: str,
        asker: Counted | None = None,
        decided: Callable[[], None] | None = None,
    ) -> None:
        self._admission, self._tenant, self._asker = admission, tenant, asker
        self._decided = decided
        self._taken = False
        self._handed_over = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._handed_over:
            self.leave()

    async def run(self, work: Callable[[], Awaitable[_T]]) -> _T:
        """What ``work`` gives, begun when the place is free.

        Raises:
            Overloaded: it did not become free in time, or no place to wait for it was left.
            LimitReached: whoever asks has enough answers under way or waiting.
        """
        if self._asker:
            await self._asker.take_place()
        if self._decided:
            self._decided()
        try:
            await self._admission._enter(self._tenant)
        except BaseException:
            self._give_back()
            raise
        self._taken = True
        return await work()

    def until(self, close: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
        """``close``, which then leaves the place too: from now on it is held until that."""
        self._handed_over = True

        async def close_and_leave() -> None:
            try:
                await close()
            finally:
                self.leave()

        return close_and_leave

    def leave(self) -> None:
        """Give the place back, once."""
        if self._taken:
            self._taken = False
            self._admission._leave()
            self._give_back()

    def _give_back(self) -> None:
        if self._asker:
            self._asker.give_place_back()


def place_for(request: Request, tenant: str) -> Place:
    """A place for an answer of ``tenant`` on the server of ``request``."""
    admission: Admission = request.state.admission
    ticket: Ticket | None = getattr(request.state, "ticket", None)
    counted = answers_for(asker(request, request.state.caller))
    return admission.place(tenant, counted, ticket.close if ticket else None)
