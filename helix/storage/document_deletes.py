"""Deleting documents, and with them what no other document needs."""

from __future__ import annotations

from helix.storage.cache_rows import purge_unused
from helix.storage.connections import Connected
from helix.storage.document_sources import LOCK_SOURCE
from helix.storage.stored_bytes import drop_bytes

# All of a document at once, or the cascade would count each chunk in a statement of its own.
_DROP_TERMS = """
DELETE FROM chunk_terms WHERE tenant_id = %(tenant)s AND chunk_id IN (
    SELECT id FROM chunks WHERE tenant_id = %(tenant)s AND document_id = %(id)s)
"""


def delete_document(connection: Connected, tenant: str, reference: str) -> int:
    """Delete a tenant's document by documents.id or source_uri inside the caller's transaction.

    With it go its chunks and their vectors, the cached vectors that no other chunk has, and the
    stored file that no other document and no run needs.

    Returns:
        how many documents there were: 0 or 1 (2 where a source is named as another's id).
    """
    rows = connection.execute(
        "SELECT id, source_uri FROM documents"
        " WHERE tenant_id = %(tenant)s"
        " AND (source_uri = %(reference)s OR id::text = %(reference)s) ORDER BY source_uri",
        {"tenant": tenant, "reference": reference},
    ).fetchall()
    return sum(delete_one(connection, tenant, number, source) for number, source in rows)


def delete_everything(connection: Connected, tenant: str) -> None:
    """Delete every document of a tenant inside the caller's transaction, unneeded files too."""
    whose = {"tenant": tenant}
    # the document's row first, as a write does, or the two would deadlock
    connection.execute(
        "SELECT FROM documents WHERE tenant_id = %(tenant)s ORDER BY id FOR UPDATE", whose
    )
    connection.execute("DELETE FROM chunk_terms WHERE tenant_id = %(tenant)s", whose)
    chunks = connection.execute(
        "DELETE FROM chunks WHERE tenant_id = %(tenant)s RETURNING metadata_ ->> 'embedding_key'",
        whose,
    ).fetchall()
    gone = connection.execute(
        "DELETE FROM documents WHERE tenant_id = %(tenant)s RETURNING tenant_id, file_hash", whose
    ).fetchall()
    purge_unused(connection, [key for (key,) in chunks if key])
    drop_bytes(connection, gone)


def delete_one(connection: Connected, tenant: str, document_id: int, source_uri: str) -> int:
    """``delete_document`` of one that is known by both; how many there were, 0 or 1."""
    connection.execute(LOCK_SOURCE, {"tenant": tenant, "source_uri": source_uri})
    which = {"tenant": tenant, "id": document_id}
    connection.execute(_DROP_TERMS, which)
    chunks = connection.execute(
        "DELETE FROM chunks WHERE tenant_id = %(tenant)s AND document_id = %(id)s"
        " RETURNING metadata_ ->> 'embedding_key'",
        which,
    ).fetchall()
    row = connection.execute(
        "DELETE FROM documents WHERE tenant_id = %(tenant)s AND id = %(id)s RETURNING file_hash",
        which,
    ).fetchone()
    purge_unused(connection, [key for (key,) in chunks if key])
    if row:
        drop_bytes(connection, [(tenant, row[0])])
    return int(row is not None)
