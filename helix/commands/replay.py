"""``helix replay``: what an answer was asked, asked again."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Annotated

import typer

from helix.commands.console import printable
from helix.domain.scope import DEFAULT_TENANT, tenant_name
from helix.errors import HelixError
from helix.settings import Settings, load_settings
from helix.telemetry.logs import configure_logging

if TYPE_CHECKING:
    from helix.conversations.receipts.replay import Replay


def replay(
    answer_id: Annotated[str, typer.Argument(metavar="ID", help="As X-Answer-Id has it.")],
    tenant: Annotated[str, typer.Option(help="Whose answer it is.")] = DEFAULT_TENANT,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    then: Annotated[
        bool, typer.Option("--then", help="Of the library of then, as far as versions are kept.")
    ] = False,
) -> None:
    """Ask again what an answer was asked; say whether text and citations are the same, or why not.

    Ends with 0 where they are, 1 where they differ, 2 where it cannot be told.
    """
    configure_logging("error")
    try:
        outcome = asyncio.run(_replay(load_settings(), answer_id, tenant_name(tenant), then))
    except HelixError as error:
        typer.echo(f"helix: {error}", err=True)
        raise typer.Exit(2) from None
    typer.echo(json.dumps(outcome.to_json(), indent=2) if as_json else printable(_report(outcome)))
    raise typer.Exit(0 if outcome.identical else 1)


async def _replay(settings: Settings, answer_id: str, tenant: str, then: bool) -> Replay:
    from helix.conversations.receipts.receipt_store import read_receipt
    from helix.conversations.receipts.replay import replay
    from helix.services import open_services

    async with open_services(settings) as services:
        library = services.library.of(tenant)
        receipt = await read_receipt(library, answer_id, settings.receipt_days)
        return await replay(
            services.answering, library, receipt, services.configuration, of_then=then
        )


def _report(outcome: Replay) -> str:
    lines = (
        ["identical: the same text, the same citations"] if outcome.identical else outcome.diff()
    )
    if not outcome.identical:
        if not lines:
            lines = ["another answer: of the old one only a hash is left, or its quotes differ"]
        lines += ["", *(f"{cause.kind}: {cause.description}" for cause in outcome.causes)]
    if outcome.same_from_old_prompt is not None:
        same = "as it did then" if outcome.same_from_old_prompt else "in another way too"
        lines.append(f"The prompt of then is answered {same}.")
    return "\n".join(lines)
