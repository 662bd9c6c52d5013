"""``helix tenants``: erasing one, with all that is stored of it."""

from __future__ import annotations

import asyncio
from typing import Annotated

import psycopg
import typer

from helix.database import open_url
from helix.errors import BadRequest, HelixError
from helix.settings import load_settings
from helix.unavailable import unavailable

tenants = typer.Typer(
    name="tenants", help="Whose documents there are: erase one.", no_args_is_help=True
)


@tenants.callback()
def _tenants() -> None:
    """Make it a group, although it has one command."""


@tenants.command()
def erase(
    tenant: Annotated[str, typer.Argument(metavar="NAME", help="The tenant.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete all of a tenant: documents, vectors, files, runs, answers, feedback, keys."""
    if not yes:
        typer.confirm(f"Delete everything of {tenant}? It cannot be brought back.", abort=True)
    try:
        counts = asyncio.run(_erase(tenant))
    except HelixError as error:
        typer.echo(f"helix: {error}", err=True)
        raise typer.Exit(2 if isinstance(error, BadRequest) else 1) from None
    told = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    typer.echo(f"{tenant} is erased: {told}")


async def _erase(tenant: str) -> dict[str, int]:
    from helix.receipts.erasing import erase_tenant  # it takes a second to load

    async with open_url(load_settings()) as url:
        try:
            with psycopg.connect(url) as connection:
                return erase_tenant(connection, tenant)
        except psycopg.Error as error:
            raise unavailable(error) from error
