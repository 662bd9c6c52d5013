"""The service that a command asks: the server named, one that is found, or the database itself.

Each is imported where it is the one: a client of HTTP takes a tenth of a second to load.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

import typer

from helix.commands.console import one_line
from helix.commands.server_record import recorded_address
from helix.commands.service.address import Server, named_server
from helix.commands.service.answers import AnswerService
from helix.commands.service.documents import LibraryService
from helix.commands.service.operations import Service
from helix.errors import HelixError
from helix.library.access import Library
from helix.settings import Settings, load_settings

if TYPE_CHECKING:
    from helix.commands.service.server_connection import ServerConnection

_PROBE_SECONDS = 2.0
_Service = TypeVar("_Service", bound=Service)


async def found_server(settings: Settings, tenant: str) -> Server | None:
    """The server that runs over the embedded database, if it answers us; else None."""
    address = recorded_address(settings.database_url)
    if address is None:
        return None
    server = Server(address, settings.api_key)
    try:
        async with _connected(server, tenant, _PROBE_SECONDS) as connection:
            await LibraryService(connection).list_runs(1)
    except HelixError:  # it asks for a key, or is ending: the database answers as well
        return None
    return server


def _connected(
    server: Server, tenant: str, seconds: float | None = None
) -> AbstractAsyncContextManager[ServerConnection]:
    from helix.commands.service.server_connection import ANSWER_SECONDS, connected

    return connected(server, tenant, seconds or ANSWER_SECONDS)


@asynccontextmanager
async def opened(kind: type[_Service], option: str | None, tenant: str) -> AsyncIterator[_Service]:
    """The tenant's service of this kind; raises as ``named_server`` does."""
    target = await server_or_settings(option, tenant)
    if isinstance(target, Server):
        async with _connected(target, tenant) as connection:
            yield kind(connection)
        return
    async with opened_library(target, tenant) as library:
        yield kind(library, target)


@asynccontextmanager
async def opened_library(settings: Settings, tenant: str) -> AsyncIterator[Library]:
    """The tenant's library in the database; neither an embedder nor a model is loaded."""
    from helix.storage.connections import Connections
    from helix.storage.database import open_url
    from helix.storage.tenant_connections import TenantConnections

    async with open_url(settings) as url:
        connections = Connections(url, pool_size=1)
        try:
            yield Library(TenantConnections(connections, tenant))
        finally:
            await connections.close()


@asynccontextmanager
async def answer_service(option: str | None, tenant: str) -> AsyncIterator[AnswerService]:
    """The tenant's documents, and answers from them; raises as ``named_server`` does.

    Without a server it takes seconds to open.
    """
    named = named_server(option)
    target = named or await server_or_settings(None, tenant)
    if isinstance(target, Server):
        own = os.environ.get("HELIX_LLM") if named else load_settings().llm
        async with _connected(target, tenant) as connection:
            await _tell_model(target, connection, own)
            yield AnswerService(connection)
        return
    from helix.services import open_services

    async with open_services(target) as services:
        yield AnswerService(services.library.of(tenant), services)


async def _tell_model(server: Server, connection: ServerConnection, own: str | None) -> None:
    """Tell on standard error which model answers, where this command has one of its ``own``."""
    if own:
        model = await connection.model()
        is_own = own in (model["identity"], model["identity"].partition(":")[0])
        line = f"The server at {server.address} answers, with {one_line(model['title'])}"
        told = f"{line}." if is_own else f"{line}; HELIX_LLM={own} here is not used."
        typer.echo(told, err=True)


async def server_or_settings(option: str | None, tenant: str) -> Server | Settings:
    """The server that is named or found; where there is none, the settings of the database."""
    if (named := named_server(option)) is not None:
        return named
    settings = load_settings()
    return await found_server(settings, tenant) or settings
