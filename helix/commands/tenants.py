"""``helix tenants``: erasing one, with all that is stored of it, and the model that answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from helix.commands.console import in_database
from helix.domain.scope import DEFAULT_TENANT, tenant_name
from helix.settings import load_settings

if TYPE_CHECKING:
    from helix.storage.connections import Connected

tenants = typer.Typer(
    name="tenants", help="Tenants: erase one, choose its model.", no_args_is_help=True
)


@tenants.command()
def erase(
    tenant: Annotated[str, typer.Argument(metavar="NAME", help="The tenant.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete all of a tenant: documents, vectors, files, runs, answers, feedback, keys."""
    from helix.conversations.receipts.erasure import erase_tenant  # it takes a second to load
    from helix.library.audit import record_command

    if not yes:
        typer.confirm(f"Delete everything of {tenant}? It cannot be brought back.", abort=True)

    def erase_and_record(connection: Connected) -> dict[str, int]:
        counts = erase_tenant(connection, tenant)
        record_command(connection, "helix tenants erase", tenant)
        return counts

    counts = in_database(erase_and_record)
    typer.echo(f"{tenant} is erased: {', '.join(f'{n:,} {name}' for name, n in counts.items())}")
    if not any(counts.values()):
        typer.echo("helix: there was none of that: is the tenant's name misspelt?", err=True)


@tenants.command()
def model(
    tenant: Annotated[str, typer.Argument(metavar="NAME", help="The tenant.")] = DEFAULT_TENANT,
    to: Annotated[
        str | None, typer.Option(metavar="MODEL", help="A name of HELIX_LLM or HELIX_MODELS.")
    ] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Go back to that of HELIX_LLM.")] = False,
) -> None:
    """Show which model answers a tenant's questions that choose none, or choose another."""
    from helix.library.audit import record_command
    from helix.library.tenant_models import choose_model, model_in
    from helix.providers.choices import named, names_of_models

    names, whose = names_of_models(load_settings()), tenant_name(tenant)
    if to is not None:
        named(names, to)

    def choose(connection: Connected) -> str | None:
        if to is not None or reset:
            choose_model(connection, whose, to)
            record_command(connection, "helix tenants model", whose, f"model {to}")
        return model_in(connection, whose)

    chosen = in_database(choose)
    typer.echo(chosen if chosen in names else next(iter(names)))
