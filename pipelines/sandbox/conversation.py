"""One read as its parent has it: the bytes go out, frames come back, and word of the end."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from dataclasses import dataclass

from pipelines.readers import ReadText, UnreadableFile
from pipelines.sandbox import answer
from pipelines.sandbox.process import HostGone
from pipelines.sandbox.request import Ended, Request


@dataclass(frozen=True)
class Said:
    """What a process answered: a text, or a reason, or neither."""

    read: ReadText | None = None
    reason: str = ""

    @property
    def nothing(self) -> bool:
        return self.read is None and not self.reason


async def take(
    connection: socket.socket,
    request: Request,
    data: bytes,
    on_progress: Callable[[int, int], None],
) -> Said:
    """Send the bytes and take the answer, as far as it comes."""
    loop = asyncio.get_running_loop()
    with contextlib.suppress(OSError):  # it may refuse before it has all of them
        await loop.sock_sendall(connection, data)
    try:
        for _ in range(answer.MOST_PROGRESS):
            kind, body = await _frame(connection, request)
            if kind != answer.PROGRESS:
                return await _whole(connection, request, kind, body)
            on_progress(*answer.progress_of(bytes(body)))
    except OSError:  # it ended in the middle: its status tells why
        return Said()
    except UnreadableFile as wrong:
        return Said(reason=str(wrong))
    return Said(reason="the reader marked it wrongly")


async def _whole(connection: socket.socket, request: Request, kind: bytes, body: bytearray) -> Said:
    if kind == answer.REASON:
        return Said(reason=answer.reason_of(bytes(body)))
    marks_kind, marks = await _frame(connection, request)
    if (kind, marks_kind) != (answer.TEXT, answer.MARKS):
        return Said(reason="the reader marked it wrongly")
    # in a thread: 64 million characters take long enough to be noticed by others
    return Said(await asyncio.to_thread(answer.read_text_of, body, marks, request.text_chars))


async def _frame(connection: socket.socket, request: Request) -> tuple[bytes, bytearray]:
    """OSError at an end in the middle, UnreadableFile for a length that is not allowed."""
    kind, length = answer.HEAD.unpack(await _exactly(connection, answer.HEAD.size))
    most = answer.longest(kind, request.text_chars)
    if length > most:
        too_long = kind == answer.TEXT
        raise UnreadableFile(
            answer.too_long(request.text_chars) if too_long else "the reader marked it wrongly"
        )
    return kind, await _exactly(connection, length)


async def _exactly(connection: socket.socket, size: int) -> bytearray:
    loop = asyncio.get_running_loop()
    data = bytearray(size)
    view = memoryview(data)
    while view:
        received = await loop.sock_recv_into(connection, view)
        if not received:
            raise ConnectionResetError
        view = view[received:]
    return data


async def ended(status: socket.socket) -> Ended:
    """How the process ended.

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
    return Ended.of(line)
