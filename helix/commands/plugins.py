"""``helix plugins``: the plugins of installed packages, and those that cannot be used."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import typer

from helix.agent.tools import TOOLS as OWN_TOOLS
from helix.agent.tools import tool_of
from helix.domain.file_kinds import KINDS
from helix.domain.plugins import (
    EMBEDDERS,
    GROUPS,
    LLMS,
    READERS,
    SOURCES,
    TOOLS,
    Plugin,
    PluginFailed,
    installed,
    plugins,
)
from helix.providers.factories import EMBEDDERS as OWN_EMBEDDERS
from helix.providers.factories import LANGUAGE_MODELS
from helix.telemetry.logs import configure_logging

OWN: dict[str, Collection[str]] = {
    LLMS: LANGUAGE_MODELS, EMBEDDERS: OWN_EMBEDDERS, READERS: KINDS, SOURCES: (),
    TOOLS: [tool.name for tool in OWN_TOOLS],
}  # fmt: skip
"""The names by group that Helix itself has, which no plugin takes."""


def list_plugins() -> None:
    """List the plugins of installed packages; exit status 1 where one cannot be used."""
    configure_logging("critical")  # what is wrong is in the list
    failed = 0
    for plugin in (plugin for group in GROUPS for plugin in installed(group)):
        problem = _problem(plugin)
        failed += problem is not None
        where = f"{plugin.group} {plugin.name} ({plugin.package}, {plugin.target})"
        typer.echo(f"FAIL {problem}" if problem else f"ok   {where}")
    if not any(installed(group) for group in GROUPS):
        typer.echo("no plugins are installed")
    raise typer.Exit(bool(failed))


def problems() -> Iterator[str]:
    """The reason of each plugin that cannot be used."""
    for group in GROUPS:
        yield from filter(None, map(_problem, installed(group)))


def _problem(plugin: Plugin) -> str | None:
    if plugin.name in OWN[plugin.group]:
        return str(plugin.failed("Helix itself has one of this name"))
    first = plugins(plugin.group)[plugin.name]
    if first is not plugin and first != plugin:
        return str(plugin.failed(f"{first.package} has one of this name"))
    try:
        tool_of(plugin) if plugin.group == TOOLS else plugin.load()
    except PluginFailed as failure:
        return str(failure)
    return None
