"""``helix tenants``: erasing one, with all that is stored of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from helix.commands.console import in_database

if TYPE_CHECKING:
    from helix.storage.connections import Connected

tenants = typer.Typer(name="tenants", help="Tenants: erase one.", no_args_is_help=True)


@tenants.callback()
def _tenants() -> None:
    """Make it a group, although it has one command."""


@tenants.command()
def erase(
    tenant: Annotated[str, typer.Argument(metavar="NAME", help="The tenant.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete all of a tenant: documents, vectors, files, runs, answers, feedback, keys."""
    from helix.library.audit import record_command
    from helix.receipts.erasure import erase_tenant  # it takes a second to load

    if not yes:
        typer.confirm(f"Delete everything of {tenant}? It cannot be brought back.", abort=True)

    def erase_and_record(connection: Connected) -> dict[str, int]:
        counts = erase_tenant(connection, tenant)
        record_command(connection, "helix tenants erase", tenant)
        return counts

    counts = in_database(erase_and_record)
    typer.echo(f"{tenant} is erased: {', '.join(f'{n:,} {name}' for name, n in counts.items())}")
