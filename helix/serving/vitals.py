"""Whether the threads and the connections of a server still get anywhere, and what mends them.

Both are few, and what blocks all of them blocks every request: so each is asked to do nothing, over
and over. Those that do not come back are told by /readyz and left behind for new ones. A server
that keeps losing them ends, and whoever watches over it starts another.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from helix.errors import StoreUnavailable
from helix.storage.tenant_store import TenantStore

LOOK_SECONDS = 10.0
PATIENCE_SECONDS = 10.0
"""How long a thread may take to come back: longer than storing a large upload takes one."""
MOST_MENDED = 5
"""So often threads and connections are left behind; each time costs what they hold."""

_logger = logging.getLogger(__name__)


class Vitals:
    """What was found of a server's threads and connections; of one event loop.

    Args:
        store: whose connections are looked at.
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
        self._mended = 0
        self.stuck: str | None = None
        """``threads`` or ``connections`` while they are; /readyz tells it."""

    async def watch(self) -> None:
        """Look again and again, until it is cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self.look()

    async def look(self) -> None:
        """Look once, and mend what is stuck."""
        if await self._threads_are_stuck():
            self._found("threads")
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())
        elif await self._connections_are_stuck():
            self._found("connections")
            self._store.renew_reading()
        else:
            self.stuck = None

    def _found(self, stuck: str) -> None:
        """Tell what is stuck; with it once too often the process ends."""
        self.stuck = stuck
        self._mended += 1
        if self._mended <= MOST_MENDED:
            _logger.error("all %s are stuck: new ones take their place", stuck)
            return
        _logger.critical("all %s are stuck, once too often: this process ends", stuck)
        self._end()

    async def _threads_are_stuck(self) -> bool:
        """Whether no thread has had time for a no-op."""
        no_op = asyncio.get_running_loop().run_in_executor(None, lambda: None)
        done, _ = await asyncio.wait([no_op], timeout=self._patience)
        return not done

    async def _connections_are_stuck(self) -> bool:
        """Whether a read got no connection, nor any other meanwhile, of a database that answers."""
        before = self._store.reads_begun
        try:
            await self._store.fetch("SELECT 1", {})
        except StoreUnavailable:
            return self._store.reads_begun == before and await self._store.ping()
        return False
