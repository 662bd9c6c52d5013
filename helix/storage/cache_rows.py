"""The rows of the embedding cache: all SQL of ``embedding_cache``.

Vectors are float32, little endian, without the zeros at their end: 1 KB for the offline model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, LiteralString

import numpy as np
from psycopg.rows import class_row

from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.storage.connections import Connected, Connections, Row
from helix.storage.statements import embedding_cache as sql

Floats = np.ndarray[Any, np.dtype[np.float32]]
Task = Literal["document", "query"]

ENTRY_BYTES = 420
"""Bytes of an entry beside its vector: its row and its places in both indexes, about."""

_LOCK = 7_416_203_311_871_155  # any constant; one process at a time makes room
_BATCH = 1000
_LARGEST = EMBEDDING_DIMENSIONS * 4 + ENTRY_BYTES


def cache_key(identity: str, task: Task, text: str) -> str:
    """SHA-256 in hex of an embedder's identity, a task and a text, each told from the next."""
    told = f"{len(identity)}:{identity}:{task}:{text}"
    return hashlib.sha256(told.encode(errors="surrogatepass")).hexdigest()


@dataclass(frozen=True)
class CacheModel:
    """The cache's contents of one model: entries, and bytes with their overhead."""

    model: str
    entries: int
    size: int
    oldest: datetime
    """The hour of the last use of the entry that goes first."""


class CacheRows:
    """The cache of one database, read and written as ``tenant``.

    Errors of the database arrive as StoreUnavailable.
    """

    def __init__(self, connections: Connections, tenant: str) -> None:
        self._connections = connections
        self._tenant = tenant
        self.run_blocking = connections.run_blocking

    async def _fetch(self, statement: str, values: dict[str, Any]) -> list[Row]:
        return await self._connections.fetch(statement, values, self._tenant)

    async def find(self, keys: Sequence[str]) -> dict[str, Floats]:
        """Vectors of 1536 numbers of those ``keys`` that are there, in one statement.

        Their last use is written down only where it is more than an hour ago.
        """
        rows = await self._fetch(sql.FIND, {"keys": list(keys)})
        if stale := [row["key"] for row in rows if row["is_stale"]]:
            await self._fetch(sql.TOUCH, {"keys": stale})
        return {row["key"]: unpacked(row["vector"]) for row in rows}

    async def put(self, model: str, vectors: Mapping[str, Floats]) -> int:
        """Keep ``vectors``, by key; the bytes that this added."""
        keys = sorted(vectors)  # two that insert the same keys in other orders would deadlock
        packs = [packed(vectors[key]) for key in keys]
        added = await self._fetch(sql.PUT, {"model": model, "keys": keys, "vectors": packs})
        return sum(row["size"] + ENTRY_BYTES for row in added)

    def make_room(self, limit: int) -> int:
        """Drop the least recently used, where more than ``limit`` bytes are kept, to 9/10 of it.

        Returns:
            the entries dropped; 0 also where another process makes room now.
        """
        with self._connections.connection() as connection, connection.transaction():
            if not _value(connection, sql.TRY_LOCK, _LOCK):
                return 0
            size = int(_value(connection, sql.SIZE, ENTRY_BYTES))
            dropped, excess = 0, size - limit * 9 // 10 if size > limit else 0
            while excess > 0:  # never more than is needed: no entry is larger than _LARGEST
                count = min(_BATCH, excess // _LARGEST + 1)
                gone = connection.execute(sql.EVICT, (count,)).fetchall()
                if not gone:
                    break
                dropped += len(gone)
                excess -= sum(size + ENTRY_BYTES for (size,) in gone)
        return dropped


def purge_unused(connection: Connected, keys: Sequence[str]) -> int:
    """Drop those ``keys`` that no chunk has any more, inside the caller's transaction; how many."""
    if not keys:
        return 0
    row = connection.execute(sql.PURGE, (list(keys),)).fetchone()
    return int(row[0]) if row else 0


def cache_models(connection: Connected) -> list[CacheModel]:
    """The contents of the cache by model, the largest first."""
    cursor = connection.cursor(row_factory=class_row(CacheModel))
    return cursor.execute(sql.MODELS, (ENTRY_BYTES,)).fetchall()


def clear_cache(connection: Connected, model: str | None = None) -> int:
    """Drop what is kept of ``model``, an embedder's identity, or of all; how many entries."""
    statement = sql.CLEAR
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


def _value(connection: Connected, statement: LiteralString, value: int) -> Any:
    row = connection.execute(statement, (value,)).fetchone()
    assert row is not None
    return row[0]
