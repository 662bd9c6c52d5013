"""Work on untrusted files: each in a process of its own, with limits, that can write nothing.

``Sandbox`` keeps a host (host.py), which forks a process for each file (child.py); that confines
itself (confinement.py) and sends its answer in frames (frames.py). docs/decisions/0007 says why.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import TypeVar

from helix.sandbox.frames import NoAnswer, ProcessEnd, Request
from helix.sandbox.host_client import (
    GRACE,
    Frames,
    HostGone,
    HostProcess,
    SandboxFailed,
    open_work,
    receive_end,
)

__all__ = ["Frames", "NoAnswer", "Request", "Sandbox", "SandboxFailed"]

T = TypeVar("T")

_ABORTS = (0, signal.SIGABRT, signal.SIGILL, signal.SIGKILL, signal.SIGTRAP)
"""Signals by which processes end when there is no more memory; 0: they ended by themselves."""
_MUCH = 1 / 3  # of the memory allowed: a buffer that doubles fails there


class Sandbox:
    """Does work, ``processes`` at once of each kind, each in a limited process.

    It belongs to one event loop; its one host starts with the first work.
    """

    def __init__(self, processes: int) -> None:
        # of one kind may wait for minutes what takes seconds of another
        self._slots = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(processes))
        self._host: HostProcess | None = None

    async def answer(
        self, request: Request, data: bytes, take: Callable[[Frames], Awaitable[T]]
    ) -> T:
        """The result of ``take`` for the frames that come back for ``data``.

        Requests whose ``work`` is the same are of one kind.

        Raises:
            NoAnswer: the data, or what the work would take; the message says which.
            SandboxFailed: no such work can be done here at all.
        """
        async with self._slots[request.work]:
            for _ in range(2):  # a host that was killed is replaced, once
                with contextlib.suppress(HostGone):
                    return await self._answer(request, data, take)
        raise NoAnswer("the process that reads files was killed twice while reading it")

    async def aclose(self) -> None:
        """Stop what is being done; nothing is left running. Later work would start anew."""
        if self._host is not None:
            host, self._host = self._host, None
            with contextlib.suppress(SandboxFailed):
                await asyncio.to_thread(host.close)

    async def _answer(
        self, request: Request, data: bytes, take: Callable[[Frames], Awaitable[T]]
    ) -> T:
        host = self._running_host()
        with open_work(host, request) as (connection, status):

            async def exchange() -> T:
                with contextlib.suppress(OSError):  # it may refuse before it has all of them
                    await asyncio.get_running_loop().sock_sendall(connection, data)
                return await take(Frames(connection))

            taking = asyncio.create_task(exchange())
            ending = asyncio.create_task(receive_end(status))
            try:
                return await _first_answer(request, taking, ending)
            except (TimeoutError, HostGone):
                await asyncio.to_thread(host.ensure_gone)
                raise HostGone from None
            finally:
                for task in (taking, ending):
                    task.cancel()
                await asyncio.gather(taking, ending, return_exceptions=True)

    def _running_host(self) -> HostProcess:
        if self._host is None or not self._host.alive:
            if self._host is not None:
                self._host.ensure_gone()
            self._host = HostProcess()
        return self._host


async def _first_answer(
    request: Request, taking: asyncio.Task[T], ending: asyncio.Task[ProcessEnd]
) -> T:
    """The answer, or NoAnswer with the reason why there is none.

    A process that has answered is not waited for, but stopped.
    """
    async with asyncio.timeout(request.seconds + GRACE):
        await asyncio.wait((taking, ending), return_when=asyncio.FIRST_COMPLETED)
        if taking.done():
            with contextlib.suppress(OSError):  # it ended in the middle: its status tells why
                return taking.result()
        end = await ending
    # what was sent before the end has arrived, and is only to be taken
    await asyncio.wait((taking,), timeout=GRACE)
    if taking.done():
        with contextlib.suppress(OSError):
            return taking.result()
    raise NoAnswer(_why_ended(request, end))


def _why_ended(request: Request, end: ProcessEnd) -> str:
    if end.timed_out or end.signal == signal.SIGXCPU:
        return request.out_of_time
    full = end.signal in _ABORTS and end.peak_mb > _MUCH * request.memory_mb
    if full or end.out_of_memory:
        return request.out_of_memory
    if end.signal:
        return f"the reader crashed (signal {end.signal})"
    return "the reader ended without an answer"
