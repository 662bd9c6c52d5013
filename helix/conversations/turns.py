"""The answers that this process is making for conversations, each in a task of its own.

A turn goes on when its client leaves. What it tells is kept before anybody is told (liveness.py),
so whoever comes back is told the same; followers in this process are then woken, others look.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, TypeVar

from helix.answering.events import Event
from helix.conversations.liveness import (
    INTERRUPTED,
    LEASE_SECONDS,
    Ending,
    MessageEvent,
    MessageRow,
)
from helix.domain.wire_json import json_bytes
from helix.errors import HelixError

BEAT_SECONDS = 0.5
"""How often a turn without news shows life, and hears that it should stop."""
LOOK_SECONDS = 0.1
"""How often a follower looks for what another process tells."""
_CLOSE_SECONDS = 5.0
_BEYOND = 2**31 - 1
"""A number after which no event comes."""
LAST_EVENTS = frozenset({"done", "error", "stopped", "interrupted"})
"""The events of which each turn has one, at its end."""

Told = Callable[[], AsyncGenerator[Event, None]]
After = Callable[[dict[str, Any]], Awaitable[None]]
"""Is awaited with the response of a turn that is done."""
_T = TypeVar("_T")
_logger = logging.getLogger(__name__)


@dataclass(eq=False)
class Turn:
    """One answer under way.

    Args:
        row: the message, as its owner.
        told: the answer's events, which end with ``done`` or ``error``.
        first: an event that is told before them.
        documents: gives the ids of documents whose words the answer may have by now.
        after: see After.
        leave: is called once, when the turn is over.
    """

    row: MessageRow
    told: Told
    first: Event
    documents: Callable[[], Sequence[int]]
    after: After | None = None
    leave: Callable[[], Awaitable[None]] | None = None
    failure: HelixError | None = None
    """What kept the answer from beginning."""
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
        """Make the answer, keep its events, and end it; returns when all is kept or lost."""
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
        """Close the model's stream; ``closing``: because the server ends, and not by a wish."""
        self._stopped, self._closing = True, closing
        if self._producing:
            self._producing.cancel()

    async def begun(self) -> bool:
        """True once the answer's first piece is kept, or there will be none.

        Raises:
            HelixError: what kept it from beginning.
        """
        async with self._changed:
            await self._changed.wait_for(lambda: len(self._kept) > 1 or self.ended)
        if self.failure:
            raise self.failure
        return True

    async def whole(self) -> bool:
        """True once the turn is over; raises as ``begun`` does."""
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
            async with aclosing(self.told()) as events:
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
        cited = [citation["document_id"] for citation in response.get("citations", ())]
        return Ending(status, response, error, self.documents(), sorted(set(cited)))

    async def _wait(self) -> None:
        """Until there is news, but no longer than a beat."""
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
            self.failure = HelixError(INTERRUPTED)
            self.stop(closing=True)
            return
        await self._kept_now(batch)
        if stop_asked:
            self.stop()

    async def _finish(self, ending: Ending) -> None:
        """Keep how it ended; not for longer than others wait for a sign of life."""
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


class Turns:
    """The turns of one process, by their message."""

    def __init__(self) -> None:
        self.owner = uuid.uuid4().hex
        self._turns: dict[tuple[str, str, int], Turn] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._beginning: set[asyncio.Task[Any]] = set()

    def start(self, turn: Turn) -> None:
        """Begin ``turn`` in a task of its own, which this object holds."""
        key = _key(turn.row)
        self._turns[key] = turn
        task = asyncio.create_task(turn.run())
        self._tasks.add(task)

        def forget(ended: asyncio.Task[None]) -> None:
            self._tasks.discard(ended)
            self._turns.pop(key, None)
            if not ended.cancelled() and (error := ended.exception()):
                _logger.warning("a turn broke off: %s", type(error).__name__)

        task.add_done_callback(forget)

    async def hold(self, beginning: Coroutine[Any, Any, _T]) -> _T:
        """What ``beginning`` gives; it goes on where whoever waits for it leaves."""
        task = asyncio.create_task(beginning)
        self._beginning.add(task)
        task.add_done_callback(self._beginning.discard)
        return await asyncio.shield(task)

    async def stop(self, row: MessageRow) -> str | None:
        """Stop the answer of ``row``, wherever it is made; its status, None where it had ended.

        Raises:
            NotFound: there is no such message.
        """
        if turn := self._turns.get(_key(row)):
            turn.stop()
        elif not await row.ask_to_stop():
            return None
        async for _ in self.follow(row):
            continue
        return (await row.told(_BEYOND))[0]

    async def follow(self, row: MessageRow, after: int = 0) -> AsyncGenerator[MessageEvent, None]:
        """The events of a message after number ``after``, then those to come, until its last.

        Raises:
            NotFound: there is no such message, or no more.
        """
        while True:
            if turn := self._turns.get(_key(row)):
                async for event in turn.events(after):
                    yield event
                    after = event.n
            status, events = await row.told(after)
            for event in events:
                yield event
                after = event.n
            if status != "answering":
                return
            await asyncio.sleep(LOOK_SECONDS)

    async def aclose(self) -> None:
        """Give the turns a moment to end, then mark those that are left as interrupted."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=_CLOSE_SECONDS)
        for turn in list(self._turns.values()):
            turn.stop(closing=True)
        if self._tasks:
            _, late = await asyncio.wait(set(self._tasks), timeout=_CLOSE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)


def _key(row: MessageRow) -> tuple[str, str, int]:
    return row.library.tenant, row.conversation_id, row.message_id
