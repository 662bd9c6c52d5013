"""Clients that leave: what is being done for one is given up, and a stalled one is noticed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeVar

import anyio
from fastapi import Request
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError
from starlette.types import Receive, Scope, Send

PING_SECONDS = 15
SEND_TIMEOUT_SECONDS = 30
"""A client that takes no byte for this long is gone, whatever its socket says."""
DRAIN_SECONDS = 20
"""How long a stream may go on after SIGTERM before it is cut."""
CLIENT_CLOSED_REQUEST = 499
"""Status of a response that nobody is left to read; it is for the log."""

_CLOSE_SECONDS = 2

_logger = logging.getLogger(__name__)
_T = TypeVar("_T")


async def _nothing() -> None:
    return None


async def unless_gone(
    request: Request,
    doing: Coroutine[Any, Any, _T],
    release: Callable[[_T], Awaitable[None]] | None = None,
) -> _T | None:
    """What ``doing`` returns, or None where the client left first; ``doing`` is cancelled then.

    The request's body must have been read. ``release`` is called with a result that nobody gets,
    for this was cancelled itself.
    """
    work = asyncio.ensure_future(doing)
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        return work.result() if work.done() else None
    except asyncio.CancelledError:
        if release and work.done() and not work.cancelled() and not work.exception():
            await release(work.result())
        raise
    finally:
        unfinished = [task for task in (work, gone) if not task.done()]
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        continue


def event_stream(
    frames: AsyncIterable[bytes | ServerSentEvent],
    headers: Mapping[str, str] | None = None,
    drain_seconds: float = DRAIN_SECONDS,
    release: Callable[[], Awaitable[None]] = _nothing,
) -> EventSourceResponse:
    """A response of server-sent events that pings, and ends ``drain_seconds`` after SIGTERM.

    ``release`` is called when it is over, also where no frame was ever asked for.
    """
    response = _EventStream(
        frames,
        sep="\n",
        headers={"Cache-Control": "no-cache", **(headers or {})},
        ping=PING_SECONDS,
        ping_message_factory=lambda: ServerSentEvent(comment="ping", sep="\n"),
        send_timeout=SEND_TIMEOUT_SECONDS,
        shutdown_event=anyio.Event(),
        shutdown_grace_period=drain_seconds,
    )
    response.frames, response.release = frames, release
    return response


class _EventStream(EventSourceResponse):
    """One whose stalled client is one line in the log, not a traceback.

    What it sends is closed when it is over: a generator that was never begun would not close what
    it was given, and one that was left at a frame only when the garbage is collected.
    """

    frames: AsyncIterable[bytes | ServerSentEvent]
    release: Callable[[], Awaitable[None]]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except SendTimeoutError:
            _logger.warning("stream cut: the client took nothing for %d s", SEND_TIMEOUT_SECONDS)
        finally:
            with anyio.move_on_after(_CLOSE_SECONDS, shield=True):
                if isinstance(self.frames, AsyncGenerator):
                    await self.frames.aclose()
                await self.release()
