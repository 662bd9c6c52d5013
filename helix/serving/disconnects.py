"""Clients that disconnect: their work is cancelled, and a stalled one is noticed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import anyio
from fastapi import Request
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError
from starlette.types import Receive, Scope, Send

PING_SECONDS = 15
SEND_TIMEOUT_SECONDS = 30
"""A client that takes no byte for this long has disconnected, whatever its socket says."""
DRAIN_SECONDS = 20
"""Seconds that a stream may go on after SIGTERM before it is cut."""
CLIENT_CLOSED_REQUEST = 499
"""Status of a response that no client is left to read; it is for the log."""

_CLOSE_SECONDS = 2

_logger = logging.getLogger(__name__)
_T = TypeVar("_T")


async def run_unless_disconnected(
    request: Request,
    work: Coroutine[Any, Any, _T],
    release: Callable[[_T], Awaitable[None]] | None = None,
) -> _T | None:
    """The result of ``work``; None if the client disconnected first, which cancels ``work``.

    The request's body must have been read. Where this call is itself cancelled after ``work`` has
    ended, ``release`` is called with the result that nobody gets.
    """
    working = asyncio.ensure_future(work)
    watching = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    except asyncio.CancelledError:
        if release and working.done() and not working.cancelled() and not working.exception():
            await release(working.result())
        raise
    finally:
        unfinished = [task for task in (working, watching) if not task.done()]
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        continue


def event_stream(
    frames: AsyncIterable[bytes | ServerSentEvent],
    release: Callable[[], Awaitable[None]],
    headers: Mapping[str, str] | None = None,
    *,
    follower: AbstractContextManager[None] | None = None,
) -> EventSourceResponse:
    """A response of server-sent events that pings.

    After SIGTERM it may go on for DRAIN_SECONDS and is cut then. One without an end, which has a
    ``follower`` (Asker.follower), ends at once, as if its frames had: its client comes again.
    ``release`` closes what ``frames`` reads from. It is called once the response is over, also
    where no frame was ever asked for.
    """
    response = _EventStream(
        frames,
        sep="\n",
        headers={"Cache-Control": "no-cache", **(headers or {})},
        ping=PING_SECONDS,
        ping_message_factory=lambda: ServerSentEvent(comment="ping", sep="\n"),
        send_timeout=SEND_TIMEOUT_SECONDS,
        shutdown_event=(stopping := anyio.Event()),
        shutdown_grace_period=0 if follower else DRAIN_SECONDS,
    )
    response.frames, response.release = frames, release
    response.ends_with = stopping if follower else None
    response.follower = follower or nullcontext()
    return response


class _EventStream(EventSourceResponse):
    """An event stream whose stalled client is one line in the log, and that closes its frames.

    A generator that was never started would not close what it was given, and one that was left at
    a frame would do so only when the garbage is collected.
    """

    frames: AsyncIterable[bytes | ServerSentEvent]
    release: Callable[[], Awaitable[None]]
    ends_with: anyio.Event | None
    """Set when the server stops, in a stream that ends then as if its frames had."""
    follower: AbstractContextManager[None]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self.follower:
            await self._sent(scope, receive, send)

    async def _sent(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
            if self.active and self.ends_with and self.ends_with.is_set():
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except SendTimeoutError:
            _logger.warning("stream cut: the client took nothing for %d s", SEND_TIMEOUT_SECONDS)
        finally:
            with anyio.move_on_after(_CLOSE_SECONDS, shield=True):
                if isinstance(self.frames, AsyncGenerator):
                    await self.frames.aclose()
                await self.release()
