"""``helix study``: making, listing and exporting quizzes, cards, workshops and maps."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from helix.commands.console import one_line, print_table
from helix.commands.document_names import find_documents
from helix.commands.scope_options import DocumentOption, TagOption, TenantOption
from helix.commands.service.address import ServerOption
from helix.commands.study_learning import review, run_study, run_with_set, take
from helix.domain.scope import DEFAULT_TENANT, checked_tags
from helix.errors import BadRequest, HelixError

if TYPE_CHECKING:
    from helix.commands.service.study import StudyService
    from helix.library.access import Row
    from helix.study.formats import Format
    from helix.study.items import Difficulty, Kind

study = typer.Typer(
    name="study", help="Quizzes, cards, workshops and maps of your documents.",
    no_args_is_help=True,
)  # fmt: skip
study.command()(take)
study.command()(review)

CountOption = Annotated[int | None, typer.Option(help="How many items.")]
Number = Annotated[int, typer.Argument(min=1, help="As `helix study list` has it.")]
TitleOption = Annotated[str, typer.Option(help="What to call it; else its documents' titles.")]
LevelOption = Annotated[
    str, typer.Option("--difficulty", help="How hard: easy, normal or advanced.")
]
_SUFFIXES = {".json": "json", ".md": "markdown", ".csv": "csv", ".apkg": "anki", ".svg": "svg"}


@study.command()
def quiz(
    document: DocumentOption = None, tag: TagOption = None, count: CountOption = None,
    difficulty: LevelOption = "normal", title: TitleOption = "",
    tenant: TenantOption = DEFAULT_TENANT, server: ServerOption = None,
) -> None:  # fmt: skip
    """Make a quiz: questions of four options, and statements that are true or false."""
    _make("quiz", document, tag, count, difficulty, title, tenant, server)


@study.command()
def cards(
    document: DocumentOption = None, tag: TagOption = None, count: CountOption = None,
    title: TitleOption = "", tenant: TenantOption = DEFAULT_TENANT, server: ServerOption = None,
) -> None:  # fmt: skip
    """Make flashcards."""
    _make("cards", document, tag, count, "normal", title, tenant, server)


@study.command()
def workshop(
    document: DocumentOption = None, tag: TagOption = None, count: CountOption = None,
    title: TitleOption = "", tenant: TenantOption = DEFAULT_TENANT, server: ServerOption = None,
) -> None:  # fmt: skip
    """Make the outline of a workshop, whose lessons are written when they are opened."""
    _make("workshop", document, tag, count, "normal", title, tenant, server)


@study.command(name="map")
def map_(
    document: DocumentOption = None, tag: TagOption = None, count: CountOption = None,
    title: TitleOption = "", tenant: TenantOption = DEFAULT_TENANT, server: ServerOption = None,
) -> None:  # fmt: skip
    """Make a map: the topics of the documents as a tree."""
    _make("map", document, tag, count, "normal", title, tenant, server)


@study.command(name="list")
def list_(tenant: TenantOption = DEFAULT_TENANT, server: ServerOption = None) -> None:
    """List the sets, the newest first."""
    rows = run_study(lambda study: study.list_sets(), server, tenant)["sets"]
    columns = ("number", "kind", "title", "items", "stale", "status")
    print_table(
        columns,
        ((r["id"], r["kind"], r["title"], r["made"], r["stale"], r["status"]) for r in rows),
    )


@study.command()
def due(
    limit: Annotated[int, typer.Option(min=1, max=200, help="Cards at most.")] = 20,
    tenant: TenantOption = DEFAULT_TENANT,
    server: ServerOption = None,
) -> None:
    """List the cards that are due, then new ones."""
    page = run_study(lambda study: study.due(limit), server, tenant)
    typer.echo(f"{page['due']} due, {page['new']} new")
    for card in page["cards"]:
        typer.echo(f"  {card['id']}  {one_line(card['body']['front'])}")


@study.command()
def export(
    number: Number,
    file: Annotated[Path, typer.Argument(help="Ends in .json, .md, .csv, .apkg or .svg.")],
    tenant: TenantOption = DEFAULT_TENANT,
    server: ServerOption = None,
) -> None:
    """Write a set to a file: cards also as CSV and for Anki, a map as SVG."""
    kind = _SUFFIXES.get(file.suffix.lower())
    if kind is None:
        raise BadRequest(f"{file.name} ends in none of {', '.join(_SUFFIXES)}")
    format_ = cast("Format", kind)
    content = run_with_set(lambda study: study.export(number, format_), number, server, tenant)
    try:
        file.write_bytes(content)
    except OSError as error:
        raise BadRequest(f"{file} cannot be written: {error.strerror}") from None
    typer.echo(f"{file} has {len(content):,} bytes")


@study.command()
def rm(
    number: Number,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    tenant: TenantOption = DEFAULT_TENANT,
    server: ServerOption = None,
) -> None:
    """Delete a set, with its attempts and reviews. It asks first."""

    async def remove(study: StudyService) -> str:
        row = await study.read_set(number)
        label = one_line(f"{row['kind']} {number}: {row['made']} items of {row['title']}")
        if not yes:
            typer.confirm(f"Delete {label}? It cannot be undone.", abort=True, err=True)
        await study.delete_set(number)
        return label

    typer.echo(f"deleted {run_with_set(remove, number, server, tenant)}")


def _make(
    kind: Kind, document: list[str] | None, tag: list[str] | None, count: int | None,
    difficulty: str, title: str, tenant: str, server: str | None,
) -> None:  # fmt: skip
    from helix.study.items import Difficulty
    from helix.study.sets import NewSet

    NewSet(kind, count=count).item_count()  # told here, before anything is opened
    if difficulty not in get_args(Difficulty):
        raise BadRequest(f"--difficulty is one of {', '.join(get_args(Difficulty))}")
    level = cast("Difficulty", difficulty)

    async def create(study: StudyService) -> Row:
        scope = await _scope(study, document, tag)
        ordered = await study.order(kind, title, scope, level, count)
        async with aclosing(study.follow(ordered["run_id"])) as changes:
            async for change in changes:
                if change.name == "run" and change.data["stage"]:
                    typer.echo(change.data["stage"], err=True)
        return await study.read_set(ordered["id"])

    study_set = run_study(create, server, tenant)
    made, title = study_set["made"], one_line(study_set["title"])
    typer.echo(f"{kind} {study_set['id']}: {made} items of {title}{_shortfall(study_set, count)}")
    if study_set["status"] == "failed":
        raise HelixError(
            f"it is not whole: {study_set['error']}; `helix study rm {study_set['id']}` deletes it"
        )


def _shortfall(study_set: Row, count: int | None) -> str:
    """The number of items that are missing of ``count`` and why, and of those that were dropped."""
    reasons = ", ".join(f"{n} {reason}" for reason, n in study_set["dropped"].items() if n)
    told = f"; dropped: {reasons}" if reasons else ""
    if count is None or study_set["made"] >= count or study_set["status"] != "done":
        return told
    return f"; {count} were asked for, and its documents have no more that is proven{told}"


async def _scope(study: StudyService, document: list[str] | None, tag: list[str] | None) -> Row:
    """The scope of the options, as the body of POST /v1/study has it."""
    scope: Row = {}
    if document:
        matches = await find_documents(study.documents, document)
        scope["document_ids"] = [row["id"] for row in matches]
    if tag:
        scope["filters"] = {"tags": list(checked_tags(tag))}
    return scope
