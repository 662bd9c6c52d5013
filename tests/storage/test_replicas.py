"""Reads on a replica that streams from a real primary: none stale, none lost with the replica."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import pytest

from helix.commands.doctor import replica_checks
from helix.errors import StoreUnavailable
from helix.storage import replicas as replicas_module
from helix.store import ChunkStore
from tests.support.fake_embedder import opened, record, write
from tests.support.streaming import Server, replay_paused, streaming
from tests.support.wire.gemini import word_vector

pytestmark = pytest.mark.processes

PATIENCE = 30.0
"""Seconds, for slow machines."""
NOTICED_SECONDS = 2.0
"""Within this, a replica that is gone or silent is left; the bound of issue 15."""


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Server, Server]]:
    with streaming() as pair:
        yield pair


def present(store: ChunkStore) -> bool:
    return bool(store.connections.pool_stats()["replica-1"]["present"])


async def answered_by_replica(store: ChunkStore) -> bool:
    """True where a read of the store is a replica's."""
    (row,) = await store.read("SELECT pg_is_in_recovery() AS replica", {})
    return bool(row["replica"])


async def eventually_by_replica(store: ChunkStore) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await answered_by_replica(store):
            await asyncio.sleep(0.02)


async def found(store: ChunkStore, word: str) -> list[str]:
    return [hit.content for hit in await store.search(word_vector(word), 1)]


class OwnWrites(NamedTuple):
    """Of searches right after a write: how many were stale, and how many the replica answered."""

    stale: int
    by_replica: int


async def own_writes(writer: ChunkStore, reader: ChunkStore, count: int) -> OwnWrites:
    """``count`` writes, each read at once through ``reader``.

    Two stores that share nothing are two processes to each other: all goes by the primary.
    """
    stale, by_replica = 0, 0
    for number in range(count):
        text = f"water in vessel number {number}"
        await asyncio.to_thread(write, writer, record("own.txt", text))
        stale += await found(reader, "water") != [text]
        by_replica += await answered_by_replica(reader)
    return OwnWrites(stale, by_replica)


@asynccontextmanager
async def writer_and_reader(primary: Server, replica: Server) -> AsyncIterator[list[ChunkStore]]:
    """A store of the primary, and one of another process whose reads are the replica's."""
    url = primary.url("helix")
    async with (
        opened(url) as writer,
        opened(url, replica_urls=[replica.url("helix")]) as reader,
    ):
        await eventually_by_replica(reader)
        yield [writer, reader]


async def test_own_writes_are_read_also_from_another_process(
    servers: tuple[Server, Server],
) -> None:
    async with writer_and_reader(*servers) as (writer, reader):
        following = await own_writes(writer, reader, 200)
        assert following.stale == 0
        assert following.by_replica > 0  # or the primary would have answered all of them
        with replay_paused(servers[1]):
            assert await own_writes(writer, reader, 20) == OwnWrites(0, 0)
            assert present(reader)  # behind is not gone
        await eventually_by_replica(reader)


@pytest.mark.soak
async def test_ten_thousand_own_writes_are_read(servers: tuple[Server, Server]) -> None:
    async with writer_and_reader(*servers) as (writer, reader):
        following = await own_writes(writer, reader, 10_000)
        assert following.stale == 0
        assert following.by_replica > 0


@pytest.mark.parametrize("fault", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "silent"])
async def test_no_read_fails_when_the_replica_does(
    servers: tuple[Server, Server], fault: signal.Signals
) -> None:
    primary, replica = servers
    async with opened(primary.url("helix"), replica_urls=[replica.url("helix")]) as store:
        await asyncio.to_thread(write, store, record("fault.txt", "river"))
        await eventually_by_replica(store)
        if fault == signal.SIGKILL:
            replica.kill()
        else:
            replica.send(fault)
        waits = []
        for _ in range(50):
            began = time.monotonic()
            assert await found(store, "river") == ["river"]
            waits.append(time.monotonic() - began)
        assert not present(store)
        assert max(waits) < NOTICED_SECONDS + 1  # a second for a busy machine
        assert sorted(waits)[-2] < 1  # one read waited, the others knew
        if fault == signal.SIGKILL:
            await asyncio.to_thread(replica.start)
        else:
            replica.send(signal.SIGCONT)
        await eventually_by_replica(store)
        assert await found(store, "river") == ["river"]


async def test_a_server_that_is_no_replica_of_it_is_never_asked(
    servers: tuple[Server, Server],
    database_url: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    primary, replica = servers
    monkeypatch.setattr(replicas_module, "RETRY_SECONDS", (0.01,))
    strangers = [database_url, primary.url("helix"), replica.url()]
    async with opened(primary.url("helix"), replica_urls=strangers) as store:
        async with asyncio.timeout(PATIENCE):
            while len(caplog.messages) < len(strangers):
                assert not await answered_by_replica(store)
                await asyncio.sleep(0.02)
        await asyncio.sleep(0.1)  # several more tries, which say nothing
    reasons = sorted(caplog.messages)
    assert len(reasons) == 3
    assert reasons[0].startswith("replica-1 is no replica of the database in DATABASE_URL")
    assert reasons[1].startswith("replica-2 replays nothing: it is a primary itself")
    assert reasons[2].startswith("replica-3 is no replica of the database in DATABASE_URL")
    assert not any("postgresql://" in reason for reason in reasons)


async def test_a_replica_answers_searches_behind_the_same_walls(
    servers: tuple[Server, Server],
) -> None:
    primary, replica = servers
    async with opened(primary.url("helix"), replica_urls=[replica.url("helix")]) as store:
        await asyncio.to_thread(write, store, record("hybrid.txt", "glacier"))
        await eventually_by_replica(store)
        before = store.connections.pool_stats()["replica-1"]["requests_num"]
        result = await store.search_hybrid("glacier", word_vector("glacier"), 1)
        assert [hit.content for hit in result.hits] == ["glacier"]
        assert await store.of("another").read("SELECT 1 AS one FROM chunks", {}) == []
        assert store.connections.pool_stats()["replica-1"]["requests_num"] == before + 2
        with pytest.raises(StoreUnavailable, match="22012"):  # the primary is the one to refuse
            await store.read("SELECT 1 / 0", {})
        assert present(store)


async def test_the_doctor_examines_replicas(
    servers: tuple[Server, Server], database_url: str
) -> None:
    primary, replica = servers
    gone = "postgresql://u:hunter2@/helix?host=/nowhere"
    checked = await asyncio.to_thread(
        replica_checks, primary.url("helix"), [replica.url("helix"), database_url, gone]
    )
    there, stranger, away = checked
    assert there.ok and there.finding.endswith(" bytes behind the primary")
    assert not stranger.ok and "is no replica of the database" in stranger.finding
    assert not away.ok and "DATABASE_REPLICA_URLS" in away.finding
    assert not any("hunter2" in check.finding for check in checked)


async def test_a_busy_replica_is_not_left(
    servers: tuple[Server, Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    primary, replica = servers
    monkeypatch.setattr(replicas_module, "ANSWER_SECONDS", 1.0)
    url = primary.url("helix")
    async with opened(url, pool_size=1, replica_urls=[replica.url("helix")]) as store:
        await eventually_by_replica(store)
        slow = "SELECT pg_is_in_recovery() AS replica, pg_sleep(0.4)"
        answers = await asyncio.gather(*(store.read(slow, {}) for _ in range(6)))
        by_replica = sum(row["replica"] for (row,) in answers)
        assert 0 < by_replica < 6  # those that waited a second for their turn went elsewhere
        assert present(store)
