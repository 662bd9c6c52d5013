"""Deleting documents, and with them what no other document needs."""

from __future__ import annotations

from psycopg.types.json import Jsonb

from helix.storage.cache_rows import purge_unused
from helix.storage.connections import Connected
from helix.storage.statements import document_sources
from helix.storage.statements import document_writes as sql
from helix.storage.stored_bytes import drop_bytes


def delete_document(connection: Connected, tenant: str, reference: str) -> int:
    """Delete a tenant's document by documents.id or source_uri inside the caller's transaction.

    With it go its chunks and their vectors, the cached vectors that no other chunk has, and the
    stored file that no other document and no run needs.

    Returns:
        how many documents there were: 0 or 1 (2 where a source is named as another's id).
    """
    rows = connection.execute(
        sql.REFERRED,
        {"tenant": tenant, "reference": reference},
    ).fetchall()
    return sum(delete_one(connection, tenant, number, source) for number, source in rows)


def delete_everything(connection: Connected, tenant: str) -> None:
    """Delete every document of a tenant inside the caller's transaction, unneeded files too."""
    whose = {"tenant": tenant}
    connection.execute(sql.HOLD_ALL, whose)
    connection.execute(sql.DROP_ALL_TERMS, whose)
    chunks = connection.execute(
        sql.DELETE_ALL_CHUNKS,
        whose,
    ).fetchall()
    gone = connection.execute(sql.DELETE_ALL, whose).fetchall()
    purge_unused(connection, [key for (key,) in chunks if key])
    drop_bytes(connection, gone)


def delete_one(connection: Connected, tenant: str, document_id: int, source_uri: str) -> int:
    """``delete_document`` of one that is known by both; how many there were, 0 or 1.

    How many rows of which table went is kept in ``removals``.
    """
    connection.execute(document_sources.LOCK, {"tenant": tenant, "source_uri": source_uri})
    which = {"tenant": tenant, "id": document_id}
    ((counts,),) = connection.execute(sql.COUNTS, which).fetchall()
    connection.execute(sql.DROP_TERMS, which)
    chunks = connection.execute(
        sql.DELETE_CHUNKS,
        which,
    ).fetchall()
    row = connection.execute(
        sql.DELETE,
        which,
    ).fetchone()
    vectors = purge_unused(connection, [key for (key,) in chunks if key])
    if row is None:
        return 0
    files = drop_bytes(connection, [(tenant, row[0])])
    counted = {**counts, "embedding_cache": vectors, "files": files}
    kept = Jsonb({table: n for table, n in counted.items() if n})
    connection.execute(sql.KEEP_COUNTS, {**which, "counts": kept})
    return 1
