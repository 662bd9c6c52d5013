"""The supervisor of one llama.cpp server: starts, watches, and stops it with its last user.

``shared_server.py`` starts ``python -m`` this with ``FOLDER LOCK_DESCRIPTOR``; see there for the
locks. llama.cpp holds the interpreter's lock while it loads, so what watches it is a
process of its own. Where the supervisor is killed, the kernel kills llama.cpp (Linux); elsewhere
llama.cpp ends when its standard input does.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from db.embedded_postgres import last_line, open_lock, try_lock, write_report
from helix.providers.local_models.shared_server import Layout

USERS_SECONDS = 0.5
"""Between two looks at whether anybody uses the server."""
_LEAST_PAUSE, _LONGEST_PAUSE = 0.1, 10.0
"""Seconds before a server that ended is started again, from the second time on: longer each time,
if it ends at once."""
_SETTLED_SECONDS = 10.0
_LONGEST_REASON = 300
_LOADING_ATTEMPTS = 3
_KILLED = "it was killed while it was loaded; there may be too little memory"


class Supervisor:
    """One folder's server, from its start to its end, in one thread."""

    def __init__(self, folder: Path, lock: int) -> None:
        self._layout = Layout(folder)
        self._lock = lock
        self._users = open_lock(self._layout.users_lock)
        self._pause = 0.0
        self._killed = 0

    def run(self) -> None:
        """Serve until nobody holds ``users.lock``, or the model cannot be loaded."""
        while True:
            started = time.monotonic()
            server = self._started()
            try:
                loaded = self._watched(server)
            finally:
                write_report(self._lock, {})
                _end(server)
            if loaded is None:
                return
            if not loaded and not self._may_load_again(server.returncode):
                return
            if time.monotonic() - started > _SETTLED_SECONDS:
                self._pause = 0.0
            if self._abandoned_within(self._pause):
                return
            self._pause = min(max(self._pause * 2, _LEAST_PAUSE), _LONGEST_PAUSE)

    def _may_load_again(self, status: int) -> bool:
        """True if a server that ended with ``status`` before it had loaded is worth another try.

        One that was killed is, a few times; for any other end the report says why.
        """
        killed = status == -signal.SIGKILL
        self._killed += killed
        if killed and self._killed < _LOADING_ATTEMPTS:
            return True
        reason = _KILLED if killed else _reason(self._layout.log)
        write_report(self._lock, {"error": reason})
        return False

    def _started(self) -> subprocess.Popen[bytes]:
        server = subprocess.Popen(
            [sys.executable, "-P", "-m", "helix.providers.local_models.llama_server"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self._key = secrets.token_urlsafe(32)
        asked = json.loads(self._layout.options.read_text())
        told = json.dumps({**asked, "key": self._key, "parent": os.getpid()})
        assert server.stdin
        with suppress(BrokenPipeError):  # it has ended: its output shows it
            server.stdin.write(told.encode() + b"\n")
            server.stdin.flush()
        return server

    def _watched(self, server: subprocess.Popen[bytes]) -> bool | None:
        """Watch until the server ends: whether it had loaded. None where nobody uses it any more.

        The first line that it writes is its address; its output ends with it.
        """
        assert server.stdout
        loaded = False
        while not self._abandoned():
            if not select.select([server.stdout], [], [], USERS_SECONDS)[0]:
                continue
            line = os.read(server.stdout.fileno(), 4096)
            if not line:
                return loaded
            if not loaded:
                loaded = True
                write_report(self._lock, {"url": line.decode().strip(), "key": self._key})
        return None

    def _abandoned(self) -> bool:
        """True if nobody uses the server. The lock, once taken, is held until this process ends:
        a process that comes now waits, and starts a supervisor of its own."""
        return try_lock(self._users, exclusive=True)

    def _abandoned_within(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while not self._abandoned():
            if (left := end - time.monotonic()) <= 0:
                return False
            time.sleep(min(USERS_SECONDS, left))
        return True


def _reason(log: Path) -> str:
    """The reason why a model was not loaded: llama.cpp's first error, else the last line of all."""
    lines = log.read_text(errors="replace").splitlines()
    errors = (line.partition(" E ")[2].strip() for line in lines)
    return next(filter(None, errors), last_line(log))[:_LONGEST_REASON]


def _end(server: subprocess.Popen[bytes]) -> None:
    """Kill the server, which keeps nothing that could be lost."""
    server.kill()
    server.wait()
    for pipe in (server.stdin, server.stdout):
        assert pipe
        with suppress(BrokenPipeError):
            pipe.close()


def main() -> None:
    """Leave the process that started this one, and keep the server."""
    if os.fork():
        os._exit(0)
    Supervisor(Path(sys.argv[1]), int(sys.argv[2])).run()


if __name__ == "__main__":
    main()
