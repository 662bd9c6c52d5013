"""``helix mcp``: the documents as tools for another program's model, over standard streams."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

import typer

from db.url import user_file
from helix.commands.scope_options import TenantOption
from helix.commands.server_record import recorded_address
from helix.commands.setting_sources import setting_sources
from helix.domain.scope import DEFAULT_TENANT, tenant_name
from helix.settings import Settings, load_settings
from helix.telemetry.logs import configure_logging

_LOCAL = "http://127.0.0.1:8080"

PrintConfig = Annotated[
    Literal["stdio", "http", "claude", "vscode"] | None,
    typer.Option(
        "--print-config",
        help="Print what to put into a client's settings instead: stdio (mcpServers of Claude"
        " Desktop, Cursor, LibreChat), http (the same, of a running server), claude (the command"
        " for Claude Code), vscode (.vscode/mcp.json).",
    ),
]


def mcp(tenant: TenantOption = DEFAULT_TENANT, print_config: PrintConfig = None) -> None:
    """Speak the Model Context Protocol over standard input and output, for one tenant.

    A client starts this command by itself. Links begin with HELIX_URL, else with the address of a
    server that runs over the same embedded database; without either they name the resource.
    """
    configure_logging("warning")
    tenant = tenant_name(tenant)
    settings = load_settings()
    if print_config:
        typer.echo(_stanza(print_config, tenant, settings))
        if print_config in ("stdio", "vscode"):
            _print_missing_settings()
        return
    asyncio.run(_serve(settings, tenant))


async def _serve(settings: Settings, tenant: str) -> None:
    from helix.protocols.mcp_server import build_server
    from helix.protocols.mcp_visitor import Visitor, visitor
    from helix.services import open_services

    async with open_services(settings) as services:
        base = (settings.url or recorded_address(settings.database_url) or "").rstrip("/")
        visitor.set(Visitor(
            services.library.of(tenant), services.answering, base, settings.max_question_chars
        ))  # fmt: skip
        await build_server().run_stdio_async()


def _print_missing_settings() -> None:
    """Name the settings that are in this shell or folder alone: a client starts Helix elsewhere."""
    own = user_file()
    here = [
        name for source in setting_sources() if source.place != str(own) for name in source.settings
    ]
    if here:
        typer.echo(
            f"helix: the client starts it outside this shell and folder: put {', '.join(here)}"
            f" into {own or 'its env'}",
            err=True,
        )


def _stanza(kind: str, tenant: str, settings: Settings) -> str:
    """The text for a client's settings; a key is named by its variable, never printed."""
    keyed = settings.auth != "off"  # a client that lacks the variable of a header does not start
    if kind in ("claude", "http"):
        url = _server_url(settings, None if keyed else tenant)
        if kind == "claude":
            header = ' --header "Authorization: Bearer $HELIX_API_KEY"' if keyed else ""
            return f"claude mcp add --transport http helix '{url}'{header}"
        headers = {"headers": {"Authorization": "Bearer ${HELIX_API_KEY}"}} if keyed else {}
        return _json({"mcpServers": {"helix": {"type": "http", "url": url, **headers}}})
    command, *arguments = [*_this_helix(), "mcp"]
    if tenant != DEFAULT_TENANT:
        arguments += ["--tenant", tenant]
    local = {"command": command, "args": arguments}
    if kind == "vscode":
        return _json({"servers": {"helix": {"type": "stdio", **local}}})
    return _json({"mcpServers": {"helix": local}})


def _server_url(settings: Settings, tenant: str | None) -> str:
    """The address of the protocol at this database's server, for the tenant where one is named."""
    base = settings.url or recorded_address(settings.database_url) or _LOCAL
    query = f"?{urlencode({'tenant_id': tenant})}" if tenant not in (None, DEFAULT_TENANT) else ""
    return f"{base.rstrip('/')}/mcp{query}"


def _this_helix() -> list[str]:
    """The command line of this installation, which works from any folder and with any PATH."""
    script = Path(sys.executable).with_name("helix")
    return [str(script)] if script.exists() else [sys.executable, "-m", "helix"]


def _json(payload: dict[str, Any]) -> str:
    return json.dumps(payload, indent=2)
