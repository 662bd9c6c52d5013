"""``helix study``: quizzes, cards, workshops and maps of documents: made, listed, due, exported."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from helix.commands.console import one_line, print_table
from helix.commands.document_names import find_documents
from helix.commands.scope_options import DocumentOption, TagOption, TenantOption
from helix.domain.scope import DEFAULT_TENANT, Scope, checked_tags, tenant_name
from helix.errors import BadRequest, HelixError
from helix.settings import load_settings

if TYPE_CHECKING:
    from helix.commands.service.in_database import DatabaseLibrary
    from helix.library.access import Row
    from helix.study.items import Kind
    from helix.study.sets import NewSet

study = typer.Typer(
    name="study", help="Quizzes, cards, workshops and maps of your documents.",
    no_args_is_help=True,
)  # fmt: skip

CountOption = Annotated[int | None, typer.Option(min=1, help="How many items.")]
TitleOption = Annotated[str, typer.Option(help="What to call it; else its documents' titles.")]
LevelOption = Annotated[
    str, typer.Option("--difficulty", help="How hard: easy, normal or advanced.")
]
_SUFFIXES = {".json": "json", ".md": "markdown", ".csv": "csv", ".apkg": "anki", ".svg": "svg"}


@study.command()
def quiz(
    document: DocumentOption = None, tag: TagOption = None, count: CountOption = None,
    difficulty: LevelOption = "normal", title: TitleOption = "",
    tenant: TenantOption = DEFAULT_TENANT,
) -> None:  # fmt: skip
    """Make a quiz: questions of four options, and statements that are true or false."""
    _make("quiz", document, tag, count, difficulty, title, tenant)


@study.command()
def cards(
    document: DocumentOption = None, tag: TagOption = None, count: CountOption = None,
    title: TitleOption = "", tenant: TenantOption = DEFAULT_TENANT,
) -> None:  # fmt: skip
    """Make flashcards."""
    _make("cards", document, tag, count, "normal", title, tenant)


@study.command()
def workshop(
    document: DocumentOption = None, tag: TagOption = None, count: CountOption = None,
    title: TitleOption = "", tenant: TenantOption = DEFAULT_TENANT,
) -> None:  # fmt: skip
    """Make the outline of a workshop, whose lessons are written when they are opened."""
    _make("workshop", document, tag, count, "normal", title, tenant)


@study.command(name="map")
def map_(
    document: DocumentOption = None, tag: TagOption = None, count: CountOption = None,
    title: TitleOption = "", tenant: TenantOption = DEFAULT_TENANT,
) -> None:  # fmt: skip
    """Make a map: what the documents are about, as a tree."""
    _make("map", document, tag, count, "normal", title, tenant)


@study.command(name="list")
def list_(tenant: TenantOption = DEFAULT_TENANT) -> None:
    """List what has been made, the newest first."""
    from helix.study.sets import list_sets

    async def listed() -> list[Row]:
        async with _library(tenant) as service:
            found: list[Row] = (await list_sets(service.library))["sets"]
            return found

    columns = ("number", "kind", "title", "items", "stale", "status")
    rows = asyncio.run(listed())
    print_table(
        columns,
        ((r["id"], r["kind"], r["title"], r["made"], r["stale"], r["status"]) for r in rows),
    )


@study.command()
def due(
    limit: Annotated[int, typer.Option(min=1, max=200, help="Cards at most.")] = 20,
    tenant: TenantOption = DEFAULT_TENANT,
) -> None:
    """List the cards that are due, then new ones."""
    from helix.study.repetition import due_cards

    async def found() -> Row:
        async with _library(tenant) as service:
            retention = load_settings().study_retention
            return await due_cards(service.library, "", retention, limit)

    told = asyncio.run(found())
    typer.echo(f"{told['due']} due, {told['new']} new")
    for card in told["cards"]:
        typer.echo(f"  {card['id']}  {one_line(card['body']['front'])}")


@study.command()
def export(
    number: Annotated[int, typer.Argument(min=1, help="As `helix study list` has it.")],
    file: Annotated[Path, typer.Argument(help="Ends in .json, .md, .csv, .apkg or .svg.")],
    tenant: TenantOption = DEFAULT_TENANT,
) -> None:
    """Write a set to a file: cards also as CSV and for Anki, a map as SVG."""
    from helix.study.formats import Format, exported
    from helix.study.sets import set_with_items

    kind = _SUFFIXES.get(file.suffix.lower())
    if kind is None:
        raise BadRequest(f"{file.name} ends in none of {', '.join(_SUFFIXES)}")

    async def written() -> bytes:
        async with _library(tenant) as service:
            found, items = await set_with_items(service.library, number)
            return exported(cast("Format", kind), found, items)

    content = asyncio.run(written())
    try:
        file.write_bytes(content)
    except OSError as error:
        raise BadRequest(f"{file} cannot be written: {error.strerror}") from None
    typer.echo(f"{file} has {len(content):,} bytes")


@asynccontextmanager
async def _library(tenant: str) -> AsyncIterator[DatabaseLibrary]:
    from helix.commands.service.in_database import database_library

    async with database_library(load_settings(), tenant_name(tenant)) as service:
        yield service


def _make(
    kind: Kind, document: list[str] | None, tag: list[str] | None, count: int | None,
    difficulty: str, title: str, tenant: str,
) -> None:  # fmt: skip
    from helix.study.items import Difficulty
    from helix.study.sets import NewSet

    if difficulty not in get_args(Difficulty):
        raise BadRequest(f"--difficulty is one of {', '.join(get_args(Difficulty))}")
    level = cast("Difficulty", difficulty)

    async def made() -> Row:
        async with _library(tenant) as service:
            scope, ids = await _scope(service, document, tag, tenant)
            return await _carried_out(service, NewSet(kind, title, scope, ids, level, count))

    told = asyncio.run(made())
    dropped = sum(told["dropped"].values())
    left = f"; {dropped} dropped, which proved nothing" if dropped else ""
    typer.echo(f"{kind} {told['id']}: {told['made']} items of {one_line(told['title'])}{left}")
    if told["status"] == "failed":
        raise HelixError(f"it is not whole: {told['error']}")


async def _scope(
    service: DatabaseLibrary, document: list[str] | None, tag: list[str] | None, tenant: str
) -> tuple[Row, list[int] | None]:
    """What was asked for, as it is kept, and the documents that it comes to."""
    from helix.study.passages import documents_in

    ids = [row["id"] for row in await find_documents(service, document)] if document else None
    tags = checked_tags(tag) if tag else None
    kept: Row = {"document_ids": ids} if ids is not None else {}
    kept |= {"filters": {"tags": list(tags)}} if tags else {}
    scope = Scope(tenant_name(tenant), None if ids is None else tuple(ids), tags=tags)
    return kept, await documents_in(service.library, scope)


async def _carried_out(service: DatabaseLibrary, new: NewSet) -> Row:
    """Order the set, and have a worker make it; the last line says what it is doing."""
    from helix.library.run_progress import follow
    from helix.library.worker_processes import WorkerProcesses
    from helix.study.sets import get_set, order_set

    library = service.library
    set_id = await library.change(partial(order_set, tenant=library.tenant, new=new))
    ordered = await get_set(library, set_id)
    settings = load_settings()
    workers = WorkerProcesses(settings.model_copy(update={"workers": 1}))
    workers.ensure()
    try:
        async with aclosing(follow(library, ordered["run_id"])) as changes:
            async for change in changes:
                if change.name == "run" and change.data["stage"]:
                    typer.echo(change.data["stage"], err=True)
    finally:
        await workers.stop()
    return await get_set(library, set_id)
