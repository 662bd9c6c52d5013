"""The actions of a process's learners: noted in memory, and written to the database each second.

Noting takes a microsecond, waits for nothing and raises nothing: no answer depends on it. A killed
process loses the actions of its last second.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Literal

from helix.errors import HelixError
from helix.library.access import Library
from helix.study.progress.actions import Action, Learner, RecordedAction
from helix.study.progress.storage import store

Whose = Literal["ask", "on", "off"]
MOST = 10_000
"""Actions that may wait to be written; further ones are dropped, as in a long outage."""
_WRITE_SECONDS, _RETRY_SECONDS = 1.0, 5.0

_logger = logging.getLogger(__name__)


class ProgressLog:
    """The progress of all learners of one process, for one event loop.

    ``idle``: the longest gap within a session. ``whose`` is HELIX_PROGRESS: ``off`` notes nothing,
    ``ask`` keeps what is noted of those who have turned it on, ``on`` of all.
    """

    def __init__(self, library: Library, idle: timedelta, whose: Whose = "on") -> None:
        self.kept = whose != "off"
        self.asks = whose == "ask"
        self.dropped = 0
        self._library = library
        self._idle = idle
        self._pending: deque[tuple[Learner, RecordedAction]] = deque()
        self._has_pending = asyncio.Event()
        self._writing = asyncio.Lock()

    def note(
        self, learner: Learner, action: Action, n: int = 1, at: datetime | None = None
    ) -> None:
        """Note that ``learner`` did ``action`` ``n`` times, now or ``at``; 0 times is nothing."""
        if not self.kept or n < 1:
            return
        if len(self._pending) >= MOST:
            self.dropped += 1
            return
        self._pending.append((learner, RecordedAction(at or datetime.now(UTC), action, n)))
        self._has_pending.set()

    async def write(self) -> bool:
        """Write the noted actions; False where that failed: they are kept for the next attempt."""
        async with self._writing:
            entries, self._pending = self._pending, deque()
            waiting: dict[Learner, list[RecordedAction]] = {}
            for learner, entry in entries:
                waiting.setdefault(learner, []).append(entry)
            try:
                while waiting:
                    learner, its = waiting.popitem()
                    try:
                        await self._store(learner, its)
                    except HelixError as error:
                        waiting[learner] = its
                        _logger.warning("progress was not written: %s", error)
                        return False
            finally:  # after a failure, and where the task is cancelled
                self._requeue(waiting)
        return True

    async def _store(self, learner: Learner, entries: list[RecordedAction]) -> None:
        action = partial(
            store, learner=learner, actions=entries, idle=self._idle, if_turned_on=self.asks
        )
        await self._library.of(learner.tenant).change(action)

    def _requeue(self, waiting: dict[Learner, list[RecordedAction]]) -> None:
        entries = [(learner, one) for learner, its in waiting.items() for one in its]
        space = max(MOST - len(self._pending), 0)
        self.dropped += max(len(entries) - space, 0)
        self._pending.extendleft(reversed(entries[:space]))

    async def keep(self) -> None:
        """Write noted actions once a second, until it is cancelled."""
        while True:
            await self._has_pending.wait()
            await asyncio.sleep(_WRITE_SECONDS)  # one transaction for the actions of a second
            self._has_pending.clear()
            if not await self.write():
                await asyncio.sleep(_RETRY_SECONDS)
                self._has_pending.set()
