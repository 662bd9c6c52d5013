"""From one embedder to another: fill, index, swap, settle; each step goes on where it stopped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection
from psycopg.errors import DeadlockDetected, InsufficientPrivilege
from psycopg_pool import AsyncConnectionPool

from helix.domain.records import EMBEDDING_KEY
from helix.errors import StoreUnavailable
from helix.providers.base import Embedder
from helix.retrieval.embedding_cache import cache_key
from helix.storage.connections import unavailable
from helix.storage.pipelined_connections import given_back
from pipelines.reembedding import column
from pipelines.reembedding.backfill import Filling, Pool, embedded_text
from pipelines.reembedding.state import (
    ChangeRefused,
    Chunks,
    Connected,
    EmbedderChange,
    Report,
    count_filled,
    load_change,
    lock_alone,
    stored_identity,
)

_REPORT_SECONDS = 2.0
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


class Tally:
    """Reports how many chunks are done, of how many and how fast, every two seconds."""

    def __init__(self, verb: str, chunks: Chunks, report: Report) -> None:
        self._verb, self._report = verb, report
        self._done_chunks, self._total = chunks
        self._before = self._done_chunks
        self._started = self._last_report = time.monotonic()

    def __call__(self, count: int) -> None:
        """``count`` more are done."""
        self._done_chunks += count
        if time.monotonic() - self._last_report >= _REPORT_SECONDS:
            self.report_now()

    def report_now(self) -> None:
        """One line now."""
        self._last_report = time.monotonic()
        rate = (self._done_chunks - self._before) / max(self._last_report - self._started, 0.001)
        total = max(self._total, self._done_chunks)  # others may have written more
        self._report(
            f"{self._verb} {self._done_chunks:,} of {total:,} chunks, {rate:,.0f} a second"
        )


async def change_embedder(
    url: str, embedder: Embedder, *, batch: int, parallel: int, report: Report
) -> None:
    """Bring the database at ``url`` from the embedder that filled it to ``embedder``.

    Questions are answered throughout; documents are written throughout, but for the moments in
    which those written last get their vectors. Killed at any point, the same call goes on there;
    with another embedder, what an unfinished one filled is given up.

    Args:
        url: a libpq URL of a database with the schema.
        embedder: the new one.
        batch: chunks a request and a transaction, 1 to ``embedder.max_batch``.
        parallel: requests under way at most.
        report: called with a line of progress now and then.

    Raises:
        ChangeRefused: nothing is stored, or another process is at it.
        UpstreamError: the embedding service failed.
        StoreUnavailable: the database did.
    """
    async with _open_database(url, parallel) as (connection, pool):
        under_way = await load_change(connection)
        if under_way and under_way.settled is not None:
            await _finish(connection, report)  # of the change before this one
        if not await _begin_change(connection, embedder.vector_space, report):
            return
        await _fill_and_swap(connection, pool, embedder, batch, parallel, report)
        await _finish(connection, report)


async def abandon(url: str, report: Report) -> None:
    """Drop what an unfinished change has filled; the stored vectors stay as they are.

    Raises:
        ChangeRefused: there is no change to abandon, or it is made already.
        StoreUnavailable: the database failed.
    """
    async with _open_database(url, 1) as (connection, _):
        under_way = await load_change(connection)
        if under_way is None:
            raise ChangeRefused("no change of the embedder is under way")
        if under_way.settled is not None:
            raise ChangeRefused(
                f"the change to {under_way.identity} is made: run without --abandon to finish it"
            )
        await column.give_up(connection, report)
        report(f"the change to {under_way.identity} is abandoned")


async def _begin_change(connection: Connected, identity: str, report: Report) -> bool:
    """See that the column for ``identity`` is there; False where there is nothing to change."""
    stored = await stored_identity(connection)
    if stored is None:
        raise ChangeRefused(
            "nothing is stored yet, so nothing needs to be changed: set HELIX_EMBEDDER and ingest"
        )
    under_way = await load_change(connection)
    if stored == identity:
        unfinished = f"; one to {under_way.identity} is unfinished (--abandon)" if under_way else ""
        report(f"the vectors are those of {identity}{unfinished}")
        return False
    if under_way and under_way.identity != identity:
        report(f"gives up the unfinished change to {under_way.identity}")
        await column.give_up(connection, report)
        under_way = None
    if under_way is None:
        await column.begin(connection, identity, report)
    report(f"from {stored} to {identity}")
    return True


async def _fill_and_swap(
    connection: Connected,
    pool: Pool,
    embedder: Embedder,
    batch: int,
    parallel: int,
    report: Report,
) -> None:
    tally = Tally("embedded", await count_filled(connection), report)
    filling = Filling(pool, embedder, batch=batch, parallel=parallel, on_batch=tally)
    await filling.run()
    tally.report_now()
    report("builds the index")
    _, chunks = await count_filled(connection)
    await column.build_indexes(connection, chunks)
    await filling.run()  # what was written meanwhile, before writers have to wait
    await column.swap(connection, filling.run, report)
    report(f"swapped: questions are now answered with {embedder.vector_space}")


async def _finish(connection: Connected, report: Report) -> None:
    """Do the work that remains after the swap."""
    change = await load_change(connection)
    assert change is not None and change.settled is not None
    await column.require_filled(connection, report)
    cursor = await connection.execute(
        "SELECT count(*) FILTER (WHERE id <= %s), count(*) FROM chunks WHERE id <= %s",
        (change.settled, change.last),
    )
    done, total = await cursor.fetchone() or (0, 0)
    tally = Tally("settled", (done, total), report)
    await settle(connection, change, tally)
    tally.report_now()


@asynccontextmanager
async def _open_database(url: str, parallel: int) -> AsyncGenerator[tuple[Connected, Pool], None]:
    """The connection that changes the database, which no other process does now, and a pool.

    Raises:
        ChangeRefused: another process is at it, or the role may not.
        StoreUnavailable: whatever else the database refuses.
    """
    try:
        async with AsyncExitStack() as stack:
            # No work lasts long enough on one of them to be mistaken for a network that is gone.
            connection = await AsyncConnection.connect(url, autocommit=True, connect_timeout=10)
            await stack.enter_async_context(connection)
            pool: Pool = AsyncConnectionPool(
                url, min_size=1, max_size=parallel + 1, configure=register_vector_async,
                reset=given_back, kwargs={"autocommit": True}, open=False, name="helix-reembed",
            )  # fmt: skip
            await stack.enter_async_context(pool)
            await lock_alone(connection)
            yield connection, pool
    except InsufficientPrivilege:
        raise ChangeRefused(
            "the role of DATABASE_URL may not change the table: let the database's owner run this"
        ) from None
    except psycopg.Error as error:
        raise unavailable(error) from error
    except TimeoutError as error:
        raise StoreUnavailable("the database keeps silent; try again") from error


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
