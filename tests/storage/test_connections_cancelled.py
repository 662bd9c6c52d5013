"""Cancelled reads take no connection along: whenever a read is cancelled, the pool keeps all."""

from __future__ import annotations

import asyncio
import random
import re
import socket
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress

import httpx
import pytest

from helix.storage.connections import Connections
from tests.support.fake_embedder import rows
from tests.support.live_server import live
from tests.support.service_process import eventually

SIZE = 4
AT_ONCE = 16
_READ = "SELECT %(number)s::int AS number, current_setting('helix.tenant') AS tenant"
_KILL = """
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


@pytest.fixture
async def connections(database_url: str) -> AsyncIterator[Connections]:
    connections = Connections(database_url, SIZE)
    await _read(connections, 0)  # opens the pool
    yield connections
    await connections.close()


async def _read(connections: Connections, number: int) -> None:
    found = await connections.fetch(_READ, {"number": number}, f"tenant {number}")
    assert found == [{"number": number, "tenant": f"tenant {number}"}], "the row of another read"


async def _read_for(connections: Connections, number: int, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await _read(connections, number)


async def _all_back(connections: Connections) -> None:
    """Wait until every connection that the pool counts is in it."""
    pool = connections._reading

    def all_back() -> bool:
        now = pool.get_stats()
        return now["pool_available"] == now["pool_size"] and not now["requests_waiting"]

    end = time.monotonic() + 30
    while not all_back():
        assert time.monotonic() < end, f"connections were lost: {pool.get_stats()}"
        await asyncio.sleep(0.01)


async def _all_serve(connections: Connections) -> None:
    """Every connection is back, and as many as there may be can be taken at once."""
    await _all_back(connections)
    async with AsyncExitStack() as stack:
        for _ in range(SIZE):
            taken = connections._reading.connection()
            connection = await stack.enter_async_context(taken)
            await connection.execute("SELECT 1")
    await asyncio.gather(*(_read(connections, number) for number in range(SIZE)))


@pytest.mark.parametrize("way", ["cancelled", "out of time"])
async def test_reads_cancelled_at_any_moment(connections: Connections, way: str) -> None:
    chance = random.Random(way)
    for start in range(0, 1200, AT_ONCE):
        numbers = range(start, start + AT_ONCE)
        if way == "out of time":
            reads = [_read_for(connections, n, chance.random() / 100) for n in numbers]
            await asyncio.gather(*reads)
            continue
        tasks = [asyncio.create_task(_read(connections, number)) for number in numbers]
        for task in chance.sample(tasks, AT_ONCE - 4):
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(0)
            if chance.random() < 0.4:
                await asyncio.sleep(chance.random() / 500)
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            assert result is None or isinstance(result, asyncio.CancelledError), result
    await _all_serve(connections)


async def test_reads_cancelled_while_dead_connections_are_replaced(
    connections: Connections, database_url: str
) -> None:
    await _all_serve(connections)
    for step in range(30):
        rows(database_url, _KILL)
        tasks = [asyncio.create_task(_read(connections, number)) for number in range(SIZE)]
        for _ in range(step):
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await _all_back(connections)
        await connections._check(connections._reading)  # the dead that nobody found
        await _all_serve(connections)


@pytest.mark.parametrize("work", ["read", "check"])
async def test_work_cancelled_where_it_would_await_the_lock_of_the_pool(
    connections: Connections, work: str
) -> None:
    await _all_serve(connections)
    await _all_back(connections)
    pool = connections._reading
    if work == "read":
        task = asyncio.create_task(_read(connections, 1))
    else:
        task = asyncio.create_task(connections._check(connections._reading))
    while pool.get_stats()["pool_available"] == SIZE:
        await asyncio.sleep(0)
    async with pool._lock:
        while not pool._lock._waiters:
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await _all_serve(connections)


async def test_a_connection_that_comes_back_in_pipeline_mode_is_replaced(
    connections: Connections,
) -> None:
    pool = connections._reading
    left = await pool.getconn()
    left.pgconn.enter_pipeline_mode()
    await pool.putconn(left)
    await _all_serve(connections)
    assert left.closed


def test_the_server_outlives_clients_that_leave(database_url: str) -> None:
    chance = random.Random(20)
    with live(database_url, pool_size=SIZE) as client:
        assert client.get("/healthz").status_code == 200
        for _ in range(10):
            leaving = [_ask_and_wait_not(client) for _ in range(20)]
            chance.shuffle(leaving)
            for each in leaving:
                time.sleep(chance.random() / 500)
                each.close()
        assert eventually(lambda: _idle(client), 30), "connections were lost"
        assert client.get("/healthz").status_code == 200


def _ask_and_wait_not(client: httpx.Client) -> socket.socket:
    end = socket.create_connection((client.base_url.host, client.base_url.port or 80))
    end.sendall(b"GET /ask?q=How+long+do+refunds+take HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return end


def _idle(client: httpx.Client) -> bool:
    """True where as many connections for reading are free as are open."""
    told = client.get("/metrics").text
    counted = dict(re.findall(r'^helix_database_(\w+)\{pool="read"\} (\S+)$', told, re.M))
    return bool(counted["connections"] == counted["connections_idle"])
