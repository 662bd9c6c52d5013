"""``helix ask``: an answer on the terminal as it streams, or as one JSON document."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from helix.commands.document_names import find_documents
from helix.commands.refusals import check_scope, refusal_lines
from helix.commands.rendering import (
    AnswerPrinter,
    call_lines,
    citation_lines,
    doubt_lines,
    draws_markdown,
    print_pieces,
)
from helix.commands.scope_options import (
    AsOfOption,
    DocumentOption,
    ModelOption,
    ModeOption,
    SpaceOption,
    TagOption,
    TenantOption,
    WhereOption,
    moment_of,
)
from helix.commands.service.address import ServerOption
from helix.commands.service.answers import AnswerService, Query
from helix.commands.service.service_choice import answer_service
from helix.domain.conditions import written_conditions
from helix.domain.input_text import is_blank
from helix.domain.scope import DEFAULT_TENANT, checked_tags, tenant_name
from helix.errors import BadRequest
from helix.library.access import Row
from helix.telemetry.logs import configure_logging


def ask(
    question: Annotated[
        list[str],
        typer.Argument(metavar="QUESTION", help="What to ask the documents; - reads it."),
    ],
    document: DocumentOption = None,
    document_id: Annotated[
        int | None, typer.Option(min=1, help="From the document of this number.")
    ] = None,
    tag: TagOption = None,
    where: WhereOption = None,
    space: SpaceOption = None,
    as_of: AsOfOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document, as POST /v1/query has it.")
    ] = False,
    word: Annotated[
        Path | None,
        typer.Option(metavar="FILE.docx", help="Write question, answer and sources to this file."),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="With the numbers of passages and answer.")
    ] = False,
    mode: ModeOption = None,
    model: ModelOption = None,
    tenant: TenantOption = DEFAULT_TENANT,
    server: ServerOption = None,
) -> None:
    """Ask the documents; the answer streams to the terminal, its citations follow.

    Ends with 0 where there is an answer or an honest refusal, whose reason is on standard error;
    with 1 where the library is empty, and where there is no such label, document or tenant.
    """
    configure_logging("warning")
    text = _question(question)
    tags = checked_tags(tag) if tag else None
    conditions, moment = written_conditions(where or ()), moment_of(as_of)
    names = [*(document or ()), *([str(document_id)] if document_id is not None else ())]
    if word:
        _check_writable(word)

    async def connected() -> None:
        async with answer_service(server, tenant_name(tenant)) as answers:
            query = Query(
                text, await _documents(answers, names), tags, mode=mode, model=model,
                where=conditions, space=space, as_of=moment,
            )  # fmt: skip
            if as_json:
                answer = await _answer(answers, query, tenant)
                typer.echo(json.dumps(answer, ensure_ascii=False, indent=2))
            else:
                answer = await _stream(answers, query, tenant)
                _print(answer, verbose=verbose)
            if word:
                _write(word, text, answer, server)

    asyncio.run(connected())


def _check_writable(path: Path) -> None:
    """Return where a Word file can be written; raises BadRequest, before anything is asked."""
    if path.suffix.lower() != ".docx":
        raise BadRequest(f"{path.name} does not end in .docx")
    try:
        is_new = not os.path.lexists(path)
        with path.open("ab"):
            pass
        if is_new:
            path.unlink()
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> BadRequest:
    return BadRequest(f"{path} cannot be written: {error.strerror}")


def _write(path: Path, question: str, answer: Row, server: str | None) -> None:
    """The answer as a Word document, with links to the page of the server that was asked.

    Raises:
        BadRequest: the file cannot be written.
    """
    from helix.conversations.word import word_of  # here, for few answers are written so

    page = f"{server.rstrip('/')}/" if server else ""
    try:
        path.write_bytes(word_of("", [{**answer, "question": question}], page))
    except OSError as error:
        raise _unwritable(path, error) from None


def _question(words: list[str]) -> str:
    """The question, quoted or not; read from standard input where it is ``-``.

    Raises:
        BadRequest: there is nothing to read in it.
    """
    text = sys.stdin.read() if words == ["-"] else " ".join(words)
    if is_blank(text):
        raise BadRequest('the question is blank: helix ask "How long is the notice period?"')
    return text.strip()


async def _documents(answers: AnswerService, names: list[str]) -> tuple[int, ...] | None:
    if not names:
        return None
    return tuple(row["id"] for row in await find_documents(answers, names))


async def _answer(answers: AnswerService, query: Query, tenant: str) -> Row:
    answer = await answers.answer(query)
    await check_scope(answers, query, tenant, answer)
    return answer


async def _stream(answers: AnswerService, query: Query, tenant: str) -> Row:
    """Print the answer as it comes; returns its JSON."""
    printer = AnswerPrinter(markdown=draws_markdown())
    answer = await print_pieces(answers, query, printer) or {}
    await check_scope(answers, query, tenant, answer)
    printer.end()
    return answer


def _print(answer: Row, *, verbose: bool) -> None:
    for line in [*citation_lines(answer, verbose=verbose), *doubt_lines(answer)]:
        typer.echo(line)
    if answer["abstained"] and (lines := refusal_lines(answer)):
        typer.echo("\n".join(["", *lines]), err=True)
    if verbose:
        for line in call_lines(answer):
            typer.echo(line, err=True)
        typer.echo(f"\nanswer {answer['answer_id']}", err=True)
