"""``helix keys``: the keys to the HTTP API, where HELIX_AUTH=keys asks for them."""

from __future__ import annotations

from typing import Annotated

import typer

from helix.commands.console import LARGEST_ID, in_database, print_table
from helix.domain.scope import tenant_name
from helix.library.keys import create_key, list_keys, revoke_key

keys = typer.Typer(
    name="keys", help="Keys to the HTTP API, for HELIX_AUTH=keys: make, list, revoke.",
    no_args_is_help=True,
)  # fmt: skip


@keys.command()
def create(
    tenant: Annotated[str, typer.Option(help="Whose documents the key opens.")],
    name: Annotated[str, typer.Option(help="What it is for, to tell keys apart.")] = "",
) -> None:
    """Make a key and print it, once: nobody can read it again."""
    key_id, secret = in_database(lambda connection: create_key(connection, tenant, name))
    typer.echo(f"key {key_id} of {tenant}, shown this once:", err=True)
    typer.echo(secret)  # alone on standard output, for scripts


@keys.command("list")
def list_(
    tenant: Annotated[str | None, typer.Option(help="Only the keys of this tenant.")] = None,
) -> None:
    """All keys, revoked ones too; of each key only its beginning is known."""
    if tenant is not None:
        tenant_name(tenant)
    rows = []
    for key in in_database(lambda connection: list_keys(connection, tenant)):
        times = [f"{at:%Y-%m-%d %H:%M}" if at else "" for at in (key.created_at, key.revoked_at)]
        rows.append([key.id, key.tenant, key.name, f"{key.hint}…", *times])
    print_table(["key", "tenant", "name", "begins", "created", "revoked"], rows)


@keys.command()
def revoke(
    key_id: Annotated[
        int,
        typer.Argument(min=1, max=LARGEST_ID, metavar="ID", help="As `helix keys list` has it."),
    ],
) -> None:
    """Refuse a key from now on."""
    if not in_database(lambda connection: revoke_key(connection, key_id)):
        typer.echo(f"helix: there is no key {key_id} that opens anything", err=True)
        raise typer.Exit(1)
    typer.echo(f"key {key_id} is revoked")
