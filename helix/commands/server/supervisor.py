"""Several processes that answer on one port: started, watched, replaced and ended by their parent.

They share nothing but the listening socket and the files of their metrics. Each is a program of its
own (helix.commands.server.process), so a new one has the code and the settings of its moment.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import tempfile
import time
from asyncio.subprocess import Process
from collections.abc import Callable, Sequence
from contextlib import suppress

from helix.errors import SettingsError
from helix.telemetry.shared_metrics import FOLDER, process_ended

MODULE = "helix.commands.server.process"
READY = b"1"
DRAIN_SECONDS = 40.0
"""Longer than a process takes to end its answers and then its workers; after that it is killed."""
_LEAST_WAIT, _LONGEST_WAIT = 0.5, 30.0
"""Seconds before a process that ended is started again: longer each time, if it ends at once."""
_SETTLED_SECONDS = 10.0

_logger = logging.getLogger(__name__)


class Child:
    """One process that answers: its place in the list, and the line that ties it to its parent.

    It says on the line that it listens, and ends by itself where the line breaks.
    """

    def __init__(self, number: int, process: Process, line: socket.socket) -> None:
        self.number = number
        self.pid = process.pid
        self.started = time.monotonic()
        self._process = process
        self._line = line

    async def is_ready(self) -> bool:
        """True if the process listens; False where it ended before."""
        return await asyncio.get_running_loop().sock_recv(self._line, 1) == READY

    async def ended(self) -> int:
        """Its exit status, once it has ended."""
        return await self._process.wait()

    async def stop(self) -> None:
        """Let it finish what it answers, then end it."""
        with suppress(ProcessLookupError):
            self._process.terminate()
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                await self._process.wait()
        except TimeoutError:
            _logger.warning("process %d did not end in time: killed", self.pid)
            self._process.kill()
            await self._process.wait()

    def close(self) -> None:
        """Forget it, once it has ended."""
        self._line.close()


class Supervisor:
    """The processes of one server.

    Args:
        host: the address that the sockets are bound to.
        descriptors: of the bound sockets.
        processes: how many there are, 2 or more.
        module: the program of each.
    """

    def __init__(
        self, host: str, descriptors: Sequence[int], processes: int, module: str = MODULE
    ) -> None:
        self._host = host
        self._descriptors = descriptors
        self._most = processes
        self._module = module
        self._children: dict[int, Child] = {}
        self._changing = [asyncio.Lock() for _ in range(processes)]
        self._folder = ""

    async def run(self, listening: Callable[[], None]) -> bool:
        """Keep all of them until SIGTERM or SIGINT; False where the first did not start.

        The first starts alone: what stops it would stop them all, and is told once.

        Raises:
            SettingsError: there is no folder for their metrics.
        """
        ending, reloading = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, ending.set)
        loop.add_signal_handler(signal.SIGHUP, reloading.set)
        with _metrics_folder() as self._folder:
            work = asyncio.create_task(self._keep_all(listening, reloading))
            waiting = asyncio.create_task(ending.wait())
            await asyncio.wait({work, waiting}, return_when=asyncio.FIRST_COMPLETED)
            started = bool(self._children)
            for task in (work, waiting):
                task.cancel()
            await asyncio.gather(work, waiting, return_exceptions=True)
            await asyncio.gather(*(child.stop() for child in self._children.values()))
        return started or ending.is_set()

    async def _keep_all(self, listening: Callable[[], None], reloading: asyncio.Event) -> None:
        if not await self._start(0):
            return
        await asyncio.gather(*(self._start(number) for number in range(1, self._most)))
        listening()
        async with asyncio.TaskGroup() as group:
            for number in range(self._most):
                group.create_task(self._keep(number))
            group.create_task(self._reload_on(reloading))

    async def _start(self, number: int) -> bool:
        """Start a process in place of any before; whether it listens."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-m", self._module, self._host, str(number), str(self._most),
                str(theirs.fileno()), *map(str, self._descriptors),
                pass_fds=(theirs.fileno(), *self._descriptors),
                env={**os.environ, FOLDER: self._folder},
                start_new_session=True,  # Ctrl-C reaches the parent, which ends them in order
            )  # fmt: skip
        child = Child(number, process, ours)
        try:
            listens = await child.is_ready()
        except BaseException:
            await child.stop()
            raise
        if listens:
            self._children[number] = child
        else:
            await child.ended()
            child.close()
        return listens

    async def _keep(self, number: int) -> None:
        """Replace the process whenever it ends by itself."""
        wait = _LEAST_WAIT
        while True:
            child = self._children.get(number)
            if child:
                status = await child.ended()
            async with self._changing[number]:
                if child is not self._children.get(number):
                    continue  # it was replaced
                if child:
                    _logger.warning("process %d ended (%d): starting another", child.pid, status)
                    wait = _next_wait(wait, time.monotonic() - child.started)
                    self._forget(child)
                    del self._children[number]
                await asyncio.sleep(wait)
                if not await self._start(number):
                    wait = _next_wait(wait, 0.0)

    async def _reload_on(self, requested: asyncio.Event) -> None:
        while True:
            await requested.wait()
            requested.clear()
            for number in range(self._most):
                async with self._changing[number]:
                    if not await self._replace(number):
                        break

    async def _replace(self, number: int) -> bool:
        """Start another beside the process, then end that; False where the new one did not start.

        The socket never closes in between, so no connection is refused.
        """
        former = self._children.get(number)
        if not await self._start(number):
            _logger.error("a new process did not start: the former go on")
            return False
        if former:
            await former.stop()
            self._forget(former)
        _logger.info("process %d has taken over", self._children[number].pid)
        return True

    def _forget(self, child: Child) -> None:
        process_ended(self._folder, child.pid)
        child.close()


def _metrics_folder() -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix="helix-metrics-")
    except OSError as error:
        raise SettingsError(
            "several processes share their metrics in a folder for temporary files, and none can"
            f" be written ({error.strerror}): set TMPDIR to one that can"
        ) from None


def _next_wait(wait: float, lived: float) -> float:
    """Seconds before the next start, after a process that lived for ``lived`` seconds."""
    return _LEAST_WAIT if lived > _SETTLED_SECONDS else min(wait * 2, _LONGEST_WAIT)
