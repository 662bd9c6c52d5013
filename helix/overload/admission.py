"""Limits on questions: how many are answered at once, how many wait, and whose turn is next.

A server that takes every question answers none in time. So a number of answers is under way, a
bounded number of questions waits, taken from the tenants in turn, and the others are refused at
once with 503 and ``Retry-After``: their callers can go elsewhere while there is still time.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self, TypeVar

from fastapi import HTTPException

from helix.overload.fairness import FairQueue
from helix.overload.limits import Asker

WAIT_SECONDS = 10.0
"""Longest that a question waits for its turn."""
RETRY_SECONDS = 2
_PLACES_PER_FURTHER = 8
"""Ordinary places for each further one, which only a tenant with no answer under way may take."""
_T = TypeVar("_T")


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
        most: answers under way at once. A tenant that has none under way does not wait for one of
            another's to end: for such there is an eighth more.
        waiting: questions that wait for a place; of a tenant that fills the queue the latest
            gives way to another tenant's.
    """

    def __init__(self, most: int, waiting: int) -> None:
        self._most = most
        self._room = waiting
        self._under_way = 0
        self._answering: Counter[str] = Counter()  # by tenant, of those under way
        self._queue = FairQueue()

    def place(
        self, tenant: str, asker: Asker | None = None, decided: Callable[[], None] | None = None
    ) -> Place:
        """A place for one answer of ``tenant``, not yet taken.

        ``asker``: whose it counts as; ``decided`` is called when the place is asked for.
        """
        return Place(self, tenant, asker, decided)

    @property
    def is_full(self) -> bool:
        """True if the next question would be refused, or have to push out another tenant's."""
        return self._under_way >= self._most and len(self._queue) >= self._room

    def has_room(self, more: int) -> bool:
        """True if one question finds a place or waits for one behind ``more`` that come first."""
        return self._under_way + len(self._queue) + more < self._most + self._room

    def gives_way_to(self, tenant: str, more: int = 0) -> bool:
        """True if a full queue takes one of ``tenant`` for another's, behind ``more`` of its own.

        It does for a tenant that would have fewer there than the one that has most.
        """
        return self._queue.longest > self._queue.of(tenant) + more + 1

    async def _enter(self, tenant: str) -> None:
        if self._begins_at_once(tenant):
            self._under_way += 1
        else:
            await self._wait(tenant)
        self._answering[tenant] += 1

    def _begins_at_once(self, tenant: str) -> bool:
        if self._under_way < self._most:
            return not self._queue
        is_new = not self._answering[tenant] and not self._queue.of(tenant)
        return is_new and self._under_way < self._most + self._most // _PLACES_PER_FURTHER

    async def _wait(self, tenant: str) -> None:
        """Wait for a place, where there is room to wait or another makes room."""
        if len(self._queue) >= self._room:
            if not self.gives_way_to(tenant):
                raise Overloaded
            self._queue.push_out(Overloaded())
        turn = self._queue.join(tenant)
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await turn
        except BaseException as error:
            if self._queue.leave(tenant, turn):
                self._pass_on()
            if isinstance(error, TimeoutError):
                raise Overloaded from None
            raise

    def _leave(self, tenant: str) -> None:
        self._answering[tenant] -= 1
        if not self._answering[tenant]:
            del self._answering[tenant]
        self._pass_on()

    def _pass_on(self) -> None:
        """Give a place to whoever is next, if anybody waits and it is none of the further ones."""
        if self._under_way > self._most or not self._queue.wake():
            self._under_way -= 1


class Place:
    """One answer's place: taken by ``run``, left once, at the block's end or after ``until``."""

    def __init__(
        self,
        admission: Admission,
        tenant: str,
        asker: Asker | None = None,
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
        """The result of ``work``, begun when the place is free.

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
            self._admission._leave(self._tenant)
            self._give_back()

    def _give_back(self) -> None:
        if self._asker:
            self._asker.give_place_back()
