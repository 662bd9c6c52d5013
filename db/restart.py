"""An embedded Postgres whose supervisor was killed: started again by a process that uses it."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from pathlib import Path

from db.embedded_postgres import START_SECONDS, Layout, ensure_running, open_lock, read_report
from db.errors import DatabaseError

try:
    import fcntl
except ImportError:  # Windows, where there is no embedded Postgres
    fcntl = None  # type: ignore[assignment]

PAUSE_SECONDS = 1.0
"""The pause after a start, so that a supervisor that fails at once is not started in a loop."""


class Restarter:
    """Starts the supervisor of ``directory`` again, for as long as ``stop`` was not called.

    A thread waits for the lock that a supervisor holds, which costs nothing, and gets it when the
    supervisor has ended. One that was asked to stop leaves an empty report, and is left in peace.
    """

    def __init__(self, directory: Path) -> None:
        self._layout = Layout(directory)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="helix-restart", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Start no more supervisors; the thread ends with the present one."""
        self._stopped.set()

    def _is_wanted(self) -> bool:
        return not self._stopped.is_set()

    def _watch(self) -> None:
        while self._is_wanted():
            descriptor = open_lock(self._layout.supervisor_lock)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                killed = bool(read_report(descriptor))
                # Unlocked and not only closed: a process that was forked off meanwhile has the
                # descriptor too, and would keep the lock.
                fcntl.flock(descriptor, fcntl.LOCK_UN)
            finally:
                os.close(descriptor)
            if not (self._is_wanted() and killed):
                return
            with suppress(DatabaseError, OSError):  # its log says why; the next try may do
                # One that it starts may end before this sees it ready, for its user went meanwhile.
                deadline = time.monotonic() + START_SECONDS
                ensure_running(self._layout, deadline, is_wanted=self._is_wanted)
            time.sleep(PAUSE_SECONDS)
