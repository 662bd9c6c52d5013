"""``helix search``: the passages that fit some words, on the terminal or as one JSON document."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated

import typer

from helix.commands.console import one_line, printable
from helix.commands.document_names import find_documents
from helix.commands.refusals import unmet_condition
from helix.commands.scope_options import (
    AsOfOption,
    DocumentOption,
    SpaceOption,
    TagOption,
    TenantOption,
    WhereOption,
    moment_of,
)
from helix.commands.service.address import ServerOption
from helix.commands.service.answers import Query
from helix.commands.service.service_choice import answer_service
from helix.domain.citations import place_of
from helix.domain.conditions import written_conditions
from helix.domain.input_text import is_blank
from helix.domain.scope import DEFAULT_TENANT, checked_tags, tenant_name
from helix.errors import BadRequest
from helix.library.access import Row
from helix.telemetry.logs import configure_logging


def search(
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="What to look for.")],
    document: DocumentOption = None,
    tag: TagOption = None,
    where: WhereOption = None,
    space: SpaceOption = None,
    as_of: AsOfOption = None,
    limit: Annotated[int, typer.Option(min=1, max=50, help="Passages at most.")] = 10,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document, as GET /v1/search has it.")
    ] = False,
    tenant: TenantOption = DEFAULT_TENANT,
    server: ServerOption = None,
) -> None:
    """Search the documents for passages, best first; no model is asked.

    Ends with 1 where nothing is found.
    """
    configure_logging("warning")
    text = " ".join(words).strip()
    if is_blank(text):
        raise BadRequest("there is nothing to look for: helix search notice period")
    tags = checked_tags(tag) if tag else None
    conditions, moment = written_conditions(where or ()), moment_of(as_of)

    async def connected() -> tuple[Row, str]:
        async with answer_service(server, tenant_name(tenant)) as answers:
            ids = [row["id"] for row in await find_documents(answers, document or [])]
            query = Query(
                text, tuple(ids) if document else None, tags, where=conditions, space=space,
                as_of=moment,
            )  # fmt: skip
            found = await answers.search(query, limit)
            return found, "" if found["results"] else await unmet_condition(answers, conditions)

    found, unmet = asyncio.run(connected())
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        _print(found, unmet)
    if not found["results"]:
        raise typer.Exit(1)


def _print(found: Row, unmet: str) -> None:
    if not found["results"]:
        told = unmet or "`helix documents` lists what there is."
        typer.echo(f"Nothing was found: {told}", err=True)
    elif not found["near_enough"]:
        typer.echo("Nothing fits well; the nearest passages:\n", err=True)
    for n, passage in enumerate(found["results"]):
        where = place_of(passage["title"], passage["heading_path"], passage["label"])
        typer.echo(f"{chr(10) if n else ''}{one_line(where)}\n    {_snippet(passage)}")


def _snippet(passage: Row) -> str:
    """The snippet with what was hit standing out, where the terminal can show it."""
    text, pieces, done = passage["snippet"], [], 0
    for start, end in passage["marks"]:
        pieces += [printable(text[done:start]), typer.style(printable(text[start:end]), bold=True)]
        done = end
    return "".join([*pieces, printable(text[done:])])
