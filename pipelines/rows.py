"""The rows of runs and files as a worker needs them, on a connection of the caller's."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Connection
from psycopg.rows import TupleRow, class_row

from helix.library.runs import OPEN_FILE, FileStatus, Kind, drop_bytes

Connected = Connection[TupleRow]

_BEGIN = """
UPDATE runs SET status = 'running', stage = 'scan', started_at = coalesce(started_at, now()),
                version = nextval('run_changes')
WHERE id = %s AND status IN ('queued', 'running')
RETURNING id, kind, options, tenant_id AS tenant
"""
# updated, not left alone, where it is there: the lock keeps `drop_bytes` from taking it away
_SPOOL = """
INSERT INTO files (tenant_id, content_hash, data) VALUES (%s, %s, %s)
ON CONFLICT (tenant_id, content_hash) DO UPDATE SET content_hash = excluded.content_hash
"""
_STOP = """
UPDATE runs SET status = 'cancelling', error = %s, version = nextval('run_changes')
WHERE id = %s AND status = 'running'
"""


_SET_UNCHANGED = """
WITH before AS (
    SELECT run_id, n, file_hash FROM run_files
    WHERE run_id = %s AND n = ANY(%s)
        AND status IN ('queued', 'reading', 'embedding', 'writing') FOR UPDATE
)
UPDATE run_files f
SET status = 'unchanged', file_hash = NULL, changed_at = now(), version = nextval('run_changes')
FROM before b WHERE f.run_id = b.run_id AND f.n = b.n
RETURNING f.tenant_id, b.file_hash
"""
# The condition as the index of open files has it: a bound list would not be seen to fit.
_OPEN_FILES = """
SELECT n FROM run_files WHERE run_id = %s AND n > %s
    AND status IN ('queued', 'reading', 'embedding', 'writing')
ORDER BY n LIMIT %s
"""
_COUNT_OPEN = """
SELECT count(*) FROM run_files WHERE run_id = %s AND n <= %s
    AND status IN ('queued', 'reading', 'embedding', 'writing')
"""


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as it was asked for."""

    id: int
    kind: Kind
    options: dict[str, Any]
    tenant: str


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
        """Whether its outcome is there."""
        return self.status not in OPEN_FILE


def queued_runs(connection: Connected, host: str) -> list[tuple[int, str | None]]:
    """(id, host) of the runs that wait for a worker of this machine, oldest first."""
    rows = connection.execute(
        "SELECT id, host FROM runs"
        " WHERE status = 'queued' AND (host IS NULL OR host = %s) ORDER BY id",
        (host,),
    ).fetchall()
    return [(int(run_id), bound) for run_id, bound in rows]


def stopping_runs(connection: Connected) -> list[tuple[int, str]]:
    """(id, error) of the runs that are to stop; an error says that a fault stops them."""
    rows = connection.execute(
        "SELECT id, error FROM runs WHERE status = 'cancelling' ORDER BY id"
    ).fetchall()
    return [(int(run_id), str(error)) for run_id, error in rows]


def running_runs(connection: Connected) -> list[int]:
    """Ids of the runs that are being carried out, as far as anybody knows."""
    rows = connection.execute("SELECT id FROM runs WHERE status = 'running' ORDER BY id").fetchall()
    return [int(row[0]) for row in rows]


def requeue(connection: Connected, run_id: int) -> None:
    """Let a running run be taken again from its beginning; what is done in it stays done."""
    connection.execute(
        "UPDATE runs SET status = 'queued', version = nextval('run_changes')"
        " WHERE id = %s AND status = 'running'",
        (run_id,),
    )


def begin_run(connection: Connected, run_id: int) -> RunRow | None:
    """The run, now ``running``; None when it is to stop or has ended."""
    with connection.cursor(row_factory=class_row(RunRow)) as cursor:
        return cursor.execute(_BEGIN, (run_id,)).fetchone()


def stop_run(connection: Connected, run_id: int, error: str) -> None:
    """Stop a run for a fault that would fail every file it has left."""
    connection.execute(_STOP, (error, run_id))


def open_files(connection: Connected, run_id: int, after: int, limit: int) -> list[int]:
    """The next ``limit`` numbers above ``after`` of files that are not dealt with."""
    rows = connection.execute(_OPEN_FILES, (run_id, after, limit)).fetchall()
    return [int(row[0]) for row in rows]


def count_open(connection: Connected, run_id: int, up_to: int) -> int:
    """How many files with a number of at most ``up_to`` are not dealt with."""
    row = connection.execute(_COUNT_OPEN, (run_id, up_to)).fetchone()
    return int(row[0]) if row else 0


def set_unchanged(connection: Connected, run_id: int, numbers: Sequence[int]) -> None:
    """Settle files all at once; those that had bytes, from an earlier look, let go of them."""
    rows = connection.execute(_SET_UNCHANGED, (run_id, list(numbers))).fetchall()
    drop_bytes(connection, rows)


def load_file(connection: Connected, run_id: int, n: int) -> FileRow | None:
    """The file's row; None when its run is gone."""
    with connection.cursor(row_factory=class_row(FileRow)) as cursor:
        return cursor.execute(
            "SELECT tenant_id AS tenant, source_uri, title, media, size, content_hash, file_hash,"
            " keep_file, document_id, origin, tags, status,"
            " (SELECT coalesce((options ->> 'force')::boolean, false)"
            " FROM runs WHERE id = run_id) AS force"
            " FROM run_files WHERE run_id = %s AND n = %s",
            (run_id, n),
        ).fetchone()


def retag(connection: Connected, file: FileRow) -> None:
    """Give the stored document the file's tags, where it came with any."""
    if file.tags is not None:
        connection.execute(
            "UPDATE documents SET tags = %s WHERE tenant_id = %s AND source_uri = %s",
            (file.tags, file.tenant, file.source_uri),
        )


def spool(connection: Connected, tenant: str, data: bytes) -> str:
    """Keep a tenant's ``data`` until its file is dealt with; returns its SHA-256 in hex."""
    content_hash = hashlib.sha256(data).hexdigest()
    connection.execute(_SPOOL, (tenant, content_hash, data))
    return content_hash


def file_bytes(connection: Connected, tenant: str, file_hash: str) -> bytes | None:
    """What was spooled or uploaded; None when it is gone."""
    cursor = connection.cursor(binary=True)
    row = cursor.execute(
        "SELECT data FROM files WHERE tenant_id = %s AND content_hash = %s", (tenant, file_hash)
    ).fetchone()
    return bytes(row[0]) if row else None
