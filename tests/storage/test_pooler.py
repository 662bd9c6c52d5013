"""Behind a pooler in transaction mode: nothing is expected of a session, and nothing left on one.

The tests with PgBouncer itself are for ``make soak``: it is a package of the system.
"""

from __future__ import annotations

import asyncio

import pytest

from helix.errors import StoreUnavailable
from helix.storage.statements.sessions import ROLE
from helix.store import ChunkStore
from tests.support.fake_embedder import opened, record, write
from tests.support.pooler import SESSIONS, pooled
from tests.support.wire.gemini import word_vector

_SEEN = """
SELECT current_setting('role') AS role, pg_backend_pid() AS session,
    (SELECT count(*) FROM pg_prepared_statements) AS prepared
"""
_LEFT = (
    "SELECT current_setting('role'), current_setting('helix.tenant', true), current_setting('jit')"
)


async def test_pooled_reads_prepare_nothing_and_leave_nothing(database_url: str) -> None:
    async with opened(database_url, pool_size=1, pooler_url=database_url) as store:
        await asyncio.to_thread(write, store.of("a"), record("a.txt", "water"))
        for _ in range(10):  # psycopg prepares what it has seen five times
            assert [hit.content for hit in await store.of("a").search(word_vector("water"), 1)]
            (row,) = await store.of("a").fetch(_SEEN, {})
            assert (row["role"], row["prepared"]) == (ROLE, 0)
        async with store.connections._reading.connection() as connection:
            left = await (await connection.execute(_LEFT)).fetchone()
            usual = await (await connection.execute("SELECT reset_val FROM pg_settings"
                                                    " WHERE name = 'jit'")).fetchone()  # fmt: skip
        assert left is not None and usual is not None
        assert left == ("none", "", usual[0])


@pytest.mark.soak
async def test_two_tenants_share_the_sessions_of_pgbouncer(database_url: str) -> None:
    with pooled(database_url) as pooler:
        async with opened(database_url, pool_size=8, pooler_url=pooler) as store:
            await asyncio.to_thread(store.connections.check_role)
            sessions = await asyncio.gather(
                *(used_by(store.of(f"tenant {number % 2}"), number) for number in range(40))
            )
        assert 0 < len({each for some in sessions for each in some}) <= SESSIONS


async def used_by(own: ChunkStore, number: int) -> set[int]:
    """Write and read as one tenant, some times over; the sessions that this was done in."""
    text = f"water of {own.tenant}, vessel {number}"
    sessions = set()
    for _ in range(10):
        await asyncio.to_thread(write, own, record(f"{number}.txt", text))
        result = await own.search_hybrid(text, word_vector(text), 50)
        found = {hit.content for hit in result.hits}
        assert text in found
        assert all(f"of {own.tenant}," in content for content in found)
        (row,) = await own.fetch(_SEEN, {})
        assert (row["role"], row["prepared"]) == (ROLE, 0)
        sessions.add(row["session"])
    return sessions


@pytest.mark.soak
async def test_a_database_url_that_leads_to_a_pooler_is_refused(database_url: str) -> None:
    with pooled(database_url) as pooler:
        async with opened(pooler) as store:
            with pytest.raises(StoreUnavailable, match="DATABASE_POOLER_URL"):
                await asyncio.to_thread(store.connections.check_role)
