"""The host of confined processes: ``python -m helix.sandbox.host FD``, started by Sandbox.

It has one thread and the libraries imported, and forks a process for each file. It sees none of a
file's bytes and believes nothing of what its processes say: it starts them, stops them when their
time is over or nobody waits for them, and tells how they ended. It ends with the socket ``FD``.
"""

from __future__ import annotations

import contextlib
import gc
import os
import re
import selectors
import signal
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from helix.sandbox import child
from helix.sandbox.confinement import confine_host
from helix.sandbox.frames import ProcessEnd, Request

_MB = 1024 * 1024
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes that ru_maxrss counts in

_NO_MEMORY = re.compile(rb"memory allocation of \d+ bytes failed|bad_alloc|out of memory", re.I)
"""Messages that Rust, C++ and C libraries print before they abort because an allocation failed."""


@dataclass
class _Reading:
    """A process that reads a file: until when it may, whom to tell, what it prints to."""

    deadline: float
    status: socket.socket
    printed: int
    timed_out: bool = False


class _Host:
    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._readings: dict[int, _Reading] = {}
        self._line = bytearray()
        self._descriptors: list[int] = []
        self._imported: set[str] = set()
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ, None)
        self._woken, wake = socket.socketpair()
        for end in (self._woken, wake):
            end.setblocking(False)
        self._selector.register(self._woken, selectors.EVENT_READ, None)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake.detach(), warn_on_full_buffer=False)

    def run(self) -> None:
        """Until the control socket ends; then nothing it started is left."""
        try:
            while self._turn():
                pass
        finally:
            for pid in self._readings:
                _kill(pid)

    def _turn(self) -> bool:
        for key, _ in self._selector.select(self._patience()):
            if key.fileobj is self._control:
                if not self._hear():
                    return False
            elif key.fileobj is self._woken:
                with contextlib.suppress(BlockingIOError):
                    self._woken.recv(4096)
            elif key.data in self._readings:  # who asked has left
                self._selector.unregister(key.fileobj)
                _kill(key.data)
        self._stop_the_late()
        self._reap()
        return True

    def _patience(self) -> float | None:
        waiting = [one.deadline for one in self._readings.values() if not one.timed_out]
        return max(0.0, min(waiting) - time.monotonic()) if waiting else None

    def _hear(self) -> bool:
        """Take requests; False when there will be none any more."""
        data, descriptors, _, _ = socket.recv_fds(self._control, 65536, 16)
        self._descriptors += descriptors
        self._line += data
        while (end := self._line.find(b"\n")) >= 0:
            request = Request.of(bytes(self._line[:end]))
            del self._line[: end + 1]
            connection, status = (socket.socket(fileno=self._descriptors.pop(0)) for _ in "cs")
            self._start(request, connection, status)
        return bool(data)

    def _start(self, request: Request, connection: socket.socket, status: socket.socket) -> None:
        self._prepare([request.work.partition(":")[0], *request.modules])
        host = os.getpid()
        printed, print_to = os.pipe()
        for end in (printed, print_to):  # full, it takes no more; empty, it gives nothing
            os.set_blocking(end, False)
        with connection:
            pid = os.fork()
            if pid == 0:
                child.run(request, connection, print_to, host)
        os.close(print_to)
        self._readings[pid] = _Reading(time.monotonic() + request.seconds, status, printed)
        self._selector.register(status, selectors.EVENT_READ, pid)

    def _prepare(self, modules: Sequence[str]) -> None:
        """Import what a kind of work needs when the first of it comes, once for all the forks."""
        if missing := [name for name in modules if name not in self._imported]:
            self._imported.update(missing)
            for name in missing:
                with contextlib.suppress(Exception):  # then the fork fails the same way, and says
                    import_module(name)
            gc.freeze()  # what is here now is not looked at again, so forks share its memory

    def _stop_the_late(self) -> None:
        now = time.monotonic()
        for pid, reading in self._readings.items():
            if not reading.timed_out and reading.deadline <= now:
                reading.timed_out = True
                _kill(pid)

    def _reap(self) -> None:
        """Tell of each process that ended, and stop what it started and left behind."""
        ended = 0
        with contextlib.suppress(ChildProcessError):
            while (found := os.wait4(-1, os.WNOHANG))[0]:
                pid, status, usage = found
                ended += 1
                if pid in self._readings:
                    killed = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
                    self._tell(pid, killed, usage.ru_maxrss * _PEAK_UNIT // _MB)
        if ended:
            for stray in _children() - self._readings.keys():
                _kill(stray)

    def _tell(self, pid: int, killed: int, peak_mb: int) -> None:
        _kill_group(pid)
        reading = self._readings.pop(pid)
        with contextlib.suppress(KeyError):
            self._selector.unregister(reading.status)
        out_of_memory = bool(_NO_MEMORY.search(_printed(reading.printed)))
        ended = ProcessEnd(killed, reading.timed_out, peak_mb, out_of_memory)
        with reading.status, contextlib.suppress(OSError):
            reading.status.sendall(ended.line())


def _printed(descriptor: int) -> bytes:
    """The output printed last; the pipe is closed."""
    try:
        return os.read(descriptor, 65536)
    except BlockingIOError:  # nothing, and somebody has it open still
        return b""
    finally:
        os.close(descriptor)


def _children() -> set[int]:
    """Children of this process, adopted orphans included; empty where the system tells none."""
    with contextlib.suppress(OSError):
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
        return {int(pid) for pid in children.split()}
    return set()


def _kill(pid: int) -> None:
    _kill_group(pid)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def main() -> None:
    folder = Path.cwd()
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    confine_host()
    try:
        _Host(control).run()
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()


if __name__ == "__main__":
    main()
