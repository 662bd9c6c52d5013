"""``helix erasure``: a document erased with all that others have of it, and the record of it."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Annotated

import typer

from helix.commands.scope_options import TenantOption
from helix.commands.service.address import ServerOption
from helix.domain.scope import DEFAULT_TENANT, tenant_name
from helix.library.access import Row
from helix.telemetry.logs import configure_logging


def erasure(
    document: Annotated[int, typer.Argument(metavar="DOCUMENT", help="Its number.", min=1)],
    names: Annotated[
        bool, typer.Option("--names", help="Put its title, file name and address in the record.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    tenant: TenantOption = DEFAULT_TENANT,
    server: ServerOption = None,
) -> None:
    """Delete a document if it is still there, and print a signed record of what went where.

    The record has no word of the document. `helix prove RECORD` verifies it, with no server; with
    --text FILE also that it is about that file. Backups that still have the document are in it.
    """
    configure_logging("warning")
    if not yes:
        question = f"Erase document {document}? It cannot be undone."
        typer.confirm(question, abort=True, err=True)
    from helix.commands.service.proofs import ProofService
    from helix.commands.service.service_choice import opened

    async def asked() -> Row:
        async with opened(ProofService, server, tenant_name(tenant)) as proofs:
            return await proofs.erased(document, names)

    record = asyncio.run(asked())
    sys.stdout.write(json.dumps(record, indent=1) + "\n")
    proof = record["proof"]
    typer.echo(f"document {document} was removed at {proof['removed_at']}", err=True)
    for backup in proof["remaining"]["backups"]:
        until = backup["expires_at"] or "it is deleted"
        typer.echo(f"it remains in the backup {backup['file']} until {until}", err=True)
