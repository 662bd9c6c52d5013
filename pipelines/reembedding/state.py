"""The progress of a change of the embedder, read from the database; and short, yielding locks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from psycopg import AsyncConnection, sql
from psycopg.errors import DeadlockDetected, LockNotAvailable
from psycopg.rows import TupleRow

from helix.errors import HelixError
from helix.storage.indexes import (
    VECTORS_LOCK,  # taken before any other lock, as schema.sql says
)

Connected = AsyncConnection[TupleRow]
Report = Callable[[str], None]
Chunks = tuple[int, int]
"""The number of chunks that have their new vector, and the number of all."""

ONE_AT_A_TIME = 7_416_203_311_871_156
"""Any constant; pg_advisory_lock's key for a change of the embedder."""

READERS_WAIT = "500ms"
"""Longest that searches wait for a swap that itself waits for a table: then it gives way."""
WRITERS_WAIT = "10s"
_TELL_PAUSE, _LONGEST_PAUSE = 2.0, 8.0  # seconds
_KILLED_SECONDS = 10  # the server notices within them that a killed predecessor is gone


class ChangeRefused(HelixError):
    """The change cannot be made as things are; the message says what to do instead."""


class ChunksAppeared(Exception):
    """Chunks without a new vector appeared where none could; the attempt is undone."""


@dataclass(frozen=True)
class EmbedderChange:
    """The row of ``embedding_change``: ``settled`` is None until the swap is made."""

    identity: str
    settled: int | None
    last: int


async def load_change(connection: Connected) -> EmbedderChange | None:
    """The change that was begun and has not ended."""
    cursor = await connection.execute("SELECT identity, settled, last FROM embedding_change")
    row = await cursor.fetchone()
    return EmbedderChange(*row) if row else None


async def stored_identity(connection: Connected) -> str | None:
    """The embedder that the vectors are of; None where there never were any."""
    row = await (await connection.execute("SELECT identity FROM embedding_space")).fetchone()
    return str(row[0]) if row else None


async def count_filled(connection: Connected) -> Chunks:
    """The number of chunks that have their new vector, and the number of all."""
    cursor = await connection.execute("SELECT count(embedding_next), count(*) FROM chunks")
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


async def lock_alone(connection: Connected) -> None:
    """Make this connection the only one that changes the embedder, until it closes.

    Raises:
        ChangeRefused: another has been at it all the while.
    """
    for _ in range(_KILLED_SECONDS * 2):
        cursor = await connection.execute("SELECT pg_try_advisory_lock(%s)", (ONE_AT_A_TIME,))
        row = await cursor.fetchone()
        if row and row[0]:
            return
        await asyncio.sleep(0.5)
    raise ChangeRefused("another process is changing the embedder of this database: let it end")


@asynccontextmanager
async def lock_writers_out(connection: Connected) -> AsyncGenerator[None, None]:
    """One transaction in which nobody else begins to write chunks; questions are answered.

    The locks are taken in the order in which a migration and a writer take them.
    """
    async with connection.transaction():
        await connection.execute("SELECT set_config('lock_timeout', %s, true)", (WRITERS_WAIT,))
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (VECTORS_LOCK,))
        await connection.execute("SELECT 1 FROM embedding_space FOR UPDATE")
        yield


async def lock_readers_out(connection: Connected) -> None:
    """Hold ``chunks`` and its view alone until the transaction ends, which must be at once.

    Raises:
        LockNotAvailable: somebody reads for longer than searches may be kept waiting.
    """
    await connection.execute("SELECT set_config('lock_timeout', %s, true)", (READERS_WAIT,))
    # the view first and what it reads after it, as everybody who reads through it locks them
    await connection.execute("LOCK TABLE data_chunks IN ACCESS EXCLUSIVE MODE")


async def change_table(
    connection: Connected,
    statements: Sequence[sql.SQL | sql.Composed],
    report: Report,
    fill_rest: Callable[[], Awaitable[object]] | None = None,
) -> None:
    """Run ``statements`` on ``chunks`` in one transaction in which nobody else reads or writes it.

    ``fill_rest`` is awaited while writers are kept out already and readers are not; afterwards no
    chunk may be without its new vector. All of it is tried until it gets its locks, and told once
    when that takes long.
    """
    pause = 0.25
    while True:
        try:
            async with lock_writers_out(connection):
                if fill_rest:
                    await fill_rest()
                await lock_readers_out(connection)
                if fill_rest and await _any_missing(connection):
                    raise ChunksAppeared
                for statement in statements:
                    await connection.execute(statement)
            return
        except (LockNotAvailable, DeadlockDetected, ChunksAppeared):
            if pause == _TELL_PAUSE:
                report("waiting for those who use the table; it is tried until it is free")
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


async def _any_missing(connection: Connected) -> bool:
    await connection.execute("SELECT set_config('enable_seqscan', 'off', true)")
    cursor = await connection.execute("SELECT 1 FROM chunks WHERE embedding_next IS NULL LIMIT 1")
    return await cursor.fetchone() is not None
