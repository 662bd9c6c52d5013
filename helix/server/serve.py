"""``helix serve``: the application on a port, until it is told to end."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from contextlib import ExitStack, suppress
from ipaddress import IPv4Address, IPv6Address
from typing import Annotated

import typer
import uvicorn

from helix.commands.server_record import announced
from helix.serving.network.connection_limits import LimitedConnection, allow_descriptors
from helix.serving.network.listening import check_address
from helix.serving.network.sockets import bind
from helix.settings import Settings, load_settings

Host = Annotated[str, typer.Option(help="Address to listen on.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")]
START_FAILED = 3
"""The exit status of uvicorn too, where the application does not start."""

_EVERY_ADDRESS = {str(IPv4Address(0)), str(IPv6Address(0))}

_logger = logging.getLogger(__name__)


def serve(host: Host = "127.0.0.1", port: Port = 8080) -> None:
    """Serve over HTTP until SIGTERM or Ctrl-C; running answers may finish.

    What is uploaded is ingested by HELIX_WORKERS processes, which wait beside it at no cost.
    """
    settings = load_settings()
    check_address(host, settings)
    serve_on(settings, host, bind(host, port))


def address_of(host: str, sockets: list[socket.socket]) -> str:
    """Where a browser of this machine finds the server."""
    if sockets[0].getsockname()[0] in _EVERY_ADDRESS:
        host = "localhost"
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{sockets[0].getsockname()[1]}"


class _Server(uvicorn.Server):
    """Tells where it is found once it listens."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen on ``sockets``."""
        await super().startup(sockets)
        if self.started:
            self._ready()


def serve_on(
    settings: Settings,
    host: str,
    sockets: list[socket.socket],
    ready: Callable[[], None] | None = None,
) -> None:
    """Serve on ``sockets``, which are bound; everything heavy is loaded only now."""
    from helix.app import create_app
    from helix.serving.disconnects import DRAIN_SECONDS

    address = address_of(host, sockets)

    def listening() -> None:
        _logger.info("Helix is running on %s (Ctrl-C ends it)", address)
        if ready:
            ready()

    allow_descriptors()
    config = uvicorn.Config(
        create_app(settings),
        host=host,
        port=sockets[0].getsockname()[1],
        http=LimitedConnection,
        log_level=settings.log_level,
        access_log=False,
        timeout_graceful_shutdown=DRAIN_SECONDS + 5,
    )
    server = _Server(config, listening)
    with ExitStack() as stack:
        for each in sockets:
            stack.enter_context(each)
        stack.enter_context(announced(settings.database_url, address))
        with suppress(KeyboardInterrupt):  # it has ended in order
            server.run(sockets=sockets)
    if not server.started:
        raise typer.Exit(START_FAILED)
