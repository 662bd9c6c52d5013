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

from helix.errors import HelixError
from helix.library.access import Library
from helix.progress.actions import Action, Learner, Noted
from helix.progress.storing import store

MOST = 10_000
"""Actions that may wait to be written; further ones are dropped, as in a long outage."""
_WRITE_SECONDS, _RETRY_SECONDS = 1.0, 5.0

_logger = logging.getLogger(__name__)


class ProgressLog:
    """The progress of all learners of one process, for one event loop.

    ``idle``: the longest gap within a session. ``kept``: False notes nothing (HELIX_PROGRESS=off).
    """

    def __init__(self, library: Library, idle: timedelta, *, kept: bool = True) -> None:
        self.kept = kept
        self.dropped = 0
        self._library = library
        self._idle = idle
        self._noted: deque[tuple[Learner, Noted]] = deque()
        self._wanted = asyncio.Event()
        self._writing = asyncio.Lock()

    def note(
        self, learner: Learner, action: Action, n: int = 1, at: datetime | None = None
    ) -> None:
        """Note that ``learner`` did ``action`` ``n`` times, now or ``at``; 0 times is nothing."""
        if not self.kept or n < 1:
            return
        if len(self._noted) >= MOST:
            self.dropped += 1
            return
        self._noted.append((learner, Noted(at or datetime.now(UTC), action, n)))
        self._wanted.set()

    async def write(self) -> bool:
        """Write the noted actions; False where that failed: they are kept for the next attempt."""
        async with self._writing:
            taken, self._noted = self._noted, deque()
            waiting: dict[Learner, list[Noted]] = {}
            for learner, noted in taken:
                waiting.setdefault(learner, []).append(noted)
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
                self._put_back(waiting)
        return True

    async def _store(self, learner: Learner, noted: list[Noted]) -> None:
        action = partial(store, learner=learner, noted=noted, idle=self._idle)
        await self._library.of(learner.tenant).change(action)

    def _put_back(self, waiting: dict[Learner, list[Noted]]) -> None:
        left = [(learner, one) for learner, its in waiting.items() for one in its]
        room = max(MOST - len(self._noted), 0)
        self.dropped += max(len(left) - room, 0)
        self._noted.extendleft(reversed(left[:room]))

    async def keep(self) -> None:
        """Write noted actions once a second, until it is cancelled."""
        while True:
            await self._wanted.wait()
            await asyncio.sleep(_WRITE_SECONDS)  # one transaction for the actions of a second
            self._wanted.clear()
            if not await self.write():
                await asyncio.sleep(_RETRY_SECONDS)
                self._wanted.set()
