"""After the swap: rows as the schema has them, each with its vector in it and its cache key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from psycopg.errors import DeadlockDetected

from helix.domain.records import EMBEDDING_KEY
from helix.retrieval.embedding_cache import cache_key
from pipelines.reembedding.backfill import embedded_text
from pipelines.reembedding.state import Connected, EmbedderChange

_BATCH = 200
_TAKE = """
SELECT id, content, metadata_ FROM chunks WHERE id > %s AND id <= %s ORDER BY id LIMIT %s FOR UPDATE
"""
# A vector out of line is kept there unless it is made anew: the casts make the same one.
_SETTLE = """
UPDATE chunks SET embedding = embedding::real[]::vector(1536),
    metadata_ = metadata_ || %s::text::jsonb
WHERE id = %s
"""


async def settle(
    connection: Connected, change: EmbedderChange, on_batch: Callable[[int], None]
) -> None:
    """Rewrite each row that the change filled, a batch a transaction, and end the change.

    Out of line, vectors would make the table so small that the planner, from the next change on,
    would rather read all of it than use the index. Rows written since the swap are so already.
    """
    after = change.settled or 0
    while after < change.last:
        try:
            async with connection.transaction():
                count, after = await _batch(connection, change, after)
        except DeadlockDetected:  # with the replacing of a document
            await asyncio.sleep(0.1)
        else:
            on_batch(count)
    await connection.execute("ANALYZE chunks")
    await connection.execute("DELETE FROM embedding_change")


async def _batch(connection: Connected, change: EmbedderChange, after: int) -> tuple[int, int]:
    """Rewrite a batch of rows: the number of rows, and the id up to which they reach."""
    cursor = await connection.execute(_TAKE, (after, change.last, _BATCH))
    rows = await cursor.fetchall()
    values = [
        (_new_key(change.identity, content, metadata), chunk_id)
        for chunk_id, content, metadata in rows
    ]
    if values:
        await connection.cursor().executemany(_SETTLE, values)
    if keys := [row[2][EMBEDDING_KEY] for row in rows if EMBEDDING_KEY in row[2]]:
        # the vectors of the embedder before are of no more use, and nobody could tell any more
        # that they must go when their document does
        await connection.execute("SELECT purge_cache(%s)", (keys,))
    reached = rows[-1][0] if rows else change.last
    await connection.execute("UPDATE embedding_change SET settled = %s", (reached,))
    return len(rows), reached


def _new_key(identity: str, content: str, metadata: dict[str, Any]) -> str:
    """JSON of what changes in a chunk's metadata: the key of its vector in the cache, if any."""
    if EMBEDDING_KEY not in metadata:
        return "{}"
    key = cache_key(identity, "document", embedded_text(content, metadata))
    return f'{{"{EMBEDDING_KEY}": "{key}"}}'
