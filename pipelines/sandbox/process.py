"""The host of reading processes as its parent has it: started, asked, and certainly ended."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from helix.errors import HelixError
from pipelines.sandbox.request import Request

_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "LD_LIBRARY_PATH")
"""Variables a host inherits; keys and the database's address are not among them."""

GRACE = 10.0  # seconds past a limit after which the host itself is taken to hang


class SandboxFailed(HelixError):
    """The process that reads files does not start: no file's fault."""


class HostGone(Exception):
    """The host ended during a read."""


class HostProcess:
    """The host as its parent has it: a process and the socket it lives by."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="helix-read-"))
        self.control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-m", "pipelines.sandbox.host", str(theirs.fileno())],
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
        self.bury()

    def bury(self) -> None:
        """Make sure that it is gone.

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
def asked(host: HostProcess, request: Request) -> Iterator[tuple[socket.socket, socket.socket]]:
    """The two sockets of a read: the answer's and the status's. Closing them ends the read."""
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
            host.bury()
            raise HostGone from None
        theirs.close()
        its.close()
        yield connection, status
