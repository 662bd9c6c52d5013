"""Connections to write over: a dead one is replaced, and a live one is not asked beside BEGIN."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress

import psycopg
import pytest
from psycopg_pool import ConnectionPool

from helix.errors import StoreUnavailable
from helix.storage.write_pool import Connected, WritePool
from helix.store import ChunkStore
from tests.support.fake_embedder import opened, record, rows, write

_TERMINATE = "SELECT pg_terminate_backend(pid) FROM unnest(%s::int[]) AS pid"


@contextmanager
def _as_if_alive(url: str, backends: list[int]) -> Iterator[None]:
    """The backends were told to end and have not yet: they do when the block is over."""
    for backend in backends:
        os.kill(backend, signal.SIGSTOP)
    try:
        rows(url, _TERMINATE, backends)
        yield
    finally:
        for backend in backends:
            with suppress(ProcessLookupError):
                os.kill(backend, signal.SIGCONT)


def _backends(store: ChunkStore, most: int) -> list[int]:
    """Open so many connections at once; the process ids of their backends."""
    with ExitStack() as stack:
        held = [stack.enter_context(store.transaction()) for _ in range(most)]
        return [connection.info.backend_pid for connection in held]


def _selects(taken: AbstractContextManager[Connected]) -> int:
    with taken as connection:
        row = connection.execute("SELECT 1").fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.parametrize("way", ["transaction", "connection"])
async def test_what_ends_while_it_is_taken_is_replaced(module_database_url: str, way: str) -> None:
    async with opened(module_database_url) as store:
        backends = await asyncio.to_thread(_backends, store, 3)
        with ThreadPoolExecutor() as threads:
            with _as_if_alive(module_database_url, backends):
                told = threads.submit(_selects, getattr(store, way)())
                await asyncio.sleep(0.1)  # the first round trip is on its way to one of them
                assert not told.done()
            assert await asyncio.wrap_future(told) == 1


async def test_a_write_costs_no_question_beside_its_own(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(database_url) as store:
        asked: list[object] = []
        monkeypatch.setattr(ConnectionPool, "check_connection", staticmethod(asked.append))
        for number in range(3):
            document = record(f"{number}.txt", "Grain keeps for two years.")
            await asyncio.to_thread(write, store, document)
        assert not asked
        await asyncio.to_thread(_selects, store.connection())
        assert len(asked) == 1, "a connection without a transaction is asked"


async def test_a_write_that_was_begun_is_not_tried_again(module_database_url: str) -> None:
    async with opened(module_database_url) as store:
        begun = []

        def cut() -> None:
            with store.transaction() as connection:
                begun.append(connection.info.backend_pid)
                rows(module_database_url, _TERMINATE, begun)
                connection.execute("SELECT pg_sleep(5)")

        with pytest.raises(StoreUnavailable, match="did not answer"):
            await asyncio.to_thread(cut)
        assert len(begun) == 1
        assert await asyncio.to_thread(_selects, store.transaction()) == 1


def test_a_database_that_is_gone_is_an_error_of_the_pool() -> None:
    pool = WritePool("postgresql://nobody@127.0.0.1:1/none", 1, {"open": False, "timeout": 0.5})
    with closing(pool), pytest.raises(psycopg.OperationalError):
        _selects(pool.transaction())
