"""Stuck threads and connections: found, told, and left behind for new ones."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from types import SimpleNamespace

import pytest
from starlette.requests import Request

from helix.overload.admission import Admission
from helix.serving import health_watch
from helix.serving.health_watch import HealthWatch
from helix.serving.routes.operations import readyz
from helix.storage.connections import Connections
from helix.store import ChunkStore
from tests.support.fake_embedder import opened

PATIENCE = 0.3
CONNECTIONS = 2


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[ChunkStore]:
    async with opened(database_url, pool_size=CONNECTIONS) as store:
        yield store


async def _all_threads_held(until: threading.Event) -> list[asyncio.Future[bool]]:
    """Waiting functions: as many as the event loop has threads, and one more."""
    loop = asyncio.get_running_loop()
    held = [loop.run_in_executor(None, until.wait, 60)]
    most: int = loop._default_executor._max_workers  # type: ignore[attr-defined]
    return held + [loop.run_in_executor(None, until.wait, 60) for _ in range(most)]


async def _hold_connections(store: ChunkStore, held: AsyncExitStack, count: int) -> None:
    """Take ``count`` of the reading connections until ``held`` is closed."""
    for _ in range(count):
        await held.enter_async_context(store.connections._reading.connection())


async def test_stuck_threads_are_told_and_left_behind(store: ChunkStore) -> None:
    watched, until = HealthWatch(store, patience=PATIENCE), threading.Event()
    held = await _all_threads_held(until)
    try:
        await watched.look()
        assert watched.stuck == "threads"
        assert await asyncio.to_thread(lambda: "done") == "done"
        await watched.look()
        assert watched.stuck is None
    finally:
        until.set()
    assert all(await asyncio.gather(*held)), "what they did is not lost"


async def test_stuck_connections_are_told_and_left_behind(
    store: ChunkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.fetch("SELECT 1", {})
    monkeypatch.setattr(store.connections._reading, "timeout", PATIENCE)
    watched = HealthWatch(store)
    async with AsyncExitStack() as held:
        await _hold_connections(store, held, CONNECTIONS)
        await watched.look()
        assert watched.stuck == "connections"
        assert await store.fetch("SELECT 1 AS one", {}) == [{"one": 1}]
        await watched.look()
        assert watched.stuck is None


async def test_a_database_that_is_away_or_busy_is_not_stuck(
    store: ChunkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.fetch("SELECT 1", {})
    pool, watched = store.connections._reading, HealthWatch(store)
    monkeypatch.setattr(pool, "timeout", PATIENCE)

    async def no(_: Connections) -> bool:
        return False

    async with AsyncExitStack() as first, AsyncExitStack() as others:
        await _hold_connections(store, first, 1)
        await _hold_connections(store, others, CONNECTIONS - 1)
        with monkeypatch.context() as patch:
            patch.setattr(Connections, "ping", no)
            await watched.look()
        assert watched.stuck is None, "the database is away"
        monkeypatch.setattr(pool, "timeout", 2 * PATIENCE)
        slow = asyncio.create_task(store.fetch("SELECT pg_sleep(1)", {}))
        await asyncio.sleep(0)  # it waits before the look does
        looking = asyncio.create_task(watched.look())
        await asyncio.sleep(PATIENCE)
        await first.aclose()
        await looking
        assert watched.stuck is None, "another got a connection meanwhile"
        assert store.connections._reading is pool
        await slow


async def test_a_database_that_is_back_is_given_time_to_connect(
    store: ChunkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.fetch("SELECT 1", {})
    pool, watched = store.connections._reading, HealthWatch(store)
    monkeypatch.setattr(pool, "timeout", PATIENCE)
    async with AsyncExitStack() as away:
        await _hold_connections(store, away, CONNECTIONS)

        async def is_back(_: Connections) -> bool:
            await away.aclose()
            return True

        monkeypatch.setattr(Connections, "ping", is_back)
        await watched.look()
    assert watched.stuck is None
    assert store.connections._reading is pool, "a question that waits for it would get an error"


async def test_a_server_that_keeps_losing_them_ends(
    store: ChunkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health_watch, "MOST_REPAIRS", 1)
    ended: list[bool] = []
    watched, until = HealthWatch(store, lambda: ended.append(True), 0.05), threading.Event()
    try:
        for times in range(2):
            assert len(ended) == 0
            await _all_threads_held(until)
            await watched.look()
            assert len(ended) == times
    finally:
        until.set()


async def test_readyz_says_what_is_stuck(store: ChunkStore) -> None:
    watched = HealthWatch(store)
    services = SimpleNamespace(store=store, lifetimes=())
    overload = SimpleNamespace(admission=Admission(1, 1))
    state = {"services": services, "overload": overload, "health": watched}
    request = Request({"type": "http", "state": state})
    assert (await readyz(request)).status_code == 200
    watched.stuck = "threads"
    refused = await readyz(request)
    assert (refused.status_code, refused.body) == (503, b'{"ready":false,"reason":"threads"}')
