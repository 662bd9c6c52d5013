"""``helix ask`` and ``helix replay``: an answer on the terminal, and the same one asked again."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated

import typer

from helix.commands.console import one_line, printable
from helix.domain.questions import question_of
from helix.domain.scope import DEFAULT_TENANT, Scope, checked_tags, tenant_name
from helix.errors import HelixError
from helix.settings import Settings, load_settings
from helix.telemetry.logs import configure_logging

if TYPE_CHECKING:
    from helix.receipts.replay import Replay


def ask(
    question: Annotated[str, typer.Argument(help="What to ask the documents.")],
    document_id: Annotated[
        int | None, typer.Option(min=1, help="Answer from this document only.")
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="TAG", help="From documents with this label; may be given again."),
    ] = None,
    tenant: Annotated[str, typer.Option(help="Whose documents to ask.")] = DEFAULT_TENANT,
) -> None:
    """Ask the documents; the answer streams to the terminal, its citations follow."""
    settings = load_settings()
    configure_logging("warning")
    question = question_of(question, settings.max_question_chars)
    scope = Scope(
        tenant_name(tenant),
        document_ids=None if document_id is None else (document_id,),
        tags=checked_tags(tag) if tag else None,
    )
    asyncio.run(_ask(settings, question, scope))


async def _ask(settings: Settings, question: str, scope: Scope) -> None:
    from helix.answering.answer import Question
    from helix.answering.numbering import renumbered, renumbering_of
    from helix.answering.pipeline import AnswerRequest
    from helix.domain.citations import place
    from helix.services import open_services

    async with open_services(settings) as services:
        request = AnswerRequest(services.answering, Question(question, scope))
        async with aclosing(await request.start()) as stream:
            async for delta in renumbered(stream, len(stream.retrieval.sources)):
                typer.echo(printable(delta), nl=False)
        typer.echo()
        answer = await request.conclude(stream)
        hits = {hit.chunk_id: hit for source in stream.retrieval.sources for hit in source.hits}
        text, numbers = renumbering_of(answer.text, len(answer.retrieval.sources))
        for citation in answer.citations:
            where = one_line(place(hits[citation["chunk_id"]]))
            number = numbers.number(citation["n"])
            typer.echo(f"\n[{number}] {where} (chunk {citation['chunk_id']})")
            for quote in answer.proof.quotes(citation["n"]) or [citation["snippet"]]:
                typer.echo(f"    {one_line(quote)}")
        if unsupported := [each for each in answer.proof.statements if each.problem]:
            typer.echo("\nNot borne out by what it cites:")
            for each in unsupported:
                typer.echo(
                    f"    {one_line(text[numbers.place(each.start) : numbers.place(each.end)])}"
                )
        answer = await request.finish(answer)
        if request.has_verdict and answer.verdict:
            typer.echo(f"\nThe judge finds it {'' if answer.verdict.grounded else 'not '}grounded.")
        if services.receipts:
            typer.echo(f"\nanswer {request.question.answer_id}", err=True)


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
    typer.echo(json.dumps(done.to_json(), indent=2) if as_json else printable(_report(done)))
    raise typer.Exit(0 if done.identical else 1)


async def _replay(settings: Settings, answer_id: str, tenant: str) -> Replay:
    from helix.receipts.receipt_store import read_receipt
    from helix.receipts.replay import replay
    from helix.services import open_services

    async with open_services(settings) as services:
        library = services.library.of(tenant)
        receipt = await read_receipt(library, answer_id, settings.receipt_days)
        return await replay(services.answering, library, receipt, services.configuration)


def _report(done: Replay) -> str:
    lines = ["identical: the same text, the same citations"] if done.identical else done.diff()
    if not done.identical:
        if not lines:
            lines = ["another answer: of the old one only a hash is left, or its quotes differ"]
        lines += ["", *(f"{cause.kind}: {cause.told}" for cause in done.causes)]
    if done.same_from_old_prompt is not None:
        same = "as it did then" if done.same_from_old_prompt else "in another way too"
        lines.append(f"The prompt of then is answered {same}.")
    return "\n".join(lines)
