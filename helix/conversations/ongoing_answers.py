"""The answers that this process is making for conversations, each in a task of its own.

A turn goes on when its client leaves. Its followers in this process are woken by each event; those
in other processes poll the database.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator, Coroutine
from typing import Any, TypeVar

from helix.conversations.liveness import MessageEvent, MessageRow
from helix.conversations.ongoing_answer import OngoingAnswer
from helix.domain.contract import json_bytes
from helix.errors import NotFound

DELETED = "the conversation was deleted while it was answered"
"""The error of the last event of such an answer."""
LOOK_SECONDS = 0.1
"""Seconds between a follower's polls for the events of another process."""
_CLOSE_SECONDS = 5.0
_BEYOND = 2**31 - 1
"""A number after which no event comes."""
_T = TypeVar("_T")
_logger = logging.getLogger(__name__)


class OngoingAnswers:
    """The ongoing answers of one process, by their message."""

    def __init__(self) -> None:
        self.owner = uuid.uuid4().hex
        self._turns: dict[tuple[str, str, int], OngoingAnswer] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._beginning: set[asyncio.Task[Any]] = set()

    def start(self, turn: OngoingAnswer) -> None:
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
        """The result of ``beginning``, which goes on where its caller is cancelled."""
        task = asyncio.create_task(beginning)
        self._beginning.add(task)
        task.add_done_callback(self._beginning.discard)
        return await asyncio.shield(task)

    async def stop(self, row: MessageRow) -> str | None:
        """Stop the answer of ``row``, in whatever process; its status, None where it had ended.

        Raises:
            NotFound: there is no such message.
        """
        if turn := self._turns.get(_key(row)):
            turn.stop()
        elif not await row.ask_to_stop():
            return None
        async for _ in self.follow(row):
            continue
        return (await row.read_events(_BEYOND))[0]

    async def follow(self, row: MessageRow, after: int = 0) -> AsyncGenerator[MessageEvent, None]:
        """The events of a message after number ``after``, then those to come, until its last.

        That of a message which is deleted meanwhile is an ``error``, which nothing has stored.

        Raises:
            NotFound: there is no such message.
        """
        was_there = False
        while True:
            if turn := self._turns.get(_key(row)):
                was_there = True
                async for event in turn.events(after):
                    yield event
                    after = event.n
            try:
                status, events = await row.read_events(after)
            except NotFound:
                if not was_there:
                    raise
                yield MessageEvent(after + 1, "error", json_bytes({"error": DELETED}).decode())
                return
            was_there = True
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
