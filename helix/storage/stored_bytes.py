"""The bytes of uploaded and spooled files: table ``files``, one row per tenant and content.

They are written into the row. ``helix.storage.file_moves`` may move them to an object of a bucket
later, which the row then names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from psycopg.rows import class_row

from helix.storage.connections import Connected
from helix.storage.objects import read_object

# Updated, not left alone, where the row is there: its lock keeps ``drop_bytes`` from deleting it.
_KEEP = """
INSERT INTO files (tenant_id, content_hash, data, size) VALUES (%s, %s, %b, %s)
ON CONFLICT (tenant_id, content_hash) DO UPDATE SET content_hash = excluded.content_hash
"""
_READ = "SELECT data, place, size FROM files WHERE tenant_id = %s AND content_hash = %s"
# Locked in a statement of its own: the next statement then sees who has come to need the bytes.
_LOCK = """
SELECT 1 FROM files
WHERE (tenant_id, content_hash) IN (SELECT * FROM unnest(%s::text[], %s::text[]))
ORDER BY tenant_id, content_hash FOR UPDATE
"""
_DROP = """
DELETE FROM files f
WHERE (tenant_id, content_hash) IN (SELECT * FROM unnest(%s::text[], %s::text[]))
    AND NOT EXISTS (SELECT FROM documents d
        WHERE d.file_hash = f.content_hash AND d.tenant_id = f.tenant_id)
    AND NOT EXISTS (SELECT FROM run_files r
        WHERE r.file_hash = f.content_hash AND r.tenant_id = f.tenant_id)
"""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A row of ``files``: its ``size`` bytes, or the object that has them."""

    data: bytes | None
    place: str | None
    size: int

    def read(self) -> bytes:
        """The bytes, from the bucket where they are there: not while a connection is held.

        Raises:
            SettingsError, StoreUnavailable: as read_object does.
        """
        if self.data is not None:
            return self.data
        assert self.place is not None  # the table's constraint
        return read_object(self.place, self.size)


def keep_bytes(connection: Connected, tenant: str, content_hash: str, data: bytes) -> None:
    """Store a tenant's ``data`` under its SHA-256 in hex, once however often it comes."""
    connection.execute(_KEEP, (tenant, content_hash, data, len(data)))


def stored_file(connection: Connected, tenant: str, content_hash: str) -> StoredFile | None:
    """The file stored under ``content_hash``; None when it is gone."""
    with connection.cursor(binary=True, row_factory=class_row(StoredFile)) as cursor:
        return cursor.execute(_READ, (tenant, content_hash)).fetchone()


def drop_bytes(connection: Connected, references: Iterable[tuple[str, str | None]]) -> None:
    """Delete those stored bytes that no document and no file of a run refers to any more.

    ``references`` are pairs of tenant and hash that were let go; a hash of None is passed over. The
    object of a row that goes is let go of by the table's trigger.
    """
    if dropped := sorted({(tenant, digest) for tenant, digest in references if digest}):
        columns = [list(column) for column in zip(*dropped, strict=True)]
        connection.execute(_LOCK, columns)
        connection.execute(_DROP, columns)
