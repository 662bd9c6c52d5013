"""The parent's side of the sandbox: the host process, and one piece of work through it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from helix.errors import HelixError
from helix.sandbox.frames import (
    HEAD,
    LONGEST_REASON,
    REASON,
    WRONG,
    NoAnswer,
    ProcessEnd,
    Request,
    reason_of,
)

_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "LD_LIBRARY_PATH")
"""Variables a host inherits; keys and the database's address are not among them."""

GRACE = 10.0  # seconds past a limit after which the host itself is taken to hang


class SandboxFailed(HelixError):
    """The process that reads files does not start: no file's fault."""


class HostGone(Exception):
    """The host ended in the middle of a piece of work."""


class HostProcess:
    """The host as its parent has it: a process and the socket it lives by.

    Raises:
        SandboxFailed: there is no place for its temporary folder.
    """

    def __init__(self) -> None:
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="helix-read-"))
        except OSError as error:
            raise SandboxFailed(
                f"no temporary folder can be made ({error.strerror}): make room, or set TMPDIR"
            ) from None
        self.control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-m", "helix.sandbox.host", str(theirs.fileno())],
                cwd=self._folder,
                env=_environment(),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the worker, which closes the host
            )

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        """Ask it to end, which takes its processes along; kill it if it does not."""
        self.control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        self.ensure_gone()

    def ensure_gone(self) -> None:
        """Make sure that the process is gone.

        Raises:
            SandboxFailed: it ended by itself, with an error.
        """
        self.control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        self._process.kill()
        status = self._process.wait()
        with contextlib.suppress(OSError):
            self._folder.rmdir()
        if status > 0:
            raise SandboxFailed(
                "the process that reads files did not start: its message is above; "
                "is Helix installed whole (make install)?"
            )


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    paths = [str(Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH", "")]
    return kept | {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYTHONDONTWRITEBYTECODE": "1",
        # one thread: a fork takes no other along, and files are read side by side anyway
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
        "OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES",  # macOS: else a fork that uses numpy is ended
    }


@contextlib.contextmanager
def open_work(host: HostProcess, request: Request) -> Iterator[tuple[socket.socket, socket.socket]]:
    """The two sockets of a piece of work: the answer's and the status's. Closing them ends it."""
    with contextlib.ExitStack() as open_sockets:
        connection, theirs, status, its = (
            open_sockets.enter_context(end)
            for pair in (socket.socketpair(), socket.socketpair())
            for end in pair
        )
        connection.setblocking(False)
        status.setblocking(False)
        try:
            socket.send_fds(host.control, [request.line()], [theirs.fileno(), its.fileno()])
        except OSError:
            host.ensure_gone()
            raise HostGone from None
        theirs.close()
        its.close()
        yield connection, status


class Frames:
    """The frames of an answer as they come."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    async def next(self, check: Callable[[bytes, int], None]) -> tuple[bytes, bytearray]:
        """Kind and body of the next frame.

        ``check(kind, length)`` raises NoAnswer where the body may not be so long.

        Raises:
            NoAnswer: the frame is the reason why there is no answer, or none that is believed.
            OSError: the answer ends here; how the process ended tells why.
        """
        kind, length = HEAD.unpack(await self._exactly(HEAD.size))
        if kind != REASON:
            check(kind, length)
        elif length > 4 * LONGEST_REASON:
            raise NoAnswer(WRONG)
        body = await self._exactly(length)
        if kind == REASON:
            raise NoAnswer(reason_of(bytes(body)))
        return kind, body

    async def _exactly(self, size: int) -> bytearray:
        loop = asyncio.get_running_loop()
        data = bytearray(size)
        view = memoryview(data)
        while view:
            received = await loop.sock_recv_into(self._connection, view)
            if not received:
                raise ConnectionResetError
            view = view[received:]
        return data


async def receive_end(status: socket.socket) -> ProcessEnd:
    """The end of the process.

    Raises:
        HostGone: it did not: the host did.
    """
    loop = asyncio.get_running_loop()
    line = b""
    with contextlib.suppress(OSError):
        while part := await loop.sock_recv(status, 4096):
            line += part
    if not line.endswith(b"\n"):
        raise HostGone
    return ProcessEnd.of(line)
