"""``helix audit``: who changed what, which key came from where, and who was refused."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from helix.commands.console import in_database, one_line
from helix.commands.periods import span_of
from helix.domain.scope import tenant_name
from helix.library.audit import StoredEvent, list_events


def audit(
    since: Annotated[
        str, typer.Option(help="How far back, such as 90m, 24h, 7d or 4w.", metavar="SPAN")
    ] = "24h",
    tenant: Annotated[str | None, typer.Option(help="Only what is about this tenant.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    most: Annotated[int, typer.Option(min=1, max=1_000_000, help="The latest so many.")] = 1000,
) -> None:
    """Show the audit log, oldest first: writes, uses of keys, refusals and commands.

    It has no text of a document or a question. It is written by the second, and kept for
    HELIX_AUDIT_DAYS.
    """
    span = span_of(since)
    if tenant is not None:
        tenant_name(tenant)
    events = in_database(lambda connection: list_events(connection, span, tenant, most))
    if as_json:
        for event in events:
            typer.echo(json.dumps(asdict(event) | {"at": event.at.isoformat()}))
        return
    if not events:
        typer.echo(f"helix: nothing was recorded in the last {since}", err=True)
        return
    for event in events:
        typer.echo(_line(event))


def _line(event: StoredEvent) -> str:
    key = f"key {event.key_id}" if event.key_id else ""
    person = f"person {event.person_id}" if event.person_id else ""
    times = f"{event.n} times" if event.n > 1 else ""
    who = [event.tenant, person, key, event.address]
    subject = [event.action, event.object and f"({event.object})", times]
    kind = " ".join(filter(None, [event.kind.replace("_", " "), str(event.status or "")]))
    columns = [f"{event.at:%Y-%m-%d %H:%M:%S}", f"{kind:<11}", *who, *subject]
    return "  ".join(one_line(word) if word.strip() == word else word for word in columns if word)
