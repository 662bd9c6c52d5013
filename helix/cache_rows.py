"""The rows of the embedding cache: all SQL of ``embedding_cache``.

Vectors are float32, little endian, without the zeros at their end: 1 KB for the offline model.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString

import numpy as np
from psycopg import Connection
from psycopg.rows import TupleRow

from helix.contract import EMBEDDING_DIMENSIONS

Connected = Connection[TupleRow]
Floats = np.ndarray[Any, np.dtype[np.float32]]
Fetch = Callable[[str, dict[str, Any]], Awaitable[list[TupleRow]]]

ENTRY_BYTES = 420
"""What an entry takes beside its vector: its row and its places in both indexes, about."""

_LOCK = 7_416_203_311_871_155  # any constant; one process at a time makes room
_BATCH = 1000
_LARGEST = EMBEDDING_DIMENSIONS * 4 + ENTRY_BYTES
_FIND = """
SELECT key, vector, used_at < now() - interval '1 hour' FROM embedding_cache
WHERE key = ANY(%(keys)s) AND octet_length(vector) <= 6144
"""
# Those that another process touches now are left to it: nobody waits, so nobody deadlocks.
_TOUCH = """
UPDATE embedding_cache SET used_at = now() WHERE key IN (
    SELECT key FROM embedding_cache
    WHERE key = ANY(%(keys)s) AND used_at < now() - interval '1 hour' FOR UPDATE SKIP LOCKED)
RETURNING true
"""
_PUT = """
INSERT INTO embedding_cache (key, model, vector)
SELECT key, %(model)s, vector FROM unnest(%(keys)s::text[], %(vectors)s::bytea[]) AS e (key, vector)
ON CONFLICT (key) DO NOTHING RETURNING octet_length(vector)
"""
_SIZE = "SELECT coalesce(sum(octet_length(vector) + %s), 0)::bigint FROM embedding_cache"
_EVICT = """
DELETE FROM embedding_cache WHERE key IN (
    SELECT key FROM embedding_cache ORDER BY used_at, key LIMIT %s FOR UPDATE SKIP LOCKED)
RETURNING octet_length(vector)
"""
_MODELS = """
SELECT model, count(*), sum(octet_length(vector) + %s)::bigint, min(used_at)
FROM embedding_cache GROUP BY model ORDER BY 3 DESC, model
"""


@dataclass(frozen=True)
class CacheModel:
    """What the cache holds of one model: entries, and bytes with their overhead."""

    model: str
    entries: int
    size: int
    oldest: datetime
    """When the entry that goes first was last used, to the hour."""


class CacheRows:
    """The cache of one database.

    Args:
        fetch: runs one statement without blocking the event loop.
        connection: lends a connection in autocommit to blocking code.

    Errors of the database are the two callables' own (StoreUnavailable).
    """

    def __init__(
        self, fetch: Fetch, connection: Callable[[], AbstractContextManager[Connected]]
    ) -> None:
        self._fetch = fetch
        self._connection = connection

    async def find(self, keys: Sequence[str]) -> dict[str, Floats]:
        """Vectors of 1536 numbers of those ``keys`` that are there, in one statement.

        Their last use is written down only where it is more than an hour ago.
        """
        rows = await self._fetch(_FIND, {"keys": list(keys)})
        if stale := [key for key, _, is_stale in rows if is_stale]:
            await self._fetch(_TOUCH, {"keys": stale})
        return {key: unpacked(vector) for key, vector, _ in rows}

    def find_blocking(self, keys: Sequence[str]) -> dict[str, Floats]:
        """``find`` for code without an event loop."""
        with self._connection() as connection:
            rows = connection.cursor(binary=True).execute(_FIND, {"keys": list(keys)}).fetchall()
            if stale := [key for key, _, is_stale in rows if is_stale]:
                connection.execute(_TOUCH, {"keys": stale})
        return {key: unpacked(vector) for key, vector, _ in rows}

    async def put(self, model: str, vectors: Mapping[str, Floats]) -> int:
        """Keep ``vectors``, by key; the bytes that this added."""
        return _added(await self._fetch(_PUT, _put_values(model, vectors)))

    def put_blocking(self, model: str, vectors: Mapping[str, Floats]) -> int:
        """``put`` for code without an event loop."""
        with self._connection() as connection:
            return _added(connection.execute(_PUT, _put_values(model, vectors)).fetchall())

    def make_room(self, limit: int) -> int:
        """Where more than ``limit`` bytes are kept, drop the least recently used to 9/10 of it.

        Returns:
            the entries dropped; 0 also where another process makes room now.
        """
        with self._connection() as connection, connection.transaction():
            if not _first(connection, "SELECT pg_try_advisory_xact_lock(%s)", _LOCK):
                return 0
            size = int(_first(connection, _SIZE, ENTRY_BYTES))
            dropped, excess = 0, size - limit * 9 // 10 if size > limit else 0
            while excess > 0:  # never more than is needed: no entry is larger than _LARGEST
                count = min(_BATCH, excess // _LARGEST + 1)
                gone = connection.execute(_EVICT, (count,)).fetchall()
                if not gone:
                    break
                dropped += len(gone)
                excess -= _added(gone)
        return dropped


def purge_unused(connection: Connected, keys: Sequence[str]) -> int:
    """Drop those ``keys`` that no chunk has any more, inside the caller's transaction; how many."""
    if not keys:
        return 0
    row = connection.execute("SELECT purge_cache(%s)", (list(keys),)).fetchone()
    assert row is not None
    return int(row[0])


def cache_models(connection: Connected) -> list[CacheModel]:
    """What is kept, by model, the largest first."""
    rows = connection.execute(_MODELS, (ENTRY_BYTES,)).fetchall()
    return [CacheModel(*row) for row in rows]


def clear_cache(connection: Connected, model: str | None = None) -> int:
    """Drop what is kept of ``model``, an embedder's identity, or of all; how many entries."""
    statement = "DELETE FROM embedding_cache WHERE %(model)s::text IS NULL OR model = %(model)s"
    return connection.execute(statement, {"model": model}).rowcount


def packed(vector: Floats) -> bytes:
    """``vector`` as the table keeps it."""
    return np.trim_zeros(vector, "b").astype("<f4").tobytes()


def unpacked(data: bytes) -> Floats:
    """The 1536 numbers that ``packed`` gave as ``data``."""
    vector = np.zeros(EMBEDDING_DIMENSIONS, dtype=np.float32)
    numbers = np.frombuffer(data, dtype="<f4")
    vector[: len(numbers)] = numbers
    return vector


def _put_values(model: str, vectors: Mapping[str, Floats]) -> dict[str, Any]:
    keys = sorted(vectors)  # two that insert the same keys in other orders would deadlock
    return {"model": model, "keys": keys, "vectors": [packed(vectors[key]) for key in keys]}


def _added(rows: Sequence[TupleRow]) -> int:
    return sum(int(size) + ENTRY_BYTES for (size,) in rows)


def _first(connection: Connected, statement: LiteralString, value: Any) -> Any:
    row = connection.execute(statement, (value,)).fetchone()
    assert row is not None
    return row[0]
