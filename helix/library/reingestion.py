"""Documents that are read once more: uploads from their kept bytes, pages of the web anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from helix.domain.file_kinds import is_web
from helix.domain.scope import WHOLE, Reach
from helix.errors import HelixError
from helix.library.access import Row, rows_of
from helix.library.documents import no_document
from helix.library.errors import Conflict
from helix.library.run_files import NewFile, add_files
from helix.library.runs import create_run
from helix.library.web_imports import WebImportsOff, start_import
from helix.storage.connections import Connected
from helix.storage.statements import uploads as sql


@dataclass(frozen=True, slots=True)
class Rereading:
    """The runs that read documents again, and why the others of those asked for are not read."""

    runs: set[int] = field(default_factory=set)
    problems: dict[int, HelixError] = field(default_factory=dict)


def reread(connection: Connected, document_id: int, tenant: str) -> int:
    """A run that reads the kept bytes of the tenant's document anew, though they have not changed.

    The one under way, if there is one.

    Raises:
        NotFound: there is no such document.
        Conflict: its bytes are not kept.
    """
    result = _start_files(connection, _documents(connection, [document_id], tenant), tenant)
    if document_id in result.problems:
        raise result.problems[document_id]
    if not result.runs:
        raise no_document(document_id)
    return result.runs.pop()


def reread_all(
    connection: Connected, document_ids: Sequence[int], tenant: str, web_imports: bool,
    reach: Reach = WHOLE,
) -> Rereading:  # fmt: skip
    """One run for all kept bytes, one for all pages of the web; in the caller's transaction.

    Without ``web_imports`` a page of the web is a problem. An upload under an address of the web
    is read from its bytes: what is there may be another page, such as one to sign in. Whoever
    edits some spaces alone has a run for each that pages stand in, which its readers see.
    """
    rows = _documents(connection, document_ids, tenant)
    pages: list[Row] = []
    files: list[Row] = []
    for row in rows:
        is_page = is_web(row["source_uri"]) and row["file_hash"] is None
        (pages if is_page else files).append(row)
    rereading = _start_files(connection, files, tenant)
    unknown = set(document_ids) - {row["id"] for row in rows}
    rereading.problems.update((number, no_document(number)) for number in unknown)
    if pages and web_imports:
        rereading.runs.update(_start_pages(connection, pages, tenant, reach))
    elif pages:
        rereading.problems.update((row["id"], WebImportsOff()) for row in pages)
    return rereading


def _start_pages(
    connection: Connected, pages: Sequence[Row], tenant: str, reach: Reach
) -> Iterator[int]:
    by_space: dict[int | None, list[str]] = {}
    for row in pages:
        space = None if reach.edits is None else min(row["spaces"])
        by_space.setdefault(space, []).append(row["source_uri"])
    for space, urls in by_space.items():
        options: Row = {"url": urls[0]} if len(urls) == 1 else {"urls": urls}
        if reach.edits is not None:
            options |= {"space": space, "edits": list(reach.edits), "by": reach.owner}
        yield start_import(connection, "url", options, tenant)


def _documents(connection: Connected, document_ids: Sequence[int], tenant: str) -> list[Row]:
    return rows_of(connection, sql.AGAIN, {"tenant": tenant, "ids": list(document_ids)})


def _start_files(connection: Connected, documents: Sequence[Row], tenant: str) -> Rereading:
    """One run for those that are kept and not under way; the runs that these are part of."""
    under_way = {row["id"]: row["run_id"] for row in documents if row["run_id"] is not None}
    idle = [row for row in documents if row["id"] not in under_way]
    unkept = [row for row in idle if row["file_hash"] is None]
    rereading = Rereading(
        set(under_way.values()), {row["id"]: _bytes_not_kept(row) for row in unkept}
    )
    kept = [row for row in idle if row["file_hash"] is not None]
    if kept:
        ids = [row["id"] for row in kept]
        connection.execute(sql.ANEW, {"tenant": tenant, "ids": ids})
        options = {"document_ids": ids, "force": True}
        run_id = create_run(connection, "upload", options, tenant=tenant)
        add_files(connection, run_id, [_file(row) for row in kept])
        rereading.runs.add(run_id)
    return rereading


def _bytes_not_kept(document: Row) -> Conflict:
    return Conflict(
        f"document {document['id']} was not uploaded:"
        f" ingest {document['source_uri']} again where it lies"
    )


def _file(document: Row) -> NewFile:
    return NewFile(
        source_uri=document["source_uri"],
        title=document["title"] if document["titled"] else None,
        media=document["media"],
        size=document["size"],
        content_hash=document["file_hash"],
        file_hash=document["file_hash"],
        keep_file=True,
        document_id=document["id"],
        origin=document["origin"],
    )
