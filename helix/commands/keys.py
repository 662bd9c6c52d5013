"""``helix keys``: the keys to the HTTP API, where HELIX_AUTH=keys asks for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, NoReturn, TypeVar

import psycopg
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from helix.database import open_url
from helix.errors import BadRequest, HelixError
from helix.keys import ApiKey, Connected, create_key, list_keys, revoke_key
from helix.scope import tenant_name
from helix.settings import load_settings
from helix.unavailable import unavailable

keys = typer.Typer(
    name="keys", help="Keys to the HTTP API, for HELIX_AUTH=keys: make, list, revoke.",
    no_args_is_help=True,
)  # fmt: skip

T = TypeVar("T")
_LARGEST_ID = 2**63 - 1


@keys.command()
def create(
    tenant: Annotated[str, typer.Option(help="Whose documents the key opens.")],
    name: Annotated[str, typer.Option(help="What it is for, to tell keys apart.")] = "",
) -> None:
    """Make a key and print it, once: nobody can read it again."""
    key_id, secret = _in_database(lambda connection: create_key(connection, tenant, name))
    typer.echo(f"key {key_id} of {tenant}, shown this once:", err=True)
    typer.echo(secret)  # alone on standard output, for scripts


@keys.command("list")
def list_(
    tenant: Annotated[str | None, typer.Option(help="Only the keys of this tenant.")] = None,
) -> None:
    """All keys, revoked ones too; of each key only its beginning is known."""
    if tenant is not None:
        _checked(tenant)
    _print(_in_database(lambda connection: list_keys(connection, tenant)))


@keys.command()
def revoke(
    key_id: Annotated[
        int,
        typer.Argument(min=1, max=_LARGEST_ID, metavar="ID", help="As `helix keys list` has it."),
    ],
) -> None:
    """Refuse a key from now on."""
    if not _in_database(lambda connection: revoke_key(connection, key_id)):
        typer.echo(f"helix: there is no key {key_id} that opens anything", err=True)
        raise typer.Exit(1)
    typer.echo(f"key {key_id} is revoked")


def _print(found: list[ApiKey]) -> None:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("key", "tenant", "name", "begins", "created", "revoked"):
        table.add_column(column, overflow="fold")
    for key in found:
        times = (f"{at:%Y-%m-%d %H:%M}" if at else "" for at in (key.created_at, key.revoked_at))
        cells = (str(key.id), key.tenant, key.name, f"{key.hint}…", *times)
        # Text, for in a str of rich's a name like "[red]" would be markup
        table.add_row(*map(Text, cells))
    Console(highlight=False).print(table)


def _checked(tenant: str) -> None:
    try:
        tenant_name(tenant)
    except BadRequest as error:
        _stop(error)


def _in_database(action: Callable[[Connected], T]) -> T:
    """What ``action`` gives on a connection of its own; ends the process where it cannot."""
    try:
        return asyncio.run(_connected(action))
    except HelixError as error:
        _stop(error)


async def _connected(action: Callable[[Connected], T]) -> T:
    async with open_url(load_settings()) as url:
        try:
            with psycopg.connect(url) as connection:
                return action(connection)
        except psycopg.Error as error:
            raise unavailable(error) from error


def _stop(error: HelixError) -> NoReturn:
    typer.echo(f"helix: {error}", err=True)
    raise typer.Exit(2 if isinstance(error, BadRequest) else 1) from None
