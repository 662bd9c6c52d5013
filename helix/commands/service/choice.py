"""Whom a command asks: the server that is named, one that is found, or the database itself."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Annotated

import typer

from helix.commands.server_record import recorded_address
from helix.commands.service.base import AnswerService, LibraryService
from helix.commands.service.over_http import Server, server_answers
from helix.errors import BadRequest, HelixError
from helix.settings import Settings, load_client_settings, load_settings

ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server", metavar="URL",
        help="A running server to ask, as http://localhost:8080; HELIX_SERVER if none.",
    ),
]  # fmt: skip
_PROBE_SECONDS = 2.0


def named_server(option: str | None) -> Server | None:
    """The server of ``--server`` or HELIX_SERVER; None where neither names one.

    Raises:
        BadRequest: it is no address.
        SettingsError: as load_client_settings does.
    """
    settings = load_client_settings()
    address = option or settings.server
    if not address:
        return None
    if not address.startswith(("http://", "https://")):
        raise BadRequest(f"--server {address} is no address: give one like http://localhost:8080")
    key = settings.api_key
    return Server(address.rstrip("/"), key.get_secret_value() if key else None)


async def found_server(settings: Settings, tenant: str) -> Server | None:
    """The server that runs over the embedded database, if it answers us; else None."""
    address = recorded_address(settings.database_url)
    if address is None:
        return None
    server = Server(address, settings.api_key.get_secret_value() if settings.api_key else None)
    try:
        async with server_answers(server, tenant, _PROBE_SECONDS) as answers:
            await answers.list_runs(1)
    except HelixError:  # it asks for a key, or is ending: the database answers as well
        return None
    return server


async def library_service(
    option: str | None, tenant: str
) -> AbstractAsyncContextManager[LibraryService]:
    """The tenant's documents and runs, to be opened; raises as ``named_server`` does."""
    server = named_server(option)
    if server is None:
        settings = load_settings()
        server = await found_server(settings, tenant)
        if server is None:
            from helix.commands.service.in_database import database_library

            return database_library(settings, tenant)
    return server_answers(server, tenant)


async def answer_service(
    option: str | None, tenant: str
) -> AbstractAsyncContextManager[AnswerService]:
    """The tenant's documents, and answers from them, to be opened; raises as ``named_server``."""
    server = named_server(option)
    if server is None:
        settings = load_settings()
        server = await found_server(settings, tenant)
        if server is None:
            from helix.commands.service.in_database import database_answers

            return database_answers(settings, tenant)
    return server_answers(server, tenant)
