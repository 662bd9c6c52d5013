"""``helix documents``: what is in the library; showing, labelling, describing and deleting it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer

from helix.commands.console import one_line, print_table, printable
from helix.commands.document_names import find_document, find_documents
from helix.commands.lazy_commands import ListByDefault
from helix.commands.refusals import unmet_condition
from helix.commands.service.address import ServerOption
from helix.commands.service.documents import LibraryService
from helix.commands.service.service_choice import opened
from helix.domain.conditions import written_conditions
from helix.domain.metadata import assignments, checked_key, shown
from helix.domain.scope import DEFAULT_TENANT, checked_tags, tenant_name
from helix.errors import BadRequest, HelixError
from helix.library.access import Row
from helix.library.document_list import (
    DocumentFilter,
    Order,
    Page,
    Sort,
    Status,
    checked_sort,
)
from helix.telemetry.logs import configure_logging

documents = typer.Typer(
    name="documents", help="What is in the library: list, show, label, describe, delete.",
    cls=ListByDefault,
)  # fmt: skip

Result = TypeVar("Result")
Names = Annotated[
    list[str], typer.Argument(metavar="NAME", help="Title, file name or path; or its number.")
]
Tenant = Annotated[str, typer.Option(help="Whose documents.")]
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where", "-w", metavar="CONDITION",
        help="Whose metadata fits, as 'year>=2024'; may be given again.",
    ),
]  # fmt: skip
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
_PAGE = 200
"""The most documents that one page has."""


@documents.command("list")
def list_(
    search: Annotated[
        str, typer.Argument(metavar="TEXT", help="A part of title, path or file name.")
    ] = "",
    tag: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="With this label; may be given again.")
    ] = None,
    status: Annotated[Status | None, typer.Option(help="In this state only.")] = None,
    company: Annotated[str, typer.Option(help="Of this company.")] = "",
    kind: Annotated[str, typer.Option(help="Of this kind, such as 10-Q.")] = "",
    where: Where = None,
    sort: Annotated[
        Sort,
        typer.Option(metavar="SORT", help="updated, title, size, kind, status or meta.KEY."),
    ] = "updated",
    order: Annotated[Order | None, typer.Option(help="Which way; as is usual for --sort.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="How many at most.")] = 50,
    as_json: AsJson = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="With numbers, paths and sizes.")
    ] = False,
    tenant: Tenant = DEFAULT_TENANT,
    server: ServerOption = None,
) -> None:
    """List the documents, newest first; `helix documents` alone does that too."""
    filters = DocumentFilter(
        search, status, checked_tags(tag) if tag else None, company, kind,
        where=written_conditions(where or ()),
    )  # fmt: skip
    first = Page(min(limit, _PAGE), None, checked_sort(sort), order)

    async def listed(library: LibraryService) -> tuple[Row, str]:
        pages = await _pages(library, filters, first, limit)
        return pages, "" if pages["documents"] else await unmet_condition(library, filters.where)

    listing, unmet = _run(listed, server, tenant)
    if as_json:
        typer.echo(json.dumps(listing, ensure_ascii=False, indent=2))
        return
    if not listing["documents"]:
        typer.echo(unmet or _nothing_found(filters, tenant), err=True)
        return
    (_print_in_full if verbose else _print_documents)(listing["documents"])
    if (remaining := listing["total"] - len(listing["documents"])) > 0:
        typer.echo(f"… and {remaining:,} more: --limit {listing['total']} shows all", err=True)


@documents.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Title, file name or path; or its number.")
    ],
    text: Annotated[bool, typer.Option("--text", help="Print its text.")] = False,
    as_json: AsJson = False,
    tenant: Tenant = DEFAULT_TENANT,
    server: ServerOption = None,
) -> None:
    """Tell what is known of one document, or print its text."""

    async def fetch(library: LibraryService) -> Row:
        match = await find_document(library, name)
        return await library.get_document(match["id"], with_text=text)

    document = _run(fetch, server, tenant)
    if as_json:
        typer.echo(json.dumps(document, ensure_ascii=False, indent=2))
    elif text:
        typer.echo(printable(document["text"] or ""))
    else:
        for key, value in _fields(document):
            typer.echo(f"{key:<9} {one_line(value)}")


@documents.command()
def rm(
    names: Names,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    tenant: Tenant = DEFAULT_TENANT,
    server: ServerOption = None,
) -> None:
    """Delete documents, with their text, vectors and stored files. It asks first."""

    async def remove(library: LibraryService) -> None:
        matches = await find_documents(library, names)
        if not yes:
            for document in matches:
                typer.echo(f"  {_label(document)}", err=True)
            subject = "this document" if len(matches) == 1 else f"these {len(matches)} documents"
            typer.confirm(f"Delete {subject}? It cannot be undone.", abort=True, err=True)
        for document in matches:
            await library.remove_document(document["id"])
            typer.echo(f"deleted {_label(document)}")

    _run(remove, server, tenant)


@documents.command()
def tag(
    names: Names,
    add: Annotated[
        list[str] | None, typer.Option("--add", "-a", metavar="TAG", help="Put a label on.")
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option("--remove", "-r", metavar="TAG", help="Take a label off.")
    ] = None,
    tenant: Tenant = DEFAULT_TENANT,
    server: ServerOption = None,
) -> None:
    """Put labels on documents, or take them off: questions can be asked of a label."""
    added, removed = checked_tags(add or ()), checked_tags(remove or ())
    if not (added or removed):
        raise BadRequest("nothing to change: give --add TAG or --remove TAG")

    async def change(library: LibraryService) -> None:
        for document in await find_documents(library, names):
            remaining = [tag for tag in document["tags"] if tag not in removed]
            if missing := [tag for tag in removed if tag not in document["tags"]]:
                raise HelixError(f"{_label(document)} has no label {missing[0]}")
            tags = list(checked_tags([*remaining, *added]))
            await library.edit_document(document["id"], {"tags": tags})
            typer.echo(f"{_label(document)}: {', '.join(tags) or 'no label'}")

    _run(change, server, tenant)


@documents.command(name="set")
def set_(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME]... KEY=VALUE...",
            help="Titles, file names, paths or numbers; then what to set. KEY= takes it away,"
            " KEY:TYPE=VALUE says if it is text, number, date or list.",
        ),
    ],
    where: Where = None,
    tenant: Tenant = DEFAULT_TENANT,
    server: ServerOption = None,
) -> None:
    """Set metadata of documents: those named, or all that fit --where. All of them or none."""
    names = [word for word in words if "=" not in word]
    patch = _patch([word for word in words if "=" in word])
    filters = DocumentFilter(where=written_conditions(where or ()))
    if not (names or where):
        raise BadRequest("which documents? Name them, or give --where CONDITION")

    async def change(library: LibraryService) -> Row:
        ids = [document["id"] for document in await find_documents(library, names)]
        return await library.edit_metadata(patch, filters, ids if names else None)

    edited = _run(change, server, tenant)
    typer.echo(f"{edited['matched']} documents, {edited['changed']} of them changed")


def _patch(words: list[str]) -> Row:
    if not words:
        raise BadRequest("nothing to set: give KEY=VALUE, or KEY= to take it away")
    removed = [word[:-1] for word in words if word.endswith("=") and word.count("=") == 1]
    given = assignments(word for word in words if word[:-1] not in removed)
    return {checked_key(key): None for key in removed} | given


async def _pages(library: LibraryService, filters: DocumentFilter, page: Page, limit: int) -> Row:
    """The first ``limit`` documents and the total, whatever a page may hold."""
    first_page = await library.list_documents(filters, page)
    rows, after = first_page["documents"], first_page["next"]
    while after and len(rows) < limit:
        following = Page(min(limit - len(rows), _PAGE), after, page.sort, page.order)
        more = await library.list_documents(filters, following)
        rows, after = rows + more["documents"], more["next"]
    return {"documents": rows, "next": after, "total": first_page["total"]}


def _nothing_found(filters: DocumentFilter, tenant: str) -> str:
    if filters != DocumentFilter():
        return "no document fits"
    whose = "" if tenant == DEFAULT_TENANT else f" --tenant {tenant}"
    return f"nothing is ingested yet: `helix ingest{whose} PATH` brings files in"


def _print_documents(rows: list[Row]) -> None:
    columns = ["title", "file", "kind", "added"]
    if any(row["tags"] for row in rows):
        columns.append("labels")
    if any(row["metadata"] for row in rows):
        columns.append("metadata")
    if any(row["status"] != "ready" for row in rows):
        columns.append("state")
    print_table(columns, ([_cell(row, column) for column in columns] for row in rows))


def _print_in_full(rows: list[Row]) -> None:
    """Print some lines for each document: a table of its path and numbers fits no terminal."""
    columns = ["kind", "added", "pages", "chunks", "size", "labels", "metadata"]
    for row in rows:
        named = columns if row["status"] == "ready" else [*columns, "state"]
        cells = {column: _cell(row, column) for column in named}
        facts = ", ".join(f"{column} {cell}" for column, cell in cells.items() if cell)
        typer.echo(f"number {row['id']}  {one_line(row['title'])}")
        typer.echo(f"    {one_line(row['source_uri'])}\n    {one_line(facts)}")


def _cell(row: Row, column: str) -> object:
    match column:
        case "title":
            return row["title"]
        case "file":
            return _file_name(row)
        case "kind":
            return row["facts"].get("kind") or row["media"]
        case "labels":
            return ", ".join(row["tags"])
        case "added":
            return str(row["updated_at"])[:10]
        case "size":
            return _size(row["size"])
        case "state":
            return row["error"] or row["status"]
        case _:
            return _cell_of_row(row[column])


def _cell_of_row(value: object) -> object:
    """The cell of a table for a row's value; of metadata every key."""
    if isinstance(value, dict):
        return ", ".join(f"{key}={shown(one)}" for key, one in value.items())
    return "" if value is None else value


def _fields(document: Row) -> list[tuple[str, str]]:
    facts = {name: fact for name, fact in document["facts"].items() if isinstance(fact, str)}
    fields = {
        "title": document["title"],
        "file": _file_name(document),
        "path": document["source_uri"],
        **facts,
        **{key: shown(value) for key, value in document["metadata"].items()},
        "state": document["error"] or document["status"],
        "labels": ", ".join(document["tags"]),
        "pages": str(document["pages"] or ""),
        "passages": str(len(document["chunks"])),
        "size": _size(document["size"]),
        "added": str(document["created_at"])[:16].replace("T", " "),
        "changed": str(document["updated_at"])[:16].replace("T", " "),
        "warnings": "; ".join(document["warnings"]),
        "number": str(document["id"]),
    }
    return [(name, text) for name, text in fields.items() if text]


def _file_name(row: Row) -> str:
    return str(row["file_name"] or row["source_uri"].rpartition("/")[2])


def _label(row: Row) -> str:
    return one_line(f"{row['title']} ({_file_name(row)})")


def _size(size: int | None) -> str:
    if not size:
        return ""
    return f"{size / 2**20:.1f} MB" if size >= 2**20 else f"{max(1, size // 1024)} kB"


def _run(
    action: Callable[[LibraryService], Awaitable[Result]], server: str | None, tenant: str
) -> Result:
    """The result of ``action`` on the tenant's library, at a server or in the database."""
    configure_logging("warning")

    async def connected() -> Result:
        async with opened(LibraryService, server, tenant_name(tenant)) as library:
            return await action(library)

    return asyncio.run(connected())
