"""One answer of a conversation under way: its events are stored before any client gets them.

So a client that comes back gets the same events (liveness.py). Followers in this process are woken
by each stored event.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from helix.answering.events import Event
from helix.conversations.liveness import (
    INTERRUPTED,
    LEASE_SECONDS,
    Ending,
    MessageEvent,
    MessageRow,
)
from helix.domain.contract import json_bytes
from helix.errors import HelixError

BEAT_SECONDS = 0.5
"""Seconds after which a turn without events renews its lease, and sees a request to stop."""
LAST_EVENTS = frozenset({"done", "error", "stopped", "interrupted"})
"""The last events: each turn ends with one of them."""

Produce = Callable[[], AsyncGenerator[Event, None]]
After = Callable[[dict[str, Any]], Awaitable[None]]
"""Is awaited with the response of a turn that is done."""
_logger = logging.getLogger(__name__)


@dataclass(eq=False)
class OngoingAnswer:
    """One answer under way.

    Args:
        row: the message, as its owner.
        produce: the answer's events, which end with ``done`` or ``error``.
        first: an event before them.
        documents: gives the ids of documents whose words the answer may have by now.
        after: see After.
        leave: is called once, when the turn is over.
    """

    row: MessageRow
    produce: Produce
    first: Event
    documents: Callable[[], Sequence[int]]
    after: After | None = None
    leave: Callable[[], Awaitable[None]] | None = None
    failure: HelixError | None = None
    """The error that prevented the answer from beginning."""
    ended: bool = False
    response: dict[str, Any] = field(default_factory=dict)
    _kept: list[MessageEvent] = field(default_factory=list)
    _pending: list[MessageEvent] = field(default_factory=list)
    _numbered: int = 0
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _answer: list[str] = field(default_factory=list)
    _stopped: bool = False
    _closing: bool = False
    _producing: asyncio.Task[Ending] | None = None

    async def run(self) -> None:
        """Make the answer, store its events and end it; returns once the end is stored or lost."""
        self._add(*self.first)
        self._producing = asyncio.create_task(self._produce())
        try:
            while not self._producing.done():
                await self._wait()
                await self._keep_pending()
            ending = self._producing.result()
            await self._finish(ending)
        finally:
            self._producing.cancel()
            if self.leave:
                await self.leave()
            async with self._changed:
                self.ended = True
                self._changed.notify_all()
        if ending.status == "done" and self.after:
            await self.after(ending.response)

    def stop(self, *, closing: bool = False) -> None:
        """Close the model's stream; ``closing``: because the server ends, not by a request."""
        self._stopped, self._closing = True, closing
        if self._producing:
            self._producing.cancel()

    async def started(self) -> bool:
        """True once the answer's first piece is stored, or there will be none.

        Raises:
            HelixError: the error that prevented it from beginning.
        """
        async with self._changed:
            await self._changed.wait_for(lambda: len(self._kept) > 1 or self.ended)
        if self.failure:
            raise self.failure
        return True

    async def whole(self) -> bool:
        """True once the turn is over; raises as ``started`` does."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.ended)
        if self.failure:
            raise self.failure
        return True

    async def events(self, after: int) -> AsyncGenerator[MessageEvent, None]:
        """The events after number ``after``, as they are kept, until the turn is over."""
        while True:
            for event in self._kept[after:]:
                yield event
                after = event.n
            async with self._changed:
                while len(self._kept) <= after:
                    if self.ended:
                        return
                    await self._changed.wait()

    def _add(self, name: str, payload: Any) -> None:
        self._numbered += 1
        self._pending.append(MessageEvent(self._numbered, name, json_bytes(payload).decode()))
        self._news.set()

    async def _produce(self) -> Ending:
        try:
            async with aclosing(self.produce()) as events:
                async for name, payload in events:
                    if name in LAST_EVENTS:
                        return self._ending(name, payload)
                    self._take(name, payload)
                    self._add(name, payload)
            raise AssertionError("an answer ends with an event that says how")
        except asyncio.CancelledError:
            if not self._stopped:
                raise
            status = "interrupted" if self._closing else "stopped"
            error = INTERRUPTED if self._closing else ""
            self._add(status, {"error": error} if error else {})
            return self._ended(status, {"answer": "".join(self._answer)}, error)
        except HelixError as error:
            self.failure = error
            return self._ending("error", {"error": str(error)})
        except Exception as error:  # noqa: BLE001  whoever follows is told, and the log where
            _logger.warning("no answer: %s", type(error).__name__)
            self.failure = HelixError("the answer could not be made: the server's log says why")
            return self._ending("error", {"error": str(self.failure)})

    def _take(self, name: str, payload: Any) -> None:
        if name == "token":
            self._answer.append(payload["t"])
        elif name in ("citations", "verdict"):
            self.response[name] = payload

    def _ending(self, name: str, payload: dict[str, Any]) -> Ending:
        self._add(name, payload)
        if name == "error":
            return self._ended("failed", {}, payload["error"])
        self.response = {"answer": "".join(self._answer), **self.response, **payload}
        return self._ended("done", self.response)

    def _ended(self, status: str, response: dict[str, Any], error: str = "") -> Ending:
        cited = {citation["document_id"] for citation in response.get("citations", ())}
        return Ending(status, response, error, self.documents(), sorted(cited - {None}))

    async def _wait(self) -> None:
        """Wait for the next event, BEAT_SECONDS at most."""
        assert self._producing is not None
        news = asyncio.create_task(self._news.wait())
        try:
            await asyncio.wait(
                {news, self._producing}, timeout=BEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            news.cancel()

    async def _keep_pending(self) -> None:
        if self._producing is None or self._producing.done():
            return  # the last events are kept together with the end
        self._news.clear()
        batch = list(self._pending)
        try:
            stop_asked = await self.row.append(batch, self.documents())
        except HelixError as error:
            _logger.warning("events were not kept: %s", error)
            await asyncio.sleep(BEAT_SECONDS)
            return
        if stop_asked is None:
            self.failure = await self._loss()
            self.stop(closing=True)
            return
        await self._kept_now(batch)
        if stop_asked:
            self.stop()

    async def _loss(self) -> HelixError:
        """The error of an answer that this process has no more: deleted, or interrupted."""
        try:
            await self.row.read_events(self._numbered)
        except HelixError as error:
            return error
        return HelixError(INTERRUPTED)

    async def _finish(self, ending: Ending) -> None:
        """Store the end of the answer; gives up after LEASE_SECONDS, when others interrupt it."""
        deadline = asyncio.get_running_loop().time() + LEASE_SECONDS
        batch = list(self._pending)
        while True:
            try:
                if await self.row.finish(ending, batch):
                    await self._kept_now(batch)
                return
            except HelixError as error:
                _logger.warning("the end of an answer was not kept: %s", error)
                if asyncio.get_running_loop().time() > deadline:
                    self.failure = error
                    return
                await asyncio.sleep(BEAT_SECONDS)

    async def _kept_now(self, batch: list[MessageEvent]) -> None:
        del self._pending[: len(batch)]
        async with self._changed:
            self._kept += batch
            self._changed.notify_all()
