"""``helix chat``: a conversation on the terminal, kept like those of the page."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from helix.commands.chat_lines import HELP, ChatLine, chat_line
from helix.commands.console import one_line, printable
from helix.commands.document_names import find_documents
from helix.commands.interrupts import interrupts
from helix.commands.refusals import refusal_lines
from helix.commands.rendering import (
    AnswerPrinter,
    citation_lines,
    doubt_lines,
    draws_markdown,
    print_pieces,
)
from helix.commands.scope_options import (
    DocumentOption,
    ModelOption,
    ModeOption,
    TagOption,
    TenantOption,
    WhereOption,
)
from helix.commands.service.address import ServerOption
from helix.commands.service.answers import AnswerService, Query
from helix.commands.service.service_choice import answer_service
from helix.conversations.names import checked_id, new_id
from helix.domain.conditions import written_conditions
from helix.domain.scope import DEFAULT_TENANT, checked_tags, tenant_name
from helix.errors import BadRequest, HelixError
from helix.library.access import Row
from helix.library.errors import NotFound
from helix.telemetry.logs import configure_logging

_IMAGE_BYTES = 10 * 2**20
"""The largest image, as POST /ask-image takes it."""
_STOP_SECONDS = 0.3
"""Seconds after which an answer is asked again to stop."""


def chat(
    conversation: Annotated[
        str | None,
        typer.Option("--conversation", "-c", metavar="ID", help="Go on with this conversation."),
    ] = None,
    document: DocumentOption = None,
    tag: TagOption = None,
    where: WhereOption = None,
    mode: ModeOption = None,
    model: ModelOption = None,
    tenant: TenantOption = DEFAULT_TENANT,
    server: ServerOption = None,
) -> None:
    """Talk with the documents: each line is a question, which may rest on those before it.

    What was asked is kept: the conversation's id is told at the end, and `-c ID` goes on with it.
    Ctrl-C stops an answer; /help tells how to ask again, edit, and go between what was asked in one
    place.
    """
    configure_logging("warning")
    tags = checked_tags(tag) if tag else None
    conditions = written_conditions(where or ())

    async def connected() -> str | None:
        async with answer_service(server, tenant_name(tenant)) as answers:
            if conversation and not await _is_there(answers, checked_id(conversation)):
                raise NotFound(
                    f"there is no conversation {conversation}: leave -c out to begin one"
                )
            documents = await find_documents(answers, document) if document else None
            ids = None if documents is None else tuple(row["id"] for row in documents)
            query = Query(
                "", ids, tags, checked_id(conversation or new_id()), mode, model=model,
                where=conditions,
            )  # fmt: skip
            last = await _talk(answers, query)
            return last if await _is_there(answers, last) else None

    if last := asyncio.run(connected()):
        typer.echo(f"\nconversation {last}: go on with `helix chat -c {last}`", err=True)


async def _is_there(answers: AnswerService, conversation: str) -> bool:
    """True if the conversation was begun: by its first question."""
    try:
        await answers.conversation(conversation)
    except NotFound:
        return False
    return True


async def _talk(answers: AnswerService, query: Query) -> str:
    """Answer line after line; returns the id of the last conversation."""
    asks = sys.stdin.isatty()
    if asks:
        typer.echo(HELP, err=True)
    with interrupts() as pressed:
        while True:
            line = await _read_line(pressed, asks=asks)
            if not line:
                return query.conversation_id
            command = chat_line(line)
            match command.kind:
                case "quit":
                    return query.conversation_id
                case "new":
                    query = replace(query, conversation_id=new_id(), images=None)
                case "image":
                    query = await _with_image(answers, query, command.text)
                case "help" | "unknown":
                    _help(command)
                case "nothing":
                    continue
                case _:
                    await _carry_out(answers, query, command, pressed)
                    query = replace(query, images=None)


def _help(command: ChatLine) -> None:
    if command.kind == "unknown":
        typer.echo(f"helix: no such command: {printable(command.text)}", err=True)
    typer.echo(HELP, err=True)


async def _read_line(pressed: asyncio.Event, *, asks: bool) -> str:
    """The next line, empty at the end; Ctrl-C begins it anew at a terminal.

    Raises:
        KeyboardInterrupt: Ctrl-C where nobody types.
    """
    reading: asyncio.Task[str] = asyncio.create_task(asyncio.to_thread(sys.stdin.readline))
    if asks:
        typer.echo("\n> ", nl=False, err=True)
    while True:
        pressed.clear()
        waiting = asyncio.create_task(pressed.wait())
        await asyncio.wait({reading, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if reading.done():
            return reading.result()
        if not asks:
            raise KeyboardInterrupt
        typer.echo("\nCtrl-D or /quit ends.\n> ", nl=False, err=True)


async def _carry_out(
    answers: AnswerService, query: Query, command: ChatLine, pressed: asyncio.Event
) -> None:
    """Ask, or do what the command says; tell what went wrong."""
    try:
        if command.kind == "ask":
            await _answer(answers, replace(query, question=command.text), pressed)
            return
        path = await answers.path(query.conversation_id)
        if command.kind == "list":
            for n, row in enumerate(path, 1):
                typer.echo(f"#{n} {one_line(row['question'])}{_among_siblings(row)}")
            return
        row = _message_of(path, command.number)
        if command.kind == "switch":
            await _switch(answers, query.conversation_id, row)
        else:
            query = replace(query, question=command.text, replaced_message=row["id"], images=None)
            await _answer(answers, query, pressed)
    except NotFound:  # nothing was asked in it yet
        typer.echo("helix: nothing was asked yet", err=True)
    except HelixError as error:
        typer.echo(f"helix: {error}", err=True)


async def _with_image(answers: AnswerService, query: Query, name: str) -> Query:
    """``query`` about the image of this file too; unchanged, and told why, where it cannot be."""
    try:
        data = await asyncio.to_thread(_read_image, name)
        image = await answers.put_image(query.conversation_id, Path(name).name, data)
    except OSError as error:
        typer.echo(f"helix: {printable(name)}: {error.strerror}", err=True)
        return query
    except HelixError as error:
        typer.echo(f"helix: {error}", err=True)
        return query
    typer.echo(f"The next question is about {printable(image['name'])}.", err=True)
    return replace(query, images=(*(query.images or ()), image["id"]))


def _read_image(name: str) -> bytes:
    """The bytes of the file; raises OSError, and BadRequest where no model takes it."""
    from helix.answering.images import KINDS, image_type

    path = Path(name).expanduser()
    if path.stat().st_size > _IMAGE_BYTES:
        raise BadRequest(f"{path.name} is larger than {_IMAGE_BYTES >> 20} MB: make it smaller")
    data = path.read_bytes()
    if image_type(data) is None:
        raise BadRequest(f"{path.name} is no {KINDS} image")
    return data


def _message_of(path: list[Row], number: int | None) -> Row:
    """The message of this number; the last where there is none.

    Raises:
        BadRequest: there is no such message.
    """
    if not path:
        raise BadRequest("nothing was asked yet")
    if number is None:
        return path[-1]
    if not 1 <= number <= len(path):
        raise BadRequest(f"there is no question #{number}: /list shows them")
    return path[number - 1]


def _among_siblings(row: Row) -> str:
    """``(2 of 3)`` for a message with siblings; empty without."""
    siblings = row["siblings"]
    if len(siblings) == 1:
        return ""
    return f" ({siblings.index(row['id']) + 1} of {len(siblings)})"


async def _switch(answers: AnswerService, conversation_id: str, row: Row) -> None:
    """Go on with the next of the messages in the place of ``row``; tell it."""
    siblings = row["siblings"]
    if len(siblings) == 1:
        raise BadRequest("nothing else was asked in its place")
    other = siblings[(siblings.index(row["id"]) + 1) % len(siblings)]
    await answers.show(conversation_id, other)
    path = await answers.path(conversation_id)
    message = next(one for one in path if one["id"] == other)
    typer.echo(f"> {printable(message['question'])}{_among_siblings(message)}")
    response = message["response"] or {}
    printer = AnswerPrinter(markdown=draws_markdown())
    printer.feed(response.get("answer") or message["error"] or "(there is no answer)")
    printer.end()
    if "support" in response:
        _print_proof(response)


async def _answer(answers: AnswerService, query: Query, pressed: asyncio.Event) -> None:
    """Print the answer; the first Ctrl-C stops it, the second ends the chat.

    Raises:
        HelixError: the answer failed, or its stream broke off.
        KeyboardInterrupt: Ctrl-C came twice.
    """
    pressed.clear()
    printing = asyncio.create_task(_print_answer(answers, query))
    stopping = asyncio.create_task(_stop(answers, query.conversation_id, pressed, printing))
    try:
        await printing
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    finally:
        stopping.cancel()


async def _stop(
    answers: AnswerService,
    conversation_id: str,
    pressed: asyncio.Event,
    printing: asyncio.Task[None],
) -> None:
    """Once Ctrl-C is pressed, stop the answer where it is made; at the second, wait no longer."""

    async def stop() -> None:
        while True:
            with suppress(HelixError):  # it may not have begun yet
                await answers.stop(conversation_id)
            await asyncio.sleep(_STOP_SECONDS)

    await pressed.wait()
    pressed.clear()
    stopping = asyncio.create_task(stop())
    try:
        await pressed.wait()
        printing.cancel()
    finally:
        stopping.cancel()


async def _print_answer(answers: AnswerService, query: Query) -> None:
    printer = AnswerPrinter(markdown=draws_markdown())
    answer = await print_pieces(answers, query, printer)
    printer.end()
    if answer is None:
        typer.echo("Stopped: this is not the whole answer.", err=True)
    else:
        _print_proof(answer)


def _print_proof(answer: Row) -> None:
    """Print an answer's citations, how its question was understood, and why it was refused."""
    for line in [*citation_lines(answer, verbose=False), *doubt_lines(answer)]:
        typer.echo(line)
    if understood := (answer.get("turn") or {}).get("understood_as"):
        typer.echo(f"understood as: {understood}", err=True)
    if answer.get("abstained") and (lines := refusal_lines(answer)):
        typer.echo("\n".join(["", *lines]), err=True)
