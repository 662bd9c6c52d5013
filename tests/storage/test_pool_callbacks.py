"""Pools whose database is away: who waits for a connection gets one once it is back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing

import pytest

from helix.storage import connections
from helix.store import ChunkStore
from tests.support.fake_embedder import opened
from tests.support.service_process import CuttableDatabase, eventually

PATIENCE_SECONDS = 4.0
"""Less than a request waits for a connection."""


@pytest.fixture
def database(
    module_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[CuttableDatabase]:
    """A database that is away."""
    monkeypatch.setattr(connections, "RECONNECT_SECONDS", 0.1)
    with closing(CuttableDatabase(module_database_url)) as database:
        database.shut()
        yield database


@pytest.mark.parametrize("pool", ["read", "write"])
async def test_who_waits_is_served_once_the_database_is_back(
    database: CuttableDatabase, pool: str
) -> None:
    async with opened(database.url) as store:
        stats = store.connections.pool_stats
        if pool == "read":
            waiting = asyncio.ensure_future(store.of("a").fetch("SELECT 1 AS one", {}))
        else:
            waiting = asyncio.ensure_future(asyncio.to_thread(_one, store))

        def gave_up_more_than_once() -> bool:
            return stats()[pool].get("connections_errors", 0) > 4

        assert await asyncio.to_thread(eventually, gave_up_more_than_once, PATIENCE_SECONDS)
        assert not waiting.done()
        database.reopen()
        assert await waiting == [{"one": 1}]


def _one(store: ChunkStore) -> list[dict[str, int]]:
    with store.transaction() as connection:
        row = connection.execute("SELECT 1").fetchone()
    assert row is not None
    return [{"one": row[0]}]
