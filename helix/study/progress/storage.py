"""Progress in the database: sessions that grow together, counts by the quarter of an hour, totals.

What is stored depends on the actions and not on their order: several servers write what each of
them noted, a second late, of one learner.

What learners do is noted in memory, and written each second. Noting takes a microsecond, waits for
nothing and raises nothing: no answer depends on it. A killed process loses its last second.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Literal

from helix.errors import HelixError
from helix.library.access import Library
from helix.storage.connections import Connected
from helix.storage.statements import progress as sql
from helix.study.progress.actions import (
    TURNED_ON,
    Action,
    Learner,
    RecordedAction,
    quarter_of,
    sessions_of,
)


def store(
    connection: Connected, learner: Learner, actions: Sequence[RecordedAction], idle: timedelta,
    *, if_turned_on: bool = False,
) -> None:  # fmt: skip
    """Add what was noted of ``learner``, inside the caller's transaction.

    ``if_turned_on``: only where the learner wants it, and otherwise nothing is kept.
    """
    whose = {"tenant": learner.tenant, "learner": learner.name}
    wanted = whose | {"wanted": TURNED_ON}
    if if_turned_on and connection.execute(sql.IS_ON, wanted).fetchone() is None:
        return
    if connection.execute(sql.MAY_BE_KEPT, whose).fetchone() != (True,):
        return
    connection.execute(sql.LOCK_LEARNER, {"key": f"progress {learner.tenant} {learner.name}"})
    for session in sessions_of((one.at for one in actions), idle):
        values = {"started": session.started_at, "ended": session.ended_at, "idle": idle}
        connection.execute(sql.MERGE_SESSION, whose | values)
    quarters: Counter[tuple[object, str]] = Counter()
    totals: Counter[str] = Counter()
    for one in actions:
        quarters[quarter_of(one.at), one.action] += one.n
        totals[one.action] += one.n
    values = {
        "quarters": [quarter for quarter, _ in quarters],
        "actions": [action for _, action in quarters],
        "counts": list(quarters.values()),
    }
    connection.execute(sql.ADD_COUNTS, whose | values)
    values = {"actions": list(totals), "counts": list(totals.values())}
    connection.execute(sql.ADD_TOTALS, whose | values)


def switch(connection: Connected, learner: Learner, *, on: bool) -> None:
    """Keep the progress of ``learner`` from now on, or no more of it; what is kept stays."""
    values = {"tenant": learner.tenant, "learner": learner.name, "wanted": TURNED_ON}
    connection.execute(sql.TURN_ON if on else sql.TURN_OFF, values)


def forget(connection: Connected, learner: Learner) -> None:
    """Delete all progress of ``learner``, inside the caller's transaction."""
    for statement in sql.FORGET:
        connection.execute(statement, {"tenant": learner.tenant, "learner": learner.name})


def forget_everybody(connection: Connected) -> int:
    """Delete the progress of all tenants; how many rows."""
    return sum(connection.execute(statement).rowcount for statement in sql.FORGET_ALL)


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
