"""``helix chat``: a conversation on the terminal, kept like those of the page."""

from __future__ import annotations

import asyncio
import sys
import uuid
from contextlib import aclosing
from dataclasses import replace
from typing import Annotated

import typer

from helix.commands.document_names import find_documents
from helix.commands.refusals import refusal_lines
from helix.commands.rendering import AnswerPrinter, citation_lines, doubt_lines, draws_markdown
from helix.commands.scope_options import DocumentOption, ModeOption, TagOption, TenantOption
from helix.commands.service.address import ServerOption
from helix.commands.service.base import AnswerService, Query
from helix.commands.service.choice import answer_service
from helix.domain.questions import is_blank
from helix.domain.scope import DEFAULT_TENANT, checked_tags, tenant_name
from helix.errors import HelixError
from helix.library.access import Row
from helix.telemetry.logs import configure_logging

_HELP = "/new begins another conversation, /quit or Ctrl-D ends. All else is a question."


def chat(
    conversation: Annotated[
        str | None,
        typer.Option("--conversation", "-c", metavar="ID", help="Go on with this conversation."),
    ] = None,
    document: DocumentOption = None,
    tag: TagOption = None,
    mode: ModeOption = None,
    tenant: TenantOption = DEFAULT_TENANT,
    server: ServerOption = None,
) -> None:
    """Talk with the documents: each line is a question, which may rest on those before it.

    The conversation is kept: its id is told at the end, and `-c ID` goes on with it.
    """
    configure_logging("warning")
    tags = checked_tags(tag) if tag else None

    async def connected() -> str:
        async with await answer_service(server, tenant_name(tenant)) as answers:
            found = await find_documents(answers, document) if document else None
            ids = None if found is None else tuple(row["id"] for row in found)
            begun = Query("", ids, tags, conversation or uuid.uuid4().hex, mode)
            return await _talk(answers, begun)

    last = asyncio.run(connected())
    typer.echo(f"\nconversation {last}: go on with `helix chat -c {last}`", err=True)


async def _talk(answers: AnswerService, query: Query) -> str:
    """Answer line after line; returns the id of the last conversation."""
    asks = sys.stdin.isatty()
    if asks:
        typer.echo(_HELP, err=True)
    while True:
        if asks:
            typer.echo("\n> ", nl=False, err=True)
        line = await asyncio.to_thread(sys.stdin.readline)
        match line.strip():
            case "/quit" | "/exit":
                return query.conversation_id
            case "/new":
                query = replace(query, conversation_id=uuid.uuid4().hex)
                continue
            case "/help":
                typer.echo(_HELP, err=True)
                continue
        if not line:
            return query.conversation_id
        if is_blank(line):
            continue
        await _answer(answers, replace(query, question=line.strip()))


async def _answer(answers: AnswerService, query: Query) -> None:
    """Print the answer; what went wrong with it, and go on."""
    printer = AnswerPrinter(markdown=draws_markdown())
    told: Row = {}
    try:
        async with aclosing(answers.stream(query)) as pieces:
            async for piece in pieces:
                if isinstance(piece, str):
                    printer.feed(piece)
                else:
                    told = piece
    except HelixError as error:
        typer.echo(f"helix: {error}", err=True)
        return
    printer.end()
    understood = (told.get("turn") or {}).get("understood_as")
    for line in [*citation_lines(told, verbose=False), *doubt_lines(told)]:
        typer.echo(line)
    if understood:
        typer.echo(f"understood as: {understood}", err=True)
    if told.get("abstained") and (lines := refusal_lines(told)):
        typer.echo("\n".join(["", *lines]), err=True)
