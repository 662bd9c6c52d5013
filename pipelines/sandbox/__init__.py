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
from pipelines.sandbox.host_client import (
    GRACE,
    HostGone,
    HostProcess,
    SandboxFailed,
    open_read,
    receive_end,
    receive_reply,
)
from pipelines.sandbox.request import ProcessEnd, Request

__all__ = ["ReadLimits", "Sandbox", "SandboxFailed"]

_ABORTS = (0, signal.SIGABRT, signal.SIGILL, signal.SIGKILL, signal.SIGTRAP)
"""How libraries end, and the system ends them, when there is no more memory; 0 is by themselves."""
_MUCH = 1 / 3  # of the memory allowed: a buffer that doubles fails there


@dataclass(frozen=True)
class ReadLimits:
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
        limits: ReadLimits = ReadLimits(),
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
        with open_read(host, request) as (connection, status):
            taking = asyncio.create_task(receive_reply(connection, request, data, on_progress))
            ending = asyncio.create_task(receive_end(status))
            try:
                read = await _read_text(request, taking, ending)
            except (TimeoutError, HostGone):
                await asyncio.to_thread(host.ensure_gone)
                raise HostGone from None
            finally:
                for task in (taking, ending):
                    task.cancel()
                await asyncio.gather(taking, ending, return_exceptions=True)
        return read

    def _running_host(self) -> HostProcess:
        if self._host is None or not self._host.alive:
            if self._host is not None:
                self._host.ensure_gone()
            self._host = HostProcess()
        return self._host


async def _read_text(
    request: Request, taking: asyncio.Task[ReadText | None], ending: asyncio.Task[ProcessEnd]
) -> ReadText:
    """The text that was answered, or UnreadableFile with the reason why there is none.

    A process that has answered is not waited for, but stopped.
    """
    async with asyncio.timeout(request.seconds + GRACE):
        await asyncio.wait((taking, ending), return_when=asyncio.FIRST_COMPLETED)
        if taking.done() and (read := taking.result()):
            return read
        end = await ending
    # what was sent before the end has arrived, and is only to be taken
    await asyncio.wait((taking,), timeout=GRACE)
    if taking.done() and (read := taking.result()):
        return read
    raise UnreadableFile(_why_ended(request, end))


def _why_ended(request: Request, end: ProcessEnd) -> str:
    if end.timed_out or end.signal == signal.SIGXCPU:
        return request.out_of_time
    full = end.signal in _ABORTS and end.peak_mb > _MUCH * request.memory_mb
    if full or end.out_of_memory:
        return request.out_of_memory
    if end.signal:
        return f"the reader crashed (signal {end.signal})"
    return "the reader ended without an answer"
