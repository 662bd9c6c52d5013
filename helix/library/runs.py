"""Runs and their files in the database: made by whoever asks, carried out by workers.

Everything here is one or a few statements on the caller's connection: part of the transaction that
is open on it, else a transaction of its own, or of each statement (connections in autocommit).
Every change takes the next number of the sequence ``run_changes`` as the row's ``version``:
followers ask for what is newer than what they have seen.

A transaction that writes a document and its file's outcome writes the document first: the lock of
the source comes before the lock of the row, here as in a deletion, or two would deadlock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from helix.scope import DEFAULT_TENANT

Connected = Connection[TupleRow]
Kind = Literal["paths", "upload", "url", "crawl", "reembed"]
RunEnd = Literal["done", "failed", "cancelled"]
FileStatus = Literal[
    "queued", "reading", "embedding", "writing",
    "added", "replaced", "unchanged", "failed", "cancelled",
]  # fmt: skip

CHANNEL = "helix_runs"
"""What workers LISTEN to; the payload is the id of a run that is new or is to stop."""

LIVE = 0x4C495645  # "LIVE"
"""The class of the advisory locks that living workers hold, each one by its name."""

OPEN_RUN = ("queued", "running", "cancelling")
OPEN_FILE = ("queued", "reading", "embedding", "writing")
ENDED_RUN = ("done", "failed", "cancelled")
CANCELLED = "cancelled"
"""The reason told for a file, and for a document never readable, whose run was cancelled."""

_NOTIFY = "SELECT pg_notify(%s, %s)"
_CREATE = """
INSERT INTO runs (tenant_id, kind, options, key, host)
VALUES (%(tenant)s, %(kind)s, %(options)s, %(key)s, %(host)s)
RETURNING id
"""
_ADD_FILE = """
INSERT INTO run_files (tenant_id, run_id, n, source_uri, title, media, size, content_hash,
                       file_hash, keep_file, document_id, origin, tags)
SELECT tenant_id, id, %(n)s, %(source_uri)s, %(title)s, %(media)s, %(size)s, %(content_hash)s,
       %(file_hash)s, %(keep_file)s, %(document_id)s, %(origin)s, %(tags)s
FROM runs WHERE id = %(run_id)s
ON CONFLICT (run_id, source_uri) DO NOTHING
"""
_SET_STAGE = """
UPDATE runs SET stage = %(stage)s, ignored = coalesce(%(ignored)s, ignored),
                version = nextval('run_changes')
WHERE id = %(run_id)s
RETURNING status = 'running'
"""
# A file that has ended needs its bytes no more: a document that keeps them refers to them itself.
_SET_FILE = """
WITH before AS (
    SELECT run_id, n, file_hash FROM run_files
    WHERE run_id = %(run_id)s AND n = %(n)s AND status = ANY(%(open)s) FOR UPDATE
)
UPDATE run_files f
SET status = %(status)s, done = %(done)s, total = %(total)s,
    chunks = coalesce(%(chunks)s, chunks), reason = coalesce(%(reason)s, reason),
    warnings = coalesce(%(warnings)s, warnings),
    document_id = coalesce(%(document_id)s, document_id),
    file_hash = CASE WHEN %(status)s = ANY(%(open)s) THEN f.file_hash END,
    changed_at = now(), version = nextval('run_changes')
FROM before b WHERE f.run_id = b.run_id AND f.n = b.n
RETURNING f.tenant_id, b.file_hash
"""
_FINISH = """
UPDATE runs SET status = %(status)s, error = %(error)s, finished_at = now(), stage = '',
                version = nextval('run_changes')
WHERE id = %(run_id)s AND status = ANY(%(open)s)
RETURNING id
"""
# locked before its files, as a deletion and a write do
_LOCK_DOCUMENTS = """
SELECT id FROM documents WHERE status = 'processing' AND id IN (
    SELECT document_id FROM run_files
    WHERE run_id = %(run_id)s AND status = ANY(%(open)s) AND (%(n)s::int IS NULL OR n = %(n)s))
ORDER BY id FOR UPDATE
"""
_END_FILES = """
WITH ending AS (
    SELECT run_id, n, document_id, file_hash FROM run_files
    WHERE run_id = %(run_id)s AND status = ANY(%(open)s) AND (%(n)s::int IS NULL OR n = %(n)s)
    ORDER BY n FOR UPDATE
), never_readable AS (
    UPDATE documents d SET status = 'failed', error = %(reason)s, updated_at = now()
    WHERE status = 'processing' AND id IN (SELECT document_id FROM ending)
        AND NOT EXISTS (SELECT FROM run_files f WHERE f.document_id = d.id
            AND f.status = ANY(%(open)s) AND (f.run_id, f.n) NOT IN (SELECT run_id, n FROM ending))
)
UPDATE run_files f
SET status = %(status)s, reason = %(reason)s, file_hash = NULL, changed_at = now(),
    version = nextval('run_changes')
FROM ending e WHERE f.run_id = e.run_id AND f.n = e.n
RETURNING f.tenant_id, e.file_hash
"""
_CANCEL_DOCUMENT = """
WITH ending AS (
    SELECT run_id, n, file_hash FROM run_files
    WHERE tenant_id = %(tenant)s AND document_id = %(document_id)s AND status = ANY(%(open)s)
    ORDER BY run_id, n FOR UPDATE
)
UPDATE run_files f
SET status = 'cancelled', reason = %(reason)s, file_hash = NULL, changed_at = now(),
    version = nextval('run_changes')
FROM ending e WHERE f.run_id = e.run_id AND f.n = e.n
RETURNING f.tenant_id, e.file_hash
"""
# locked in a statement of its own, so that the next one sees who has come to need them
_LOCK_BYTES = """
SELECT 1 FROM files
WHERE (tenant_id, content_hash) IN (SELECT * FROM unnest(%s::text[], %s::text[]))
ORDER BY tenant_id, content_hash FOR UPDATE
"""
_DROP_BYTES = """
DELETE FROM files f
WHERE (tenant_id, content_hash) IN (SELECT * FROM unnest(%s::text[], %s::text[]))
    AND NOT EXISTS (SELECT FROM documents d
        WHERE d.file_hash = f.content_hash AND d.tenant_id = f.tenant_id)
    AND NOT EXISTS (SELECT FROM run_files r
        WHERE r.file_hash = f.content_hash AND r.tenant_id = f.tenant_id)
"""


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that a run is to bring in. Hashes are SHA-256 in hex; ``size`` is in bytes.

    ``title`` is None where the file names its own. ``file_hash`` is set where its bytes are in
    ``files``; with ``keep_file`` they stay for as long as its document does. ``tags`` of None
    leave a stored document those that it has.
    """

    source_uri: str
    title: str | None = None
    media: str = ""
    size: int = 0
    content_hash: str = ""
    file_hash: str | None = None
    keep_file: bool = False
    document_id: int | None = None
    origin: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] | None = None


def create_run(
    connection: Connected,
    kind: Kind,
    options: Mapping[str, Any] | None = None,
    key: str = "",
    host: str | None = None,
    tenant: str = DEFAULT_TENANT,
) -> int:
    """A new queued run of a tenant; returns its id. Workers hear of it at the commit.

    ``host`` names the only machine that may take it; None: any.
    """
    values = {
        "tenant": tenant, "kind": kind, "options": Jsonb(dict(options or {})), "key": key,
        "host": host,
    }  # fmt: skip
    row = connection.execute(_CREATE, values).fetchone()
    assert row is not None
    notify(connection, int(row[0]))
    return int(row[0])


def notify(connection: Connected, run_id: int) -> None:
    """Wake the workers, at the commit."""
    connection.execute(_NOTIFY, (CHANNEL, str(run_id)))


def find_open_run(connection: Connected, key: str, tenant: str = DEFAULT_TENANT) -> int | None:
    """A tenant's newest run of this ``key`` that has not ended, and is not about to."""
    row = connection.execute(
        "SELECT max(id) FROM runs"
        " WHERE tenant_id = %s AND key = %s AND status IN ('queued', 'running')",
        (tenant, key),
    ).fetchone()
    return None if row is None or row[0] is None else int(row[0])


def add_files(connection: Connected, run_id: int, files: Sequence[NewFile]) -> None:
    """Add files to the run, numbered on from those it has; a source_uri it has is left as it is."""
    row = connection.execute(
        "SELECT coalesce(max(n) + 1, 0) FROM run_files WHERE run_id = %s", (run_id,)
    ).fetchone()
    assert row is not None
    with connection.cursor() as cursor:
        cursor.executemany(
            _ADD_FILE,
            [_file_values(run_id, n, new) for n, new in enumerate(files, start=int(row[0]))],
        )


def _file_values(run_id: int, n: int, new: NewFile) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "n": n,
        "source_uri": new.source_uri,
        "title": new.title,
        "media": new.media,
        "size": new.size,
        "content_hash": new.content_hash,
        "file_hash": new.file_hash,
        "keep_file": new.keep_file,
        "document_id": new.document_id,
        "origin": Jsonb(dict(new.origin)),
        "tags": None if new.tags is None else list(new.tags),
    }


def set_stage(connection: Connected, run_id: int, stage: str, ignored: int | None = None) -> bool:
    """Say what the run is doing, such as ``scan``. False: it is to stop, or gone."""
    values = {"run_id": run_id, "stage": stage, "ignored": ignored}
    row = connection.execute(_SET_STAGE, values).fetchone()
    return bool(row and row[0])


def set_file(
    connection: Connected,
    run_id: int,
    n: int,
    status: FileStatus,
    *,
    done: int = 0,
    total: int = 0,
    chunks: int | None = None,
    reason: str | None = None,
    warnings: Sequence[str] | None = None,
    document_id: int | None = None,
) -> bool:
    """Say where the file is: ``done`` of ``total`` pages while reading, batches while embedding.

    What is None stays as it is. One that ends lets go of its bytes, so write the document that
    keeps them first. False: it had ended already (its document was deleted, its run stopped, or
    another worker was sooner), nothing was changed, and what the transaction wrote must be rolled
    back.
    """
    values = {
        "run_id": run_id,
        "n": n,
        "status": status,
        "done": done,
        "total": total,
        "chunks": chunks,
        "reason": reason,
        "warnings": None if warnings is None else Jsonb(list(warnings)),
        "document_id": document_id,
        "open": list(OPEN_FILE),
    }
    with connection.transaction():
        row = connection.execute(_SET_FILE, values).fetchone()
        if row and status not in OPEN_FILE:
            drop_bytes(connection, [row])
    return row is not None


def fail_file(connection: Connected, run_id: int, n: int, reason: str) -> bool:
    """Set a file aside, and with it its document if that was never readable.

    A document that has an older version keeps it. False: the file had ended already.
    """
    return bool(_end_files(connection, run_id, "failed", reason, n))


def finish_run(connection: Connected, run_id: int, status: RunEnd, error: str = "") -> bool:
    """End the run; files it has not dealt with end as ``cancelled``, or ``failed`` for ``error``.

    Call it in a transaction. False: it had ended already, and nothing was changed.
    """
    values = {"run_id": run_id, "status": status, "error": error, "open": list(OPEN_RUN)}
    if connection.execute(_FINISH, values).fetchone() is None:
        return False
    if status == "cancelled":
        _end_files(connection, run_id, "cancelled", CANCELLED)
    else:
        _end_files(connection, run_id, "failed", error or "the run ended before it")
    return True


def cancel_run(connection: Connected, run_id: int, tenant: str = DEFAULT_TENANT) -> str | None:
    """Ask for a stop; returns the status the run then has, None when the tenant has no such run.

    A queued run is ``cancelled`` at once, as is a running one where no worker is alive; another is
    ``cancelling`` until its worker has stopped. One that has ended stays as it is. Call it in a
    transaction.
    """
    row = connection.execute(
        "SELECT status FROM runs WHERE tenant_id = %s AND id = %s FOR UPDATE", (tenant, run_id)
    ).fetchone()
    if row is None:
        return None
    if row[0] == "queued":
        finish_run(connection, run_id, "cancelled")
        return "cancelled"
    if row[0] == "running" and not _any_worker(connection):
        finish_run(connection, run_id, "cancelled")
        return "cancelled"
    if row[0] == "running":
        connection.execute(
            "UPDATE runs SET status = 'cancelling', version = nextval('run_changes') WHERE id = %s",
            (run_id,),
        )
        notify(connection, run_id)
        return "cancelling"
    return str(row[0])


def _any_worker(connection: Connected) -> bool:
    """Whether a living worker holds its lock in this database."""
    row = connection.execute(
        "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND granted"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1",
        (LIVE,),
    ).fetchone()
    return row is not None


def stop_wanted(connection: Connected, run_id: int) -> bool:
    """Whether the run is to stop: it is being cancelled, has ended, or is gone."""
    row = connection.execute("SELECT status FROM runs WHERE id = %s", (run_id,)).fetchone()
    return row is None or row[0] not in ("queued", "running")


def cancel_document(
    connection: Connected, document_id: int, reason: str, tenant: str = DEFAULT_TENANT
) -> None:
    """Cancel what is still to be done for a tenant's document, in any run."""
    values = {
        "tenant": tenant, "document_id": document_id, "reason": reason, "open": list(OPEN_FILE)
    }  # fmt: skip
    with connection.transaction():
        drop_bytes(connection, connection.execute(_CANCEL_DOCUMENT, values).fetchall())


def drop_bytes(connection: Connected, kept: Iterable[Sequence[Any]]) -> None:
    """Delete those of the stored bytes that no document and no file of a run refers to.

    ``kept`` are pairs of tenant and hash; a hash of None is passed over.
    """
    if found := sorted({(tenant, content_hash) for tenant, content_hash in kept if content_hash}):
        values = [list(column) for column in zip(*found, strict=True)]
        connection.execute(_LOCK_BYTES, values)
        connection.execute(_DROP_BYTES, values)


def _end_files(
    connection: Connected, run_id: int, status: FileStatus, reason: str, n: int | None = None
) -> int:
    values = {"run_id": run_id, "n": n, "status": status, "reason": reason, "open": list(OPEN_FILE)}
    with connection.transaction():
        connection.execute(_LOCK_DOCUMENTS, values)
        kept = connection.execute(_END_FILES, values).fetchall()
        drop_bytes(connection, kept)
    return len(kept)
