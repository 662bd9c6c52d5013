"""A watch over a server's threads and connections, which replaces them where all are stuck.

Both are few, and a request that blocks all of them blocks every other. So the watch asks each again
and again for a no-op. /readyz reports those that do not return, and new ones take their place. A
server that keeps losing them ends, for its supervisor to start another.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from helix.errors import StoreUnavailable
from helix.storage.statements import upkeep as sql
from helix.storage.tenant_store import TenantStore

LOOK_SECONDS = 10.0
PATIENCE_SECONDS = 10.0
"""Seconds that a thread may take for a no-op: longer than storing a large upload takes."""
MOST_REPAIRS = 5
"""The most replacements of threads and connections; each costs what the stuck ones hold."""

_logger = logging.getLogger(__name__)


class HealthWatch:
    """The watch over one server's threads and connections, for one event loop.

    Args:
        store: the store whose connections are watched.
        end: ends the process, after its answers.
        patience: seconds that a thread may take to come back.
    """

    def __init__(
        self,
        store: TenantStore,
        end: Callable[[], None] = lambda: os.kill(os.getpid(), signal.SIGTERM),
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._store = store
        self._end = end
        self._patience = patience
        self._repairs = 0
        self.stuck: str | None = None
        """``threads`` or ``connections`` while these are stuck; /readyz reports it."""

    async def watch(self) -> None:
        """Look at regular times, until it is cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self.look()

    async def look(self) -> None:
        """Look once, and replace stuck threads or connections."""
        if await self._threads_are_stuck():
            self._report_stuck("threads")
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())
        elif await self._connections_are_stuck():
            self._report_stuck("connections")
            self._store.connections.renew_reading()
        else:
            self.stuck = None

    def _report_stuck(self, stuck: str) -> None:
        """Report what is stuck; after MOST_REPAIRS replacements the process ends."""
        self.stuck = stuck
        self._repairs += 1
        if self._repairs <= MOST_REPAIRS:
            _logger.error("all %s are stuck: new ones take their place", stuck)
            return
        _logger.critical("all %s are stuck, once too often: this process ends", stuck)
        self._end()

    async def _threads_are_stuck(self) -> bool:
        """True if no thread has run a no-op within the patience."""
        no_op = asyncio.get_running_loop().run_in_executor(None, lambda: None)
        done, _ = await asyncio.wait([no_op], timeout=self._patience)
        return not done

    async def _connections_are_stuck(self) -> bool:
        """True if twice no read got a connection of a database that answers.

        Once is not enough: a read that waited for a database which was away ends in vain, although
        it is back by then, and the pool is about to connect.
        """
        for _ in range(2):
            if await self._some_read_begins() or not await self._store.connections.ping():
                return False
        return True

    async def _some_read_begins(self) -> bool:
        """True if a read got a connection, or another did while it waited."""
        before = self._store.connections.reads_started
        try:
            await self._store.fetch(sql.ANSWERS, {})
        except StoreUnavailable:
            return self._store.connections.reads_started > before
        return True
