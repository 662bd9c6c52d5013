"""The entries of a source in the database: known, put, settled, moved and removed.

Everything here is one or a few statements on the owner's connection, as in runs.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from helix.library.documents import remove_document
from helix.library.errors import NotFound
from helix.storage.connections import Connected
from helix.storage.statements import documents as documents_sql
from helix.storage.statements import source_entries as sql
from helix.storage.statements import sources as sources_sql
from helix.storage.stored_documents import naming

SOURCE = "source:"
"""The beginning of the source_uri of every document that a source has."""


def uri_of(source_id: int, key: str) -> str:
    """The source_uri of the document of an entry."""
    return f"{SOURCE}{source_id}/{key}"


@dataclass(frozen=True, slots=True)
class KnownEntry:
    """An entry as it was when the source was last listed.

    ``tried``: it failed within a day. ``is_current``: its document is of these bytes, read as a
    file is read now. Without a document and a ``reason``, it was deleted here. ``spaces`` are those
    that its document stands in.
    """

    key: str
    size: int | None
    modified: datetime | None
    etag: str
    content_hash: str
    metadata: dict[str, Any]
    readers: list[str] | None
    coming: bool
    document_id: int | None
    reason: str
    tried: bool
    was_gone: bool
    is_current: bool
    spaces: list[int] | None = None


@dataclass(frozen=True, slots=True)
class PutEntry:
    """An entry as it is listed now; ``coming``: its bytes are with a run."""

    key: str
    size: int | None
    modified: datetime | None
    etag: str
    content_hash: str
    url: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    readers: Sequence[str] | None = None
    coming: bool = False
    reason: str = ""

    def row(self) -> dict[str, Any]:
        """The entry as the JSON that a statement takes."""
        return {
            "key": self.key, "size": self.size,
            "modified": None if self.modified is None else self.modified.isoformat(),
            "etag": self.etag, "content_hash": self.content_hash, "url": self.url,
            "metadata": dict(self.metadata),
            "readers": None if self.readers is None else list(self.readers),
            "coming": self.coming, "reason": self.reason,
        }  # fmt: skip


def known_entries(
    connection: Connected, tenant: str, source_id: int, recipe: str
) -> dict[str, KnownEntry]:
    """All entries of a source by their keys; ``recipe`` is how documents are made now."""
    values = {"tenant": tenant, "id": source_id, "recipe": recipe}
    with connection.cursor(row_factory=class_row(KnownEntry)) as cursor:
        return {entry.key: entry for entry in cursor.execute(sql.KNOWN, values)}


def put_entries(
    connection: Connected, tenant: str, source_id: int, entries: Sequence[PutEntry]
) -> None:
    """Write entries, new and known, in one statement."""
    if entries:
        rows = Jsonb([entry.row() for entry in entries])
        connection.execute(sql.PUT, {"tenant": tenant, "id": source_id, "rows": rows})


def settle(connection: Connected, tenant: str, source_id: int, run_id: int | None = None) -> None:
    """Take up what became of the entries that were handed to runs; of ``run_id`` failures too."""
    values = {"tenant": tenant, "id": source_id, "run_id": run_id}
    connection.execute(sql.SETTLE, values)
    if run_id is not None:
        connection.execute(sql.SETTLE_FAILED, values)


def mark_gone(
    connection: Connected, tenant: str, source_id: int, keys: Sequence[str], run_id: int | None
) -> None:
    """Note that entries are gone; ``run_id`` removes their documents, None: they wait."""
    values = {"tenant": tenant, "id": source_id, "keys": list(keys), "run_id": run_id}
    connection.execute(sql.MARK_GONE, values)


def mark_back(connection: Connected, tenant: str, source_id: int, keys: Sequence[str]) -> None:
    """Note that entries that were gone are there again."""
    values = {"tenant": tenant, "id": source_id, "keys": list(keys)}
    connection.execute(sql.MARK_BACK, values)


def mark_all(connection: Connected, tenant: str, source_id: int, run_id: int) -> None:
    """Have a run remove all that a source has."""
    connection.execute(sql.MARK_ALL, {"tenant": tenant, "id": source_id, "run_id": run_id})


@dataclass(frozen=True, slots=True)
class Move:
    """An entry ``old`` that is ``new`` now, shown as ``name``."""

    old: KnownEntry
    new: PutEntry
    name: str


def move_entries(
    connection: Connected, tenant: str, source_id: int, moves: Sequence[Move]
) -> set[str]:
    """Give the documents of old entries their new places and names; in one transaction.

    Their ids, texts, chunks and vectors stay. The new keys: one is left out, and nothing of it
    changed, where another document is there.
    """
    if not moves:
        return set()
    rows = [
        {
            "document_id": move.old.document_id, "old": move.old.key, "key": move.new.key,
            "uri": uri_of(source_id, move.new.key), "url": move.new.url, "name": move.name,
        }
        for move in moves
    ]  # fmt: skip
    uris = [row["uri"] for row in rows] + [uri_of(source_id, move.old.key) for move in moves]
    connection.execute(sql.LOCK, {"tenant": tenant, "uris": uris})
    moved = connection.execute(sql.MOVE_DOCUMENTS, {"tenant": tenant, "rows": Jsonb(rows)})
    names = [naming(tenant, *row[1:]) for row in moved.fetchall()]
    done = {forget[1]["source_uri"] for forget, _ in names}
    with connection.cursor() as cursor:
        for at in (0, 1) if names else ():
            cursor.executemany(names[0][at][0], [pair[at][1] for pair in names])
    rows = [row for row in rows if row["uri"] in done]
    keys = {str(row["key"]) for row in rows}
    put_entries(connection, tenant, source_id, [move.new for move in moves if move.new.key in keys])
    connection.execute(sql.MOVE, {"tenant": tenant, "id": source_id, "rows": Jsonb(rows)})
    return keys


def place_document_of(
    connection: Connected, tenant: str, document_id: int, spaces: Sequence[int]
) -> None:
    """Have the document of an entry stand in exactly these spaces."""
    values = {"tenant": tenant, "document_id": document_id, "spaces": list(spaces)}
    connection.execute(sql.PLACE, values)


def removable(
    connection: Connected, tenant: str, source_id: int, run_id: int
) -> list[tuple[str, int | None]]:
    """(key, document) of some entries that the run is to remove; empty where none is left."""
    values = {"tenant": tenant, "id": source_id, "run_id": run_id}
    return connection.execute(sql.REMOVABLE, values).fetchall()


def remove_entry(
    connection: Connected, tenant: str, source_id: int, key: str, document_id: int | None
) -> bool:
    """Delete an entry and its document, in the caller's transaction; true where one went.

    A document whose bytes came from elsewhere too stays, as what it is there.
    """
    gone = False
    if document_id is not None:
        values = {"tenant": tenant, "document_id": document_id}
        row = connection.execute(documents_sql.SOURCE_OF, (tenant, document_id)).fetchone()
        if row == (uri_of(source_id, key),):
            gone = connection.execute(sql.HAND_OVER, values).fetchone() is None
    if gone and document_id is not None:
        try:
            remove_document(connection, document_id, tenant)
        except NotFound:  # somebody deleted it meanwhile
            gone = False
    connection.execute(sql.DROP, {"tenant": tenant, "id": source_id, "key": key})
    return gone


def tell_sync(
    connection: Connected,
    tenant: str,
    source_id: int,
    counts: Mapping[str, int],
    error: str,
    whole: bool,
) -> None:
    """Say how a sync of the source goes, or went."""
    values = {
        "tenant": tenant, "id": source_id, "counts": Jsonb(dict(counts)), "error": error,
        "whole": whole,
    }  # fmt: skip
    connection.execute(sources_sql.TELL, values)


def tell_preview(
    connection: Connected, tenant: str, source_id: int, preview: Mapping[str, Any]
) -> None:
    """Say what a sync of the source would do."""
    values = {"tenant": tenant, "id": source_id, "preview": Jsonb(dict(preview))}
    connection.execute(sources_sql.TELL_PREVIEW, values)


def sync_of_run(connection: Connected, run_id: int) -> tuple[str, int, dict[str, Any]] | None:
    """(tenant, source, options) of the sync that a run is; None where it is none."""
    return connection.execute(sources_sql.SYNC_OF_RUN, (run_id,)).fetchone()


def told_sync(connection: Connected, tenant: str, source_id: int) -> tuple[str, dict[str, int]]:
    """(error, counts) of the source's sync, as they were told last."""
    values = {"tenant": tenant, "id": source_id}
    row = connection.execute(sources_sql.TOLD, values).fetchone()
    return (str(row[0]), dict(row[1])) if row else ("", {})


def count_removed(connection: Connected, tenant: str, source_id: int, removed: int) -> None:
    """Add to what is told of a sync how many documents it removed."""
    values = {"tenant": tenant, "id": source_id, "counts": Jsonb({"removed": removed})}
    connection.execute(sources_sql.COUNT, values)
