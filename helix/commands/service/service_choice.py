"""The service that a command asks: the server named, one that is found, or the database itself.

Each is imported where it is the one: a client of HTTP takes a tenth of a second to load.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import typer

from helix.commands.console import one_line
from helix.commands.server_record import recorded_address
from helix.commands.service.address import Server, named_server
from helix.commands.service.base import AnswerService, LibraryService
from helix.errors import HelixError
from helix.settings import Settings, load_settings

_PROBE_SECONDS = 2.0


async def found_server(settings: Settings, tenant: str) -> Server | None:
    """The server that runs over the embedded database, if it answers us; else None."""
    address = recorded_address(settings.database_url)
    if address is None:
        return None
    from helix.commands.service.over_http import server_answers

    server = Server(address, settings.api_key)
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
    target = await server_or_settings(option, tenant)
    if isinstance(target, Server):
        from helix.commands.service.over_http import server_answers

        return server_answers(target, tenant)
    from helix.commands.service.in_database import database_library

    return database_library(target, tenant)


async def answer_service(
    option: str | None, tenant: str
) -> AbstractAsyncContextManager[AnswerService]:
    """The tenant's documents, and answers from them, to be opened; raises as ``named_server``."""
    if (named := named_server(option)) is not None:
        return _telling(named, tenant, os.environ.get("HELIX_LLM"))
    target = await server_or_settings(None, tenant)
    if isinstance(target, Server):
        return _telling(target, tenant, load_settings().llm)
    from helix.commands.service.in_database import database_answers

    return database_answers(target, tenant)


@asynccontextmanager
async def _telling(server: Server, tenant: str, own: str | None) -> AsyncIterator[AnswerService]:
    """Its answers; a line on standard error names its model, where this command has ``own``."""
    from helix.commands.service.over_http import server_answers

    async with server_answers(server, tenant) as answers:
        if own:
            model = await answers.model()
            is_own = own in (model["identity"], model["identity"].partition(":")[0])
            line = f"The server at {server.address} answers, with {one_line(model['title'])}"
            typer.echo(f"{line}." if is_own else f"{line}; HELIX_LLM={own} here is not used.",
                       err=True)  # fmt: skip
        yield answers


async def server_or_settings(option: str | None, tenant: str) -> Server | Settings:
    """The server that is named or found; where there is none, the settings of the database."""
    if (named := named_server(option)) is not None:
        return named
    settings = load_settings()
    return await found_server(settings, tenant) or settings
