"""The indexes of search: dropped before a first load, built after it.

Inserting into the vector index costs milliseconds a chunk; building it over loaded rows costs a
fraction of that, in parallel, when the graph fits in memory. It has each vector at half precision:
half the size, and quicker to build and to search (docs/decisions/0050). While the index of terms is
not there, nothing is counted for BM25 either (db/schema.sql): that is done when it is built.
"""

from __future__ import annotations

import logging

import psycopg
from psycopg import sql

from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.storage.connections import Connected
from helix.storage.statements import indexes as statements

HALF = f"halfvec({EMBEDDING_DIMENSIONS})"
"""The vector index's form of a vector, in which it is searched: both casts must be the same."""
INDEX_NAME = "chunks_embedding_hnsw"
TERMS_NAME = "chunk_terms_keys"
# any constants; pg_advisory_lock's keys for changes of either index, taken in this order
VECTORS_LOCK, _TERMS_LOCK = 7_416_203_311_871_154, 7_416_203_311_871_158
_FOLDING = 7_416_203_311_871_156  # count_terms (db/schema.sql) takes it too
_BYTES_PER_CHUNK = EMBEDDING_DIMENSIONS * 2 + 2048  # its vector and share of the graph, and room
_LEAST_MB, _MOST_MB = 64, 1024

_logger = logging.getLogger(__name__)


def vector_index(column: str) -> str:
    """The words behind USING in the statement that makes a vector index of ``column``.

    The metric must match the operator of the search (<=>, cosine distance).
    """
    return f"hnsw (({column}::{HALF}) halfvec_cosine_ops)"


def build_memory(chunks: int) -> str:
    """``maintenance_work_mem`` for a vector index of so many chunks: the graph, within limits."""
    needed = chunks * _BYTES_PER_CHUNK // 2**20
    return f"{min(max(needed, _LEAST_MB), _MOST_MB)}MB"


def drop_if_empty(connection: Connected) -> bool:
    """Drop the indexes if there are no chunks; True if it did. Needs autocommit."""
    with connection.transaction():
        for lock in (VECTORS_LOCK, _TERMS_LOCK):
            connection.execute(statements.LOCK, (lock,))
        if connection.execute(statements.ANY_CHUNK).fetchone():
            return False
        for name in (INDEX_NAME, TERMS_NAME):
            drop = sql.SQL(statements.DROP).format(index=sql.Identifier(name))
            connection.execute(drop)
    return True


def build_if_missing(connection: Connected) -> bool:
    """Build what is not there, one after the other; True if it did. Reads go on meanwhile."""
    built = build_terms_if_missing(connection)
    return build_vectors_if_missing(connection) or built


def build_vectors_if_missing(connection: Connected) -> bool:
    """Build the vector index; True if it was missing."""
    row = connection.execute(statements.EXISTS, (INDEX_NAME,)).fetchone()
    if row and row[0]:
        return False
    try:
        _build(connection, workers=None)
    except (psycopg.errors.DiskFull, psycopg.errors.OutOfMemory):
        _logger.warning("not enough shared memory for a parallel index build: building serially")
        _build(connection, workers=0)
    return True


def build_terms_if_missing(connection: Connected) -> bool:
    """Build the index of terms, with the counts that go with it; True if it was missing.

    Over a connection of its own it is built beside the vector index, which leaves a processor idle
    at times.
    """
    with connection.transaction():
        connection.execute(statements.LOCK, (_TERMS_LOCK,))
        row = connection.execute(statements.EXISTS, (TERMS_NAME,)).fetchone()
        if row and row[0]:
            return False
        connection.execute(statements.BUILD_MEMORY, ("256MB",))
        connection.execute(statements.BUILD_TERMS)
    connection.execute(statements.ANALYZE_TERMS)
    return True


def fold_counts(connection: Connected) -> None:
    """Add up what writes have counted, line by line, since the last time; needs autocommit.

    A search reads every line that is not added up. Where another process is at it, it is left.
    """
    with connection.transaction():
        row = connection.execute(statements.TRY_LOCK, (_FOLDING,)).fetchone()
        if row and row[0]:
            connection.execute(statements.FOLD_TERMS)
    connection.execute(statements.VACUUM_CHANGES)


def _build(connection: Connected, workers: int | None) -> None:
    with connection.transaction():
        connection.execute(statements.LOCK, (VECTORS_LOCK,))
        row = connection.execute(statements.COUNT_CHUNKS).fetchone()
        memory = build_memory(row[0] if row else 0)
        connection.execute(statements.BUILD_MEMORY, (memory,))
        if workers is not None:
            connection.execute(statements.BUILD_SERIALLY)
        create = sql.SQL(statements.CREATE_VECTORS).format(
            index=sql.Identifier(INDEX_NAME), method=sql.SQL(vector_index("embedding"))
        )
        connection.execute(create)
    connection.execute(statements.ANALYZE_CHUNKS)
