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
from helix.storage.statements import files as sql


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
    connection.execute(sql.KEEP, (tenant, content_hash, data, len(data)))


def stored_file(connection: Connected, tenant: str, content_hash: str) -> StoredFile | None:
    """The file stored under ``content_hash``; None when it is gone."""
    with connection.cursor(binary=True, row_factory=class_row(StoredFile)) as cursor:
        return cursor.execute(sql.READ, (tenant, content_hash)).fetchone()


def drop_bytes(connection: Connected, references: Iterable[tuple[str, str | None]]) -> int:
    """Delete those stored bytes that no document and no file of a run refers to any more; how many.

    ``references`` are pairs of tenant and hash that were let go; a hash of None is passed over. The
    object of a row that goes is let go of by the table's trigger.
    """
    if dropped := sorted({(tenant, digest) for tenant, digest in references if digest}):
        columns = [list(column) for column in zip(*dropped, strict=True)]
        connection.execute(sql.LOCK, columns)
        return connection.execute(sql.DROP, columns).rowcount
    return 0
