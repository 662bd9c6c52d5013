"""uvicorn's server: it tells when it listens, rests between signals, and ends in order."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI

from helix.overload.connections import allow_descriptors, shared_by
from helix.serving.disconnects import DRAIN_SECONDS
from helix.serving.network.sockets import accepting, is_listening, port_in_use
from helix.telemetry.logs import format_server_lines

_DATE_SECONDS = 1.0
"""Seconds between updates of the ``Date`` of responses; it has whole seconds."""
_FIRST_REQUEST_SECONDS = 0.5
"""Seconds that a server that ends waits for the first request of a connection it has taken: cut
at once, it would look to its client like a server that is not there."""


def serve_http(
    application: FastAPI,
    host: str,
    sockets: list[socket.socket],
    ready: Callable[[], None],
    log_level: str,
    processes: int = 1,
) -> bool:
    """Serve ``application`` on ``sockets`` until it is told to end; False: it did not start.

    ``processes``: how many answer on the sockets, each with its share of the connections.
    """
    allow_descriptors()
    config = uvicorn.Config(
        application,
        host=host,
        port=sockets[0].getsockname()[1],
        http=shared_by(processes),
        log_level=log_level,
        access_log=False,
        timeout_graceful_shutdown=DRAIN_SECONDS + 5,
    )
    format_server_lines()
    server = HttpServer(config, ready)
    with ExitStack() as stack:
        stack.enter_context(_first_error(lambda: server.started))
        for each in sockets:
            stack.enter_context(each)
        with suppress(KeyboardInterrupt):  # it has ended in order
            server.run(sockets=sockets)
    return server.started


@contextmanager
def _first_error(started: Callable[[], bool]) -> Iterator[None]:
    """Of uvicorn's lines the first error alone, until the server has ``started``."""
    logger, told = logging.getLogger("uvicorn.error"), False

    def is_told(record: logging.LogRecord) -> bool:
        nonlocal told
        first = record.levelno >= logging.ERROR and not told
        told = told or first
        return first or started()

    logger.addFilter(is_told)
    try:
        yield
    finally:
        logger.removeFilter(is_told)


class HttpServer(uvicorn.Server):
    """Calls ``ready`` once it listens, and runs until SIGTERM or SIGINT.

    uvicorn looks ten times a second whether it is to end, which was three quarters of the work of
    a server at rest. Here the signal wakes it.
    """

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready
        self._wake: Callable[[], object] = lambda: None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen on ``sockets``.

        Raises:
            SettingsError: another program listens there, which began after they were bound.
        """
        bound = sockets or []
        try:
            await super().startup(accepting(bound))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
        if not all(map(is_listening, bound)):
            await self.lifespan.shutdown()
            raise port_in_use(self.config.port)
        self._ready()

    async def main_loop(self) -> None:
        """Wait for a signal; keep the ``Date`` of responses true meanwhile."""
        signalled = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._wake = lambda: loop.call_soon_threadsafe(signalled.set)
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(_DATE_SECONDS):
                    await signalled.wait()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Let :meth:`main_loop` end; it is called between two steps of the main thread."""
        super().handle_exit(sig, frame)
        self._wake()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more connections, hear those that were taken, and end."""
        for listener in self.servers:
            listener.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_FIRST_REQUEST_SECONDS):
                while any(map(_is_unheard, self.server_state.connections)):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
        await super().shutdown(sockets)


def _is_unheard(connection: Any) -> bool:
    """True if a connection has not brought a request yet, and may bring one."""
    return connection.cycle is None and not connection.transport.is_closing()
