"""``helix replay``: ask a kept answer's question again, and show what differs and why."""

from __future__ import annotations

import asyncio
import json
import unicodedata
from typing import TYPE_CHECKING, Annotated

import typer

from helix.errors import HelixError
from helix.logs import configure_logging
from helix.scope import DEFAULT_TENANT, tenant_name
from helix.settings import Settings, load_settings

if TYPE_CHECKING:
    from helix.receipts.replaying import Replay


def replay(
    answer_id: Annotated[str, typer.Argument(metavar="ID", help="As X-Answer-Id has it.")],
    tenant: Annotated[str, typer.Option(help="Whose answer it is.")] = DEFAULT_TENANT,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Ask again what an answer was asked; say whether text and citations are the same, or why not.

    Ends with 0 where they are, 1 where they differ, 2 where it cannot be told.
    """
    configure_logging("error")
    try:
        done = asyncio.run(_replay(load_settings(), answer_id, tenant_name(tenant)))
    except HelixError as error:
        typer.echo(f"helix: {error}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    typer.echo(json.dumps(done.to_json(), indent=2) if as_json else _told(done))
    raise typer.Exit(0 if done.identical else 1)


def add_to(cli: typer.Typer) -> None:
    """Add the command."""
    cli.command()(replay)


async def _replay(settings: Settings, answer_id: str, tenant: str) -> Replay:
    from helix.receipts.replaying import replayed
    from helix.receipts.stored import read_receipt
    from helix.services import open_services

    async with open_services(settings) as services:
        library = services.library.of(tenant)
        receipt = await read_receipt(library, answer_id, settings.receipt_days)
        return await replayed(services.answering, library, receipt, services.marks())


def _told(done: Replay) -> str:
    lines = ["identical: the same text, the same citations"] if done.identical else done.diff()
    if not done.identical and not lines:
        lines = ["another answer: of the old one only a hash is left, or its quotes differ"]
    if not done.identical:
        lines += ["", *(f"{cause.kind}: {cause.told}" for cause in done.causes)]
    if done.same_from_old_prompt is not None:
        same = "as it did then" if done.same_from_old_prompt else "in another way too"
        lines.append(f"The prompt of then is answered {same}.")
    return "\n".join(map(_printable, lines))


def _printable(text: str) -> str:
    """``text`` without what could steer a terminal."""
    return "".join(c for c in text if c == "\t" or unicodedata.category(c)[0] != "C")
