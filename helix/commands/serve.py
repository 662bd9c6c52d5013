"""``helix serve``: the application on a port, until it is told to end."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import ExitStack
from ipaddress import IPv4Address, IPv6Address
from typing import Annotated

import typer

from helix.commands.server_record import announced
from helix.serving.network.sockets import bind, check_address
from helix.settings import Settings, load_settings
from helix.telemetry.logs import configure_logging

Host = Annotated[str, typer.Option(help="Address to listen on.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")]
Processes = Annotated[
    int,
    typer.Option(
        min=1, max=64, help="Processes that answer on the port, each with its share of the limits."
    ),
]
START_FAILED = 3
"""The exit status of uvicorn too, where the application does not start."""

_EVERY_ADDRESS = {str(IPv4Address(0)), str(IPv6Address(0))}

_logger = logging.getLogger(__name__)


def serve(host: Host = "127.0.0.1", port: Port = 8080, processes: Processes = 1) -> None:
    """Serve over HTTP until SIGTERM or Ctrl-C; running answers may finish.

    What is uploaded is ingested by HELIX_WORKERS processes, which wait beside it at no cost. With
    several --processes, SIGHUP starts each anew, one after the other.
    """
    settings = load_settings()
    check_address(host, settings)
    sockets = bind(host, port)
    if processes == 1:
        serve_on(settings, host, sockets)
    else:
        serve_with(settings, host, sockets, processes)


def address_of(host: str, sockets: list[socket.socket]) -> str:
    """The address at which a browser of this machine finds the server."""
    if sockets[0].getsockname()[0] in _EVERY_ADDRESS:
        host = "localhost"
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{sockets[0].getsockname()[1]}"


def serve_on(
    settings: Settings,
    host: str,
    sockets: list[socket.socket],
    ready: Callable[[], None] | None = None,
) -> None:
    """Serve on ``sockets``, which are bound, from this process."""
    address = address_of(host, sockets)
    _offer_first_account(settings, address)

    def listening() -> None:
        _logger.info("Helix is running on %s (Ctrl-C ends it)", address)
        if ready:
            ready()

    with announced(settings.database_url, address):
        run_server(settings, host, sockets, listening)


def serve_with(settings: Settings, host: str, sockets: list[socket.socket], processes: int) -> None:
    """Serve on ``sockets``, which are bound, from several processes."""
    from helix.commands.server.supervisor import Supervisor

    configure_logging(settings.log_level, settings.log_format)
    address = address_of(host, sockets)
    _offer_first_account(settings, address)

    def listening() -> None:
        message = "Helix is running on %s with %d processes (Ctrl-C ends it)"
        _logger.info(message, address, processes)

    with ExitStack() as stack:
        for each in sockets:
            stack.enter_context(each)
        stack.enter_context(announced(settings.database_url, address))
        supervisor = Supervisor(host, [each.fileno() for each in sockets], processes)
        if not asyncio.run(supervisor.run(listening)):
            raise typer.Exit(START_FAILED)


def _offer_first_account(settings: Settings, address: str) -> None:
    if settings.auth == "accounts":
        from helix.commands.first_account import offer_first_account  # it loads much

        offer_first_account(address, settings.url)


def run_server(
    settings: Settings,
    host: str,
    sockets: list[socket.socket],
    ready: Callable[[], None],
    processes: int = 1,
) -> None:
    """Run the application on ``sockets`` until it is told to end; loads all that is heavy.

    ``processes``: how many answer on the sockets, this one among them.

    Raises:
        Exit: the application did not start.
    """
    from helix.app import create_app
    from helix.serving.network.http_server import serve_http

    if not serve_http(create_app(settings), host, sockets, ready, settings.log_level, processes):
        raise typer.Exit(START_FAILED)
