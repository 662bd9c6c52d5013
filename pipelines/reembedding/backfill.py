"""Filling the column: what was embedded of each chunk, embedded anew, a batch a transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from pgvector import Vector
from psycopg_pool import AsyncConnectionPool

from helix.providers.base import Embedder
from helix.storage.term_rows import embedded_text as embedded_text
from pipelines.reembedding.state import Connected

Pool = AsyncConnectionPool[Connected]

_TAKE = """
SELECT id, xmin::text, content, metadata_ FROM chunks
WHERE id > %s AND embedding_next IS NULL ORDER BY id LIMIT %s
"""
# xmin is of the row's version: one that was written anew while its old text was being embedded
# stays empty and is taken again.
_FILL = "UPDATE chunks SET embedding_next = %b WHERE id = %s AND xmin = %s::text::xid"


class _Row(NamedTuple):
    """A chunk without its new vector, as it was when it was read."""

    chunk_id: int
    version: str
    content: str
    metadata: dict[str, Any]


class Filling:
    """Fills ``chunks.embedding_next`` with the vectors of ``embedder``.

    The column is its own record of what is done: each batch is committed as soon as it is
    embedded, so whatever is killed costs the batches under way and no other.

    Args:
        pool: autocommitting connections that know the vector type.
        embedder: whose vectors.
        batch: chunks a request, 1 to ``embedder.max_batch``.
        parallel: requests under way at most.
        on_batch: called with the number of chunks that a batch filled.
    """

    def __init__(
        self,
        pool: Pool,
        embedder: Embedder,
        *,
        batch: int,
        parallel: int,
        on_batch: Callable[[int], None],
    ) -> None:
        self._pool = pool
        self._embedder = embedder
        self._batch = batch
        self._parallel = parallel
        self._on_batch = on_batch
        self._after = 0
        self._taking = asyncio.Lock()

    async def run(self) -> int:
        """Fill whatever is empty, in the order of ids, until nothing is; how many were filled.

        Raises:
            UpstreamError: the embedding service failed; what is filled stays.
            psycopg.Error: the database did.
        """
        total = 0
        while filled := await self._pass():
            total += filled
        return total

    async def _pass(self) -> int:
        self._after = 0
        workers = [asyncio.create_task(self._work()) for _ in range(self._parallel)]
        try:
            return sum(await asyncio.gather(*workers))
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _work(self) -> int:
        total = 0
        while rows := await self._take():
            vectors = await self._embedder.model.aget_text_embedding_batch(
                [embedded_text(row.content, row.metadata) for row in rows]
            )
            filled = await self._fill(rows, vectors)
            self._on_batch(filled)
            total += filled
        return total

    async def _take(self) -> list[_Row]:
        async with self._taking, self._pool.connection() as connection:
            cursor = await connection.execute(_TAKE, (self._after, self._batch))
            rows = [_Row(*row) for row in await cursor.fetchall()]
            if rows:
                self._after = rows[-1].chunk_id
            return rows

    async def _fill(self, rows: Sequence[_Row], vectors: Sequence[Sequence[float]]) -> int:
        values = [
            (Vector(np.asarray(vector, dtype=np.float32)), row.chunk_id, row.version)
            for row, vector in zip(rows, vectors, strict=True)
        ]
        async with self._pool.connection() as connection, connection.transaction():
            cursor = connection.cursor()
            await cursor.executemany(_FILL, values)
            return cursor.rowcount
