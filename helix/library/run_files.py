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
from helix.storage.connections import Connected
from helix.storage.statements import documents
from helix.storage.statements import run_files as sql
from helix.storage.stored_bytes import drop_bytes


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that a run is to bring in. Hashes are SHA-256 in hex; ``size`` is in bytes.

    ``title`` is None where the file names its own. ``file_hash`` is set where its bytes are in
    ``files``; with ``keep_file`` they stay for as long as its document does. ``tags`` and
    ``spaces`` of None leave a stored document those that it has. ``metadata`` is added to what it
    has.
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
    tags: Sequence[str] | None = None
    metadata: Mapping[str, Any] | None = None
    spaces: Sequence[int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow(NewFile):
    """A file of a run. ``document_id`` is known beforehand where an upload made the document.

    ``force`` asks for it to be read although it has not changed.
    """

    tenant: str
    status: FileStatus
    force: bool

    @property
    def ended(self) -> bool:
        """True if the file's outcome is there."""
        return self.status not in OPEN_FILE


def add_files(connection: Connected, run_id: int, files: Sequence[NewFile]) -> None:
    """Add files to the run, numbered on from those it has; a source_uri it has is left as it is."""
    row = connection.execute(sql.NEXT_NUMBER, (run_id,)).fetchone()
    assert row is not None
    rows = [
        {
            **{column.name: getattr(new, column.name) for column in fields(NewFile)},
            "run_id": run_id,
            "n": n,
            "origin": Jsonb(dict(new.origin)),
            "tags": None if new.tags is None else list(new.tags),
            "metadata": None if new.metadata is None else Jsonb(dict(new.metadata)),
            "spaces": None if new.spaces is None else list(new.spaces),
        }
        for n, new in enumerate(files, start=int(row[0]))
    ]
    with connection.cursor() as cursor:
        cursor.executemany(sql.ADD, rows)


def load_file(connection: Connected, run_id: int, n: int) -> FileRow | None:
    """The file's row; None when its run is gone."""
    with connection.cursor(row_factory=class_row(FileRow)) as cursor:
        return cursor.execute(sql.LOAD, (run_id, n)).fetchone()


def open_files(connection: Connected, run_id: int, after: int, limit: int) -> list[int]:
    """The next ``limit`` numbers above ``after`` of files that are not dealt with."""
    return [n for (n,) in connection.execute(sql.OPEN, (run_id, after, limit))]


def count_open(connection: Connected, run_id: int, up_to: int) -> int:
    """The number of files numbered ``up_to`` or lower that are not dealt with."""
    row = connection.execute(sql.COUNT_OPEN, (run_id, up_to)).fetchone()
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
        row = connection.execute(sql.SET, values).fetchone()
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
            connection.execute(sql.LOCK_DOCUMENTS, values)
        rows = connection.execute(sql.END_OF_RUN, values).fetchall()
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
        drop_bytes(connection, connection.execute(sql.END_OF_DOCUMENT, values).fetchall())


def retag(
    connection: Connected,
    tenant: str,
    source_uri: str,
    tags: Sequence[str] | None,
    spaces: Sequence[int] | None = None,
) -> None:
    """Give the stored document of a source other tags or spaces; None leaves those it has."""
    values = {"tenant": tenant, "source_uri": source_uri}
    if tags is not None:
        connection.execute(documents.TAG_SOURCE, {**values, "tags": list(tags)})
    if spaces is not None:
        connection.execute(documents.PLACE_SOURCE, {**values, "spaces": list(spaces)})
