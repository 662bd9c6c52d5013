"""The files of runs in the database: added, brought to an outcome, and their bytes let go.

Everything here is one or a few statements on the caller's connection, as in runs.py. A transaction
that writes a document and its file's outcome writes the document first: the lock of the source
comes before the lock of the row, here as in a deletion, or two would deadlock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from helix.domain.contract import OPEN_FILE, FileStatus
from helix.domain.scope import DEFAULT_TENANT
from helix.library.access import compose
from helix.storage.connections import Connected
from helix.storage.stored_bytes import drop_bytes

_ADD_FILE = """
INSERT INTO run_files (tenant_id, run_id, n, source_uri, title, media, size, content_hash,
                       file_hash, keep_file, document_id, origin, tags)
SELECT tenant_id, id, %(n)s, %(source_uri)s, %(title)s, %(media)s, %(size)s, %(content_hash)s,
       %(file_hash)s, %(keep_file)s, %(document_id)s, %(origin)s, %(tags)s
FROM runs WHERE id = %(run_id)s
ON CONFLICT (run_id, source_uri) DO NOTHING
"""
_LOAD_FILE = """
SELECT tenant_id AS tenant, source_uri, title, media, size, content_hash, file_hash, keep_file,
       document_id, origin, tags, status, (
           SELECT coalesce((options ->> 'force')::boolean, false) FROM runs WHERE id = run_id
       ) AS force
FROM run_files WHERE run_id = %s AND n = %s
"""
_OPEN_FILES = compose(
    "SELECT n FROM run_files WHERE run_id = %s AND n > %s AND status IN {open} ORDER BY n LIMIT %s",
    open=str(OPEN_FILE),
)
_COUNT_OPEN = compose(
    "SELECT count(*) FROM run_files WHERE run_id = %s AND n <= %s AND status IN {open}",
    open=str(OPEN_FILE),
)
# A file that has ended needs its bytes no more: a document that keeps them refers to them itself.
_SET_FILE = """
WITH before AS (
    SELECT run_id, n, file_hash FROM run_files
    WHERE run_id = %(run_id)s AND n = %(n)s AND status = ANY(%(open)s) FOR UPDATE
)
UPDATE run_files f
SET status = %(status)s, done = %(done)s, total = %(total)s,
    chunks = coalesce(%(chunks)s, chunks), warnings = coalesce(%(warnings)s, warnings),
    document_id = coalesce(%(document_id)s, document_id),
    file_hash = CASE WHEN %(status)s = ANY(%(open)s) THEN f.file_hash END,
    changed_at = now(), version = nextval('run_changes')
FROM before b WHERE f.run_id = b.run_id AND f.n = b.n
RETURNING f.tenant_id, b.file_hash
"""
_OF_RUN = "run_id = %(run_id)s AND (%(numbers)s::int[] IS NULL OR n = ANY(%(numbers)s))"
_OF_DOCUMENT = "tenant_id = %(tenant)s AND document_id = %(document_id)s"
# Documents are locked before files, as a deletion and a write do.
_LOCK_DOCUMENTS = compose(
    """
SELECT id FROM documents WHERE status = 'processing' AND id IN (
    SELECT document_id FROM run_files WHERE {of_run} AND status = ANY(%(open)s))
ORDER BY id FOR UPDATE
""",
    of_run=_OF_RUN,
)
# A document that no other open file will bring in, and that was never readable, has failed.
_END_FILES = """
WITH ending AS (
    SELECT run_id, n, document_id, file_hash FROM run_files
    WHERE {which} AND status = ANY(%(open)s) ORDER BY run_id, n FOR UPDATE
), never_readable AS (
    UPDATE documents d SET status = 'failed', error = %(reason)s, updated_at = now()
    WHERE %(fails_documents)s AND status = 'processing' AND id IN (SELECT document_id FROM ending)
        AND NOT EXISTS (SELECT FROM run_files f WHERE f.document_id = d.id
            AND f.status = ANY(%(open)s) AND (f.run_id, f.n) NOT IN (SELECT run_id, n FROM ending))
)
UPDATE run_files f
SET status = %(status)s, reason = %(reason)s, file_hash = NULL, changed_at = now(),
    version = nextval('run_changes')
FROM ending e WHERE f.run_id = e.run_id AND f.n = e.n
RETURNING f.tenant_id, e.file_hash
"""
_END_FILES_OF_RUN = compose(_END_FILES, which=_OF_RUN)
_END_FILES_OF_DOCUMENT = compose(_END_FILES, which=_OF_DOCUMENT)


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


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file of a run. ``document_id`` is known beforehand where an upload made the document.

    ``force`` asks for it to be read although it has not changed.
    """

    tenant: str
    source_uri: str
    title: str | None
    media: str
    size: int
    content_hash: str
    file_hash: str | None
    keep_file: bool
    document_id: int | None
    origin: dict[str, Any]
    tags: list[str] | None
    status: FileStatus
    force: bool

    @property
    def ended(self) -> bool:
        """True if the file's outcome is there."""
        return self.status not in OPEN_FILE


def add_files(connection: Connected, run_id: int, files: Sequence[NewFile]) -> None:
    """Add files to the run, numbered on from those it has; a source_uri it has is left as it is."""
    row = connection.execute(
        "SELECT coalesce(max(n) + 1, 0) FROM run_files WHERE run_id = %s", (run_id,)
    ).fetchone()
    assert row is not None
    rows = [
        {
            **{column.name: getattr(new, column.name) for column in fields(NewFile)},
            "run_id": run_id,
            "n": n,
            "origin": Jsonb(dict(new.origin)),
            "tags": None if new.tags is None else list(new.tags),
        }
        for n, new in enumerate(files, start=int(row[0]))
    ]
    with connection.cursor() as cursor:
        cursor.executemany(_ADD_FILE, rows)


def load_file(connection: Connected, run_id: int, n: int) -> FileRow | None:
    """The file's row; None when its run is gone."""
    with connection.cursor(row_factory=class_row(FileRow)) as cursor:
        return cursor.execute(_LOAD_FILE, (run_id, n)).fetchone()


def open_files(connection: Connected, run_id: int, after: int, limit: int) -> list[int]:
    """The next ``limit`` numbers above ``after`` of files that are not dealt with."""
    return [n for (n,) in connection.execute(_OPEN_FILES, (run_id, after, limit))]


def count_open(connection: Connected, run_id: int, up_to: int) -> int:
    """The number of files numbered ``up_to`` or lower that are not dealt with."""
    row = connection.execute(_COUNT_OPEN, (run_id, up_to)).fetchone()
    return int(row[0]) if row else 0


def set_file(
    connection: Connected,
    run_id: int,
    n: int,
    status: FileStatus,
    *,
    done: int = 0,
    total: int = 0,
    chunks: int | None = None,
    warnings: Sequence[str] | None = None,
    document_id: int | None = None,
) -> bool:
    """Write a file's status: ``done`` of ``total`` pages while reading, batches while embedding.

    What is None stays as it is. A file that ends lets go of its bytes, so write the document that
    keeps them first.

    Returns:
        False where the file had ended already (its document was deleted, its run stopped, or
        another worker was sooner): nothing was changed, and what the transaction wrote must be
        rolled back.
    """
    values = {
        "run_id": run_id, "n": n, "status": status, "done": done, "total": total, "chunks": chunks,
        "warnings": None if warnings is None else Jsonb(list(warnings)),
        "document_id": document_id, "open": list(OPEN_FILE),
    }  # fmt: skip
    with connection.transaction():
        row = connection.execute(_SET_FILE, values).fetchone()
        if row and status not in OPEN_FILE:
            drop_bytes(connection, [row])
    return row is not None


def set_unchanged(connection: Connected, run_id: int, numbers: Sequence[int]) -> None:
    """End files as ``unchanged``, all at once; those that had bytes let go of them."""
    end_files(connection, run_id, "unchanged", "", numbers)


def fail_file(connection: Connected, run_id: int, n: int, reason: str) -> bool:
    """End a file as ``failed``, and with it its document if that was never readable.

    A document that has an older version keeps it. False: the file had ended already.
    """
    return bool(end_files(connection, run_id, "failed", reason, [n]))


def end_files(
    connection: Connected,
    run_id: int,
    status: FileStatus,
    reason: str,
    numbers: Sequence[int] | None = None,
) -> int:
    """End the open files of a run, or those of ``numbers``; how many there were."""
    fails = status in ("failed", "cancelled")
    values = {
        "run_id": run_id, "numbers": None if numbers is None else list(numbers), "status": status,
        "reason": reason, "fails_documents": fails, "open": list(OPEN_FILE),
    }  # fmt: skip
    with connection.transaction():
        if fails:
            connection.execute(_LOCK_DOCUMENTS, values)
        rows = connection.execute(_END_FILES_OF_RUN, values).fetchall()
        drop_bytes(connection, rows)
    return len(rows)


def cancel_document(
    connection: Connected, document_id: int, reason: str, tenant: str = DEFAULT_TENANT
) -> None:
    """Cancel what is still to be done for a tenant's document, in any run."""
    values = {
        "tenant": tenant, "document_id": document_id, "status": "cancelled", "reason": reason,
        "fails_documents": False, "open": list(OPEN_FILE),
    }  # fmt: skip
    with connection.transaction():
        drop_bytes(connection, connection.execute(_END_FILES_OF_DOCUMENT, values).fetchall())


def retag(connection: Connected, tenant: str, source_uri: str, tags: Sequence[str] | None) -> None:
    """Give the stored document of a source other tags; None leaves it those that it has."""
    if tags is not None:
        connection.execute(
            "UPDATE documents SET tags = %(tags)s WHERE tenant_id = %(tenant)s"
            " AND (source_uri = %(source_uri)s OR id IN (SELECT document_id FROM document_sources"
            " WHERE tenant_id = %(tenant)s AND source_uri = %(source_uri)s))",
            {"tags": list(tags), "tenant": tenant, "source_uri": source_uri},
        )
