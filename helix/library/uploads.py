"""Uploads: what one is called, and its storing, once for the same bytes however often they come."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

from psycopg import Cursor
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from helix.domain.file_kinds import title_from_name
from helix.domain.input_text import visible_line
from helix.domain.scope import Spaces
from helix.library.access import Row
from helix.library.documents import tag_document
from helix.library.run_files import NewFile, add_files, cancel_document
from helix.library.runs import create_run
from helix.library.spaces import place_document
from helix.storage.connections import Connected
from helix.storage.statements import uploads as sql
from helix.storage.stored_bytes import drop_bytes, keep_bytes
from helix.storage.stored_documents import UPLOADED, add_source, give_metadata, keep_file

_LONGEST_NAME = 255
REPLACED = "replaced by a later upload"


@dataclass(frozen=True)
class Upload:
    """One uploaded file, ready to be stored. ``content_hash`` is the SHA-256 of its bytes in hex.

    ``title`` and ``source_uri`` are what the client asked for, and ``space`` the space that it is
    to stand in, None: wherever it stands, or the library. It is compared with documents of the
    spaces ``sees`` alone: of others nobody is to learn that they have these bytes, or to change
    them. ``data`` gives
    the bytes; they are read when they are stored, so that one file at a time is in memory.
    """

    name: str
    media: str
    size: int
    content_hash: str
    data: Callable[[], bytes]
    title: str | None = None
    source_uri: str | None = None
    tags: tuple[str, ...] | None = None
    metadata: Mapping[str, Any] | None = None
    space: int | None = None
    sees: Spaces = None

    @property
    def uri(self) -> str:
        """The source_uri it is stored under when its bytes are new."""
        apart = f"space-{self.space}/" if self.space else ""
        return self.source_uri or f"{UPLOADED}{apart}{self.content_hash[:16]}/{self.name}"


@dataclass(frozen=True, slots=True)
class UploadResult:
    """The outcome of the uploads of one request: the run that brings them in, if one does."""

    run_id: int | None
    documents: list[Row]


def clean_name(file_name: str) -> str:
    """The last part of a file name, without what could steer a terminal, in 255 characters."""
    name = re.split(r"[/\\]", file_name)[-1]
    name = visible_line(name)
    if name.strip(".") == "":
        return "file"
    stem, dot, suffix = name.rpartition(".")
    if not stem or len(suffix) > 20:
        return name[:_LONGEST_NAME]
    return stem[: _LONGEST_NAME - len(suffix) - 1] + dot + suffix


def store_uploads(connection: Connected, uploads: Sequence[Upload], tenant: str) -> UploadResult:
    """Store what is new of ``uploads`` and start one run for it, in the caller's transaction.

    Bytes that are a document already, or on the way to be one, are that document, wherever it came
    from and whatever they are called now; they are kept from then on. A document that failed is
    tried again. An upload that asks for a source_uri is compared with the document of that alone,
    and replaces it.
    """
    # in one order, or two requests with the same files would deadlock
    for lock in sorted({u.content_hash for u in uploads} | {u.uri for u in uploads}):
        connection.execute(sql.LOCK, (f"{tenant} {lock}",))
    created: int | None = None
    under_way: list[int] = []
    documents: list[Row] = []
    with connection.cursor(row_factory=dict_row) as cursor:
        for upload in uploads:
            document = _existing_document(cursor, upload, tenant)
            if document is None:
                created = created or create_run(connection, "upload", tenant=tenant)
                document = _announce(cursor, upload, created, tenant)
            elif (run_id := document.pop("run_id", None)) not in (None, created):
                under_way.append(run_id)
            documents.append(document)
    return UploadResult(created or max(under_way, default=None), documents)


def _existing_document(cursor: Cursor[Row], upload: Upload, tenant: str) -> Row | None:
    """The document that these bytes are already, with the ``run_id`` that is bringing it in."""
    values = {
        "tenant": tenant, "content_hash": upload.content_hash, "asked": upload.source_uri,
        **_spaces_of(upload),
    }  # fmt: skip
    row = cursor.execute(sql.UNDER_WAY, values).fetchone()
    if row is None:
        row = cursor.execute(sql.STORED, values).fetchone()
        if row is None or (row["own"] and row["status"] != "ready"):
            return None
        if row["own"]:
            # an upload of other bytes that waits to replace it came before this one
            cancel_document(cursor.connection, row["id"], REPLACED, tenant)
            _keep(cursor, upload, row, tenant)
        row.pop("unkept", None)
    if row.pop("own"):
        if upload.tags is not None:
            tag_document(cursor.connection, row["id"], upload.tags, tenant)
        give_metadata(cursor.connection, tenant, row["source_uri"], upload.metadata)
    if upload.space is not None:
        place_document(cursor.connection, row["id"], tenant=tenant, add=[upload.space])
    return {**row, "duplicate": True}


def _spaces_of(upload: Upload) -> Row:
    """The values of the spaces that an upload is compared within, and that it is to stand in."""
    return {
        "sees": None if upload.sees is None else list(upload.sees),
        "spaces": None if upload.space is None else [upload.space],
    }


def _keep(cursor: Cursor[Row], upload: Upload, document: Row, tenant: str) -> None:
    """Keep the bytes of an upload that is a document already, and record that it came."""
    connection = cursor.connection
    if document.pop("unkept"):
        cursor.execute(sql.LOCK_DOCUMENT, (tenant, document["id"]))
        keep_bytes(connection, tenant, upload.content_hash, upload.data())
        keep_file(connection, tenant, document["source_uri"], upload.content_hash)
    if document["source_uri"] != upload.uri:
        add_source(connection, tenant, document["id"], upload.uri, upload.content_hash)


def _announce(cursor: Cursor[Row], upload: Upload, run_id: int, tenant: str) -> Row:
    """Keep the bytes, with the document that they are to be, as a file of the run."""
    connection = cursor.connection
    values = {
        "tenant": tenant,
        "tags": None if upload.tags is None else list(upload.tags),
        "content_hash": upload.content_hash,
        "asked": upload.source_uri,
        "title": upload.title or title_from_name(upload.name),
        "media": upload.media,
        "size": upload.size,
        "origin": Jsonb({"name": upload.name}),  # a source_uri that was asked for has another
        **_spaces_of(upload),
    }
    failed = cursor.execute(sql.STORED, values).fetchone()  # a ready one would be known
    values["source_uri"] = failed["source_uri"] if failed else upload.uri
    before = cursor.execute(sql.BEFORE, values).fetchone()
    if before and not before["own"]:  # of a space where nothing may be changed, nor be found
        values["source_uri"] = f"{UPLOADED}{token_hex(8)}/{upload.name}"
        before = None
    if before:
        cancel_document(connection, before["id"], REPLACED, tenant)
    keep_bytes(connection, tenant, upload.content_hash, upload.data())
    document = cursor.execute(sql.ANNOUNCE, values).fetchone()
    assert document is not None
    if before:
        drop_bytes(connection, [(tenant, before["file_hash"])])
    new = NewFile(
        source_uri=document["source_uri"], title=upload.title, media=upload.media,
        size=upload.size, content_hash=upload.content_hash, file_hash=upload.content_hash,
        keep_file=True, document_id=document["id"], origin={"name": upload.name},
        tags=upload.tags,
    )  # fmt: skip
    add_files(connection, run_id, [new])
    give_metadata(connection, tenant, document["source_uri"], upload.metadata)
    return {**document, "duplicate": failed is not None}
