"""Processes of Helix without the seconds that loading takes: forks of one that has loaded it all.

Each is a process of its own, with its own arguments, environment, output and signals, and runs a
module as ``python -m`` does. What a cold start is like, tests of the entry points see.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO

from tests.support.repository import ROOT

IMPORTED = (
    "helix.app", "helix.commands.doctor", "helix.answering.judging",
    "helix.providers.gemini.embedding", "helix.providers.gemini.llm", "helix.providers.offline",
    "pipelines.crawler.crawl", "pipelines.runs.foreground",
    "pipelines.reembedding.change", "pipelines.program", "dbos._sys_db_postgres",
    "sqlalchemy.dialects.sqlite.aiosqlite", "uvicorn.config", "uvicorn.lifespan.on",
    "uvicorn.protocols.http.auto", "uvicorn.protocols.websockets.auto", "uvloop",
)  # fmt: skip
_NUMBER = struct.Struct("!i")
_START_SECONDS = 110.0
"""A patient limit: on a busy machine the first process waits for all of IMPORTED."""
_asking = threading.Lock()


class Process:
    """A running ``python -m module arguments…``, used as a ``subprocess.Popen`` is.

    What it prints is kept in files, ``communicate`` gives it as text. With ``output`` both its
    outputs go to that file instead.
    """

    def __init__(
        self,
        *command: str,
        cwd: str | Path,
        env: Mapping[str, str],
        output: IO[bytes] | None = None,
    ) -> None:
        self.returncode: int | None = None
        self._outputs: list[IO[bytes]] = [output or _new_file() for _ in range(2)]
        self._status, theirs = socket.socketpair()
        asked = json.dumps([[*command], str(cwd), {**env}]).encode()
        with theirs:
            sent = [*(each.fileno() for each in self._outputs), theirs.fileno()]
            with _asking:
                socket.send_fds(_nursery(), [_NUMBER.pack(len(asked))], sent)
                _nursery().sendall(asked)
        self.pid = 0
        self.pid = 0  # until it is told
        self.pid = self._told(_START_SECONDS)

    def poll(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self.wait(60)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self.returncode = self._told(timeout)
            self._status.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Both outputs, once it has ended."""
        self.wait(timeout)
        told = []
        for output in self._outputs:
            output.seek(0)
            told.append(output.read().decode())
            output.close()
        return told[0], told[1]

    def _told(self, timeout: float | None) -> int:
        self._status.settimeout(timeout)
        try:
            told = self._status.recv(_NUMBER.size, socket.MSG_WAITALL)
        except TimeoutError:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0) from None
        assert told, "the process that starts the others is gone"
        return int(_NUMBER.unpack(told)[0])


def _new_file() -> IO[bytes]:
    return tempfile.TemporaryFile()


@cache
def _nursery() -> socket.socket:
    """The socket of the process that the others are forks of; it ends with this one."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.warm_processes", str(theirs.fileno())],
            cwd=ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def end() -> None:
        ours.shutdown(socket.SHUT_RDWR)
        process.wait(10)

    atexit.register(end)
    return ours


# --- in the process that the others are forks of


def _serve(control: socket.socket) -> str | None:
    """Start what is asked for until nobody can ask (None); in what was started, its module."""
    woken, wake = socket.socketpair()
    wake.setblocking(False)
    woken.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    running: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([control, woken], [], [])
        if woken in ready:
            woken.recv(4096)
            _bury(running)
        if control not in ready:
            continue
        head, files, _, _ = socket.recv_fds(control, _NUMBER.size, 3)
        if not head:
            return None
        size = _NUMBER.unpack(head)[0]
        asked = json.loads(control.recv(size, socket.MSG_WAITALL))
        status = socket.socket(fileno=files.pop())
        if (pid := os.fork()) == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            # A shell's background job ignores it, and so would whatever a test starts there.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for end in (control, woken, wake, status, *running.values()):
                end.close()
            return _become(*asked, *files)
        running[pid] = status
        status.sendall(_NUMBER.pack(pid))
        for descriptor in files:
            os.close(descriptor)


def _bury(running: dict[int, socket.socket]) -> None:
    """Tell how the processes ended that have."""
    with suppress(ChildProcessError):  # there is none
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            with running.pop(ended[0]) as status, suppress(OSError):  # nobody may wait for it
                status.sendall(_NUMBER.pack(os.waitstatus_to_exitcode(ended[1])))


def _become(command: list[str], cwd: str, env: dict[str, str], out: int, err: int) -> str:
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    for descriptor, number in ((out, 1), (err, 2)):
        os.dup2(descriptor, number)
        os.close(descriptor)
    module, *_ = sys.argv[:] = command
    sys.path[0] = cwd
    tempfile.tempdir = None
    if not hasattr(sys.modules.get(module), "__path__"):
        sys.modules.pop(module, None)  # it is __main__, as in a cold start
    return module


def _warm() -> None:
    """Load what each process would load for itself; the last two take 0.4 s of a processor."""
    for name in IMPORTED:
        import_module(name)
    import_module("llama_index.core.utils").get_tokenizer()
    import_module("helix.evidence.vectors").word_vectors()


if __name__ == "__main__":
    gc.disable()  # importing makes no garbage
    _warm()
    gc.collect()
    gc.freeze()  # else the collector of each goes over, and so copies, all that they share
    gc.enable()
    if (started := _serve(socket.socket(fileno=int(sys.argv[1])))) is not None:
        runpy.run_module(started, run_name="__main__", alter_sys=True)
