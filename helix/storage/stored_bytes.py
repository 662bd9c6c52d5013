"""The bytes of uploaded and spooled files: table ``files``, one row per tenant and content."""

from __future__ import annotations

from collections.abc import Iterable

from helix.storage.connections import Connected

# Updated, not left alone, where the row is there: its lock keeps ``drop_bytes`` from deleting it.
_KEEP = """
INSERT INTO files (tenant_id, content_hash, data) VALUES (%s, %s, %b)
ON CONFLICT (tenant_id, content_hash) DO UPDATE SET content_hash = excluded.content_hash
"""
_READ = "SELECT data FROM files WHERE tenant_id = %s AND content_hash = %s"
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


def keep_bytes(connection: Connected, tenant: str, content_hash: str, data: bytes) -> None:
    """Store a tenant's ``data`` under its SHA-256 in hex, once however often it comes."""
    connection.execute(_KEEP, (tenant, content_hash, data))


def read_bytes(connection: Connected, tenant: str, content_hash: str) -> bytes | None:
    """The bytes stored under ``content_hash``; None when they are gone."""
    row = connection.cursor(binary=True).execute(_READ, (tenant, content_hash)).fetchone()
    return bytes(row[0]) if row else None


def drop_bytes(connection: Connected, references: Iterable[tuple[str, str | None]]) -> None:
    """Delete those stored bytes that no document and no file of a run refers to any more.

    ``references`` are pairs of tenant and hash that were let go; a hash of None is passed over.
    """
    if dropped := sorted({(tenant, digest) for tenant, digest in references if digest}):
        columns = [list(column) for column in zip(*dropped, strict=True)]
        connection.execute(_LOCK, columns)
        connection.execute(_DROP, columns)
