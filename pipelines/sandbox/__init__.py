"""Work on untrusted files in confined processes (helix/sandbox): a file's text, and its terms."""

from __future__ import annotations

import asyncio
import json
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from helix.sandbox import Frames, NoAnswer, Request, SandboxFailed
from helix.sandbox import Sandbox as Processes
from helix.sandbox.frames import WRONG
from pipelines.readers import READERS, ReadText, UnreadableFile, reader_of
from pipelines.sandbox import answer

if TYPE_CHECKING:
    from helix.storage.packed_terms import PackedTerms

__all__ = ["ReadLimits", "Sandbox", "SandboxFailed"]

_FULL_TIME_BYTES = 4 * 2**20
_LEAST_SECONDS = 60
_TEXTS_AT_ONCE = 2000
"""Chunks whose terms one process makes: 8 MB of them."""
_logger = logging.getLogger(__name__)

_WORK = "pipelines.sandbox.reader_process:read_in_frames"


@dataclass(frozen=True)
class ReadLimits:
    """The limits of reading one file: time, memory, and characters of text that come out."""

    seconds: int = 300
    memory_mb: int = 1024
    text_chars: int = 64_000_000

    def seconds_for(self, kind: str, size: int) -> int:
        """The time for a file of ``size`` bytes: a small one that takes all of it is no honest one.

        A PDF has all of it, for a page that is a picture is small, and slow to recognise.
        """
        if kind == "pdf":
            return self.seconds
        share = min(1.0, size / _FULL_TIME_BYTES)
        return min(self.seconds, max(_LEAST_SECONDS, math.ceil(self.seconds * share)))


class Sandbox:
    """Reads files, ``processes`` at once, each in a limited process; belongs to one event loop.

    ``readers`` maps a kind to its ``module:function``; those of plugins come on top.
    """

    def __init__(
        self,
        limits: ReadLimits = ReadLimits(),
        processes: int = 2,
        readers: Mapping[str, str] = READERS,
    ) -> None:
        self._limits = limits
        self._readers = readers
        self._processes = Processes(processes)

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
        request = self._request(kind, len(data))

        async def take(frames: Frames) -> ReadText:
            return await _received(frames, self._limits.text_chars, on_progress)

        try:
            return await self._processes.answer(request, data, take)
        except NoAnswer as reason:
            raise UnreadableFile(str(reason)) from None

    async def terms(self, texts: Sequence[str], language: str, tenant: str) -> PackedTerms:
        """BM25's terms of what a tenant's chunks are found by, made in other processes.

        Those that are missing, as where there was no memory for them, the write makes.
        """
        made: dict[bytes, bytes] = {}
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            some = texts[start : start + _TEXTS_AT_ONCE]
            try:
                made |= await self._packed(some, language, tenant)
            except (NoAnswer, SandboxFailed) as problem:
                _logger.warning("terms are made where they are written (%s)", problem)
        return made

    async def _packed(self, texts: Sequence[str], language: str, tenant: str) -> dict[bytes, bytes]:
        from pipelines.sandbox import terms  # numpy, which a process that reads has no use for

        data = await asyncio.to_thread(lambda: json.dumps(list(texts)).encode())
        options = {"language": language, "tenant": tenant}
        request = self._limited(terms.WORK, len(data), options, (), self._limits.seconds)

        async def take(frames: Frames) -> list[bytes]:
            return await terms.received_rows(frames, len(texts))

        rows = await self._processes.answer(request, data, take)
        return await asyncio.to_thread(terms.checked, rows, texts, language, tenant)

    async def aclose(self) -> None:
        """Stop what is being done; nothing is left running. A later read would start anew."""
        await self._processes.aclose()

    def _request(self, kind: str, size: int) -> Request:
        reader = reader_of(kind, self._readers)
        options = {"reader": reader, "text_chars": self._limits.text_chars}
        seconds = self._limits.seconds_for(kind, size)
        return self._limited(_WORK, size, options, [reader.partition(":")[0]], seconds)

    def _limited(
        self, work: str, size: int, options: dict[str, Any], modules: Sequence[str], seconds: int
    ) -> Request:
        limits = self._limits
        return Request(
            work=work,
            size=size,
            seconds=seconds,
            memory_mb=limits.memory_mb,
            out_of_memory=f"needs more than {limits.memory_mb} MB of memory to read"
            " (HELIX_READ_MB)",
            out_of_time=f"took longer than {seconds} s to read (HELIX_READ_SECONDS)",
            options=options,
            modules=list(modules),
        )


async def _received(
    frames: Frames, text_chars: int, on_progress: Callable[[int, int], None]
) -> ReadText:
    """The text of an answer; raises as Frames.next does."""
    parts: dict[bytes, bytearray] = {}
    for _ in range(answer.MOST_FRAMES):
        kind, body = await frames.next(
            lambda kind, length: answer.check_length(kind, length, text_chars)
        )
        if kind == answer.PROGRESS:
            on_progress(*answer.progress_of(bytes(body)))
        elif kind in parts:
            break
        elif kind == answer.MARKS:
            # in a thread: 64 million characters take long enough to be noticed by others
            return await asyncio.to_thread(answer.read_text_of, parts, body, text_chars)
        else:
            parts[kind] = body
    raise NoAnswer(WRONG)
