"""Uploads: what one is called, and its storing, once for the same bytes however often they come."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from helix.library.access import Connected, Row
from helix.library.documents import no_document, tag_document
from helix.library.errors import Conflict
from helix.library.runs import (
    OPEN_FILE,
    NewFile,
    add_files,
    cancel_document,
    create_run,
    drop_bytes,
)

_LONGEST_NAME = 255
REPLACED = "replaced by a later upload"

# By name, for the lock of a source itself is held for as long as its document is written.
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('helix upload ' || %s, 0))"
_UNDER_WAY = """
SELECT d.id, d.title, d.source_uri, d.status, f.run_id
FROM run_files f JOIN documents d ON d.id = f.document_id
    JOIN runs r ON r.id = f.run_id AND r.status IN ('queued', 'running')
WHERE f.tenant_id = %(tenant)s AND f.content_hash = %(content_hash)s AND f.keep_file
    AND f.status = ANY(%(open)s)
    AND (%(asked)s::text IS NULL OR d.source_uri = %(asked)s)
ORDER BY f.run_id DESC LIMIT 1
"""
_STORED = """
SELECT id, title, source_uri, status FROM documents
WHERE tenant_id = %(tenant)s AND content_hash = %(content_hash)s
    AND CASE WHEN %(asked)s::text IS NULL THEN file_hash = content_hash
             ELSE source_uri = %(asked)s END
ORDER BY status = 'ready' DESC, id LIMIT 1
"""
_BEFORE = """
SELECT id, tenant_id, file_hash FROM documents WHERE tenant_id = %s AND source_uri = %s FOR UPDATE
"""
# the update of nothing locks the row against a deletion that finds it unused
_KEEP_BYTES = """
INSERT INTO files (tenant_id, content_hash, data) VALUES (%s, %s, %b)
ON CONFLICT (tenant_id, content_hash) DO UPDATE SET created_at = files.created_at
"""
# A document that can be read stays as it is until its new version is written.
_ANNOUNCE = """
INSERT INTO documents AS d (tenant_id, title, source_uri, content_hash, media, size, file_hash,
                            tags, status)
VALUES (%(tenant)s, %(title)s, %(source_uri)s, %(content_hash)s, %(media)s, %(size)s,
        %(content_hash)s, coalesce(%(tags)s::text[], '{}'), 'processing')
ON CONFLICT (tenant_id, source_uri) DO UPDATE SET
    status = CASE WHEN d.status = 'ready' THEN d.status ELSE 'processing' END,
    error = CASE WHEN d.status = 'ready' THEN d.error ELSE '' END,
    title = CASE WHEN d.status = 'ready' THEN d.title ELSE excluded.title END,
    content_hash = CASE WHEN d.status = 'ready' THEN d.content_hash ELSE excluded.content_hash END,
    media = CASE WHEN d.status = 'ready' THEN d.media ELSE excluded.media END,
    size = CASE WHEN d.status = 'ready' THEN d.size ELSE excluded.size END,
    file_hash = CASE WHEN d.status = 'ready' THEN d.file_hash ELSE excluded.file_hash END
RETURNING id, title, source_uri, status
"""
_AGAIN = """
SELECT d.source_uri, d.title, d.media, d.size, d.file_hash, d.status,
       (SELECT f.run_id FROM run_files f JOIN runs r ON r.id = f.run_id
        WHERE f.document_id = d.id AND f.status = ANY(%(open)s)
            AND r.status IN ('queued', 'running')
        ORDER BY f.run_id DESC LIMIT 1) AS run_id,
       coalesce((SELECT f.title IS NOT NULL FROM run_files f WHERE f.document_id = d.id
                 ORDER BY f.run_id DESC LIMIT 1), true) AS titled
FROM documents d WHERE d.tenant_id = %(tenant)s AND d.id = %(id)s FOR UPDATE OF d
"""


@dataclass(frozen=True)
class Upload:
    """One uploaded file, ready to be stored. ``content_hash`` is the SHA-256 of its bytes in hex.

    ``title`` and ``source_uri`` are what the client asked for. ``data`` gives the bytes; they are
    read when they are stored, so that one file at a time is in memory.
    """

    name: str
    media: str
    size: int
    content_hash: str
    data: Callable[[], bytes]
    title: str | None = None
    source_uri: str | None = None
    tags: tuple[str, ...] | None = None

    @property
    def uri(self) -> str:
        """The source_uri it is stored under when its bytes are new."""
        return self.source_uri or f"upload:{self.content_hash[:16]}/{self.name}"


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of the uploads of one request: the run that brings them in, if one does."""

    run_id: int | None
    documents: list[Row]


def clean_name(sent: str) -> str:
    """The last part of a file name, without what could steer a terminal, in 255 characters."""
    name = re.split(r"[/\\]", sent)[-1]
    name = "".join(c for c in name if unicodedata.category(c)[0] != "C").strip()
    if name.strip(".") == "":
        return "file"
    stem, dot, suffix = name.rpartition(".")
    if not stem or len(suffix) > 20:
        return name[:_LONGEST_NAME]
    return stem[: _LONGEST_NAME - len(suffix) - 1] + dot + suffix


def title_of(name: str) -> str:
    """The name in title case: ``refund-policy.txt`` is "Refund Policy"."""
    stem = name.rpartition(".")[0] or name
    words = re.sub(r"[\s_-]+", " ", stem).strip().split(" ")
    return " ".join(word[:1].upper() + word[1:] for word in words).strip() or name


def store_uploads(connection: Connected, uploads: Sequence[Upload], tenant: str) -> Stored:
    """Store what is new of ``uploads`` and start one run for it, in the caller's transaction.

    Bytes that are a document already, or on the way to be one, are that document, whatever they
    are called now; a document that failed is tried again. An upload that asks for a source_uri is
    compared with the document of that alone, and replaces it.
    """
    # in one order, or two requests with the same files would deadlock
    for lock in sorted({u.content_hash for u in uploads} | {u.uri for u in uploads}):
        connection.execute(_LOCK, (f"{tenant} {lock}",))
    created: list[int] = []
    under_way: list[int] = []
    told: list[Row] = []
    for upload in uploads:
        known, run_id = _known(connection, upload, tenant)
        if run_id is not None and run_id not in created:
            under_way.append(run_id)
        if known is None:
            if not created:
                created.append(create_run(connection, "upload", tenant=tenant))
            known = _store(connection, upload, created[0], tenant)
        told.append(known)
    return Stored(max(created or under_way, default=None), told)


def _known(connection: Connected, upload: Upload, tenant: str) -> tuple[Row | None, int | None]:
    """The document that these bytes are already, and the run that is bringing it in."""
    values = {
        "tenant": tenant,
        "content_hash": upload.content_hash,
        "asked": upload.source_uri,
        "open": list(OPEN_FILE),
    }
    if row := connection.execute(_UNDER_WAY, values).fetchone():
        if upload.tags is not None:
            tag_document(connection, row[0], upload.tags, tenant)
        return _told(row, duplicate=True), int(row[4])
    row = connection.execute(_STORED, values).fetchone()
    if row is None or row[3] != "ready":
        return None, None
    if upload.tags is not None:
        tag_document(connection, row[0], upload.tags, tenant)
    # an upload of other bytes that waits to replace it came before this one
    cancel_document(connection, row[0], REPLACED, tenant)
    return _told(row, duplicate=True), None


def _store(connection: Connected, upload: Upload, run_id: int, tenant: str) -> Row:
    values = {
        "tenant": tenant,
        "tags": None if upload.tags is None else list(upload.tags),
        "content_hash": upload.content_hash,
        "asked": upload.source_uri,
        "title": upload.title or title_of(upload.name),
        "media": upload.media,
        "size": upload.size,
    }
    earlier = connection.execute(_STORED, values).fetchone()  # one that failed
    values["source_uri"] = earlier[2] if earlier else upload.uri
    before = connection.execute(_BEFORE, (tenant, values["source_uri"])).fetchone()
    if before:
        cancel_document(connection, before[0], REPLACED, tenant)
    connection.execute(_KEEP_BYTES, (tenant, upload.content_hash, upload.data()))
    row = connection.execute(_ANNOUNCE, values).fetchone()
    assert row is not None
    if before:
        drop_bytes(connection, [before[1:]])
    new = NewFile(
        source_uri=row[2], title=upload.title, media=upload.media, size=upload.size,
        content_hash=upload.content_hash, file_hash=upload.content_hash, keep_file=True,
        document_id=row[0], tags=upload.tags,
    )  # fmt: skip
    add_files(connection, run_id, [new])
    return _told(row, duplicate=earlier is not None)


def _told(row: Sequence[Any], *, duplicate: bool) -> Row:
    names = ("id", "title", "source_uri", "status")
    return {**dict(zip(names, row[:4], strict=True)), "duplicate": duplicate}


def read_again(connection: Connected, document_id: int, tenant: str) -> int:
    """A run that reads the kept bytes of the tenant's document anew, though they have not changed.

    The one under way, if there is one.

    Raises:
        NotFound: there is no such document.
        Conflict: its bytes are not kept.
    """
    values = {"tenant": tenant, "id": document_id, "open": list(OPEN_FILE)}
    row = connection.execute(_AGAIN, values).fetchone()
    if row is None:
        raise no_document(document_id)
    source_uri, title, media, size, file_hash, status, run_id, titled = row
    if run_id is not None:
        return int(run_id)
    if file_hash is None:
        raise Conflict(
            f"document {document_id} was not uploaded: ingest {source_uri} again where it lies"
        )
    if status != "ready":
        connection.execute(
            "UPDATE documents SET status = 'processing', error = ''"
            " WHERE tenant_id = %s AND id = %s",
            (tenant, document_id),
        )
    options = {"document_id": document_id, "force": True}
    run_id = create_run(connection, "upload", options, tenant=tenant)
    new = NewFile(
        source_uri=source_uri, title=title if titled else None, media=media, size=size,
        content_hash=file_hash, file_hash=file_hash, keep_file=True, document_id=document_id,
    )  # fmt: skip
    add_files(connection, run_id, [new])
    return run_id
