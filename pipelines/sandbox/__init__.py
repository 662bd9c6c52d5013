"""Reading untrusted files: each in a process of its own, with limits, that can write nothing.

``Sandbox`` keeps a host (host.py), which forks a process for each file (child.py); that confines
itself (confinement.py) and sends its answer (answer.py). docs/decisions/0007 says why.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pipelines.readers import READERS, ReadText, UnreadableFile
from pipelines.sandbox.conversation import Said, ended, take
from pipelines.sandbox.process import GRACE, HostGone, HostProcess, SandboxFailed, asked
from pipelines.sandbox.request import Ended, Request

__all__ = ["Limits", "Sandbox", "SandboxFailed"]

_ABORTS = (0, signal.SIGABRT, signal.SIGILL, signal.SIGKILL, signal.SIGTRAP)
"""How libraries end, and the system ends them, when there is no more memory; 0 is by themselves."""
_MUCH = 1 / 3  # of the memory allowed: a buffer that doubles fails there


@dataclass(frozen=True)
class Limits:
    """What reading one file may take: time, memory, and characters of text that come out."""

    seconds: int = 300
    memory_mb: int = 1024
    text_chars: int = 64_000_000


class Sandbox:
    """Reads files, ``processes`` at once, each in a limited process; belongs to one event loop.

    ``readers`` maps a kind to its ``module:function``. The host starts with the first read.
    """

    def __init__(
        self,
        limits: Limits = Limits(),
        processes: int = 2,
        readers: Mapping[str, str] = READERS,
    ) -> None:
        self._limits = limits
        self._readers = readers
        self._slots = asyncio.Semaphore(processes)
        self._host: HostProcess | None = None

    async def read(
        self,
        kind: str,
        data: bytes,
        on_progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> ReadText:
        """The text of ``data``; ``on_progress`` hears (pages done, pages in all).

        Raises:
            UnreadableFile: the file, or what reading it would take; the message says which.
            SandboxFailed: files cannot be read at all here.
        """
        if kind not in self._readers:
            raise UnreadableFile(f"no reader for {kind}")
        limits = self._limits
        request = Request(
            self._readers[kind], len(data), limits.seconds, limits.memory_mb, limits.text_chars
        )
        async with self._slots:
            for _ in range(2):  # a host that was killed is replaced, once
                with contextlib.suppress(HostGone):
                    return await self._read(request, data, on_progress)
        raise UnreadableFile("the process that reads files was killed twice while reading it")

    async def aclose(self) -> None:
        """Stop what is being read; nothing is left running. A later read would start anew."""
        if self._host is not None:
            host, self._host = self._host, None
            with contextlib.suppress(SandboxFailed):
                await asyncio.to_thread(host.close)

    async def _read(
        self, request: Request, data: bytes, on_progress: Callable[[int, int], None]
    ) -> ReadText:
        host = self._running_host()
        with asked(host, request) as (connection, status):
            taking = asyncio.create_task(take(connection, request, data, on_progress))
            ending = asyncio.create_task(ended(status))
            try:
                end = await _end(request, taking, ending)
            except (TimeoutError, HostGone):
                await asyncio.to_thread(host.bury)
                raise HostGone from None
            finally:
                for task in (taking, ending):
                    task.cancel()
                await asyncio.gather(taking, ending, return_exceptions=True)
        return _judge(request, *end)

    def _running_host(self) -> HostProcess:
        if self._host is None or not self._host.alive:
            if self._host is not None:
                self._host.bury()
            self._host = HostProcess()
        return self._host


async def _end(
    request: Request, taking: asyncio.Task[Said], ending: asyncio.Task[Ended]
) -> tuple[Said, Ended | None]:
    """What was said and how it ended; one who has answered is not waited for, but stopped."""
    async with asyncio.timeout(request.seconds + GRACE):
        await asyncio.wait((taking, ending), return_when=asyncio.FIRST_COMPLETED)
        if taking.done() and not taking.result().nothing:
            return taking.result(), None
        end = await ending
    # what was sent before the end has arrived, and is only to be taken
    await asyncio.wait((taking,), timeout=GRACE)
    return taking.result() if taking.done() else Said(), end


def _judge(request: Request, said: Said, end: Ended | None) -> ReadText:
    """The text, or UnreadableFile with the reason that explains best why there is none."""
    if said.read is not None:
        return said.read
    if said.reason or end is None:
        raise UnreadableFile(said.reason)
    if end.timed_out or end.signal == signal.SIGXCPU:
        raise UnreadableFile(request.out_of_time)
    full = end.signal in _ABORTS and end.peak_mb > _MUCH * request.memory_mb
    if full or end.out_of_memory:
        raise UnreadableFile(request.out_of_memory)
    if end.signal:
        raise UnreadableFile(f"the reader crashed (signal {end.signal})")
    raise UnreadableFile("the reader ended without an answer")
