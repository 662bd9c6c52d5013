"""Connections to write over: a dead one is replaced, a live one is not asked each time."""

from __future__ import annotations

import asyncio

import psycopg
import pytest
from psycopg_pool import ConnectionPool

from helix.storage import write_checks
from tests.support.fake_embedder import opened, record, rows, write

_KILL = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The process ids of the connections that were asked whether they live."""
    asked: list[int] = []
    ask = ConnectionPool.check_connection

    def counted(connection: psycopg.Connection[object]) -> None:
        asked.append(connection.info.backend_pid)
        ask(connection)

    monkeypatch.setattr(ConnectionPool, "check_connection", staticmethod(counted))
    return asked


async def test_a_connection_in_use_is_not_asked_again(database_url: str, checks: list[int]) -> None:
    async with opened(database_url) as store:
        for number in range(4):
            await asyncio.to_thread(
                write, store, record(f"{number}.txt", "Grain keeps for two years.")
            )
    assert len(checks) == len(set(checks)), "once each, where there are several"


async def test_a_connection_that_rested_is_asked(
    database_url: str, checks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_checks, "SURELY_OPEN_SECONDS", 0)
    async with opened(database_url) as store:
        await asyncio.to_thread(write, store, record("a.txt", "Grain keeps for two years."))
        before = len(checks)
        await asyncio.to_thread(write, store, record("b.txt", "Grain keeps for two years."))
    assert len(checks) > before


async def test_a_dead_connection_costs_no_write(database_url: str) -> None:
    async with opened(database_url) as store:
        await asyncio.to_thread(write, store, record("a.txt", "Grain keeps for two years."))
        assert await asyncio.to_thread(rows, database_url, _KILL)
        await asyncio.to_thread(write, store, record("b.txt", "Grain keeps for two years."))
    assert len(rows(database_url, "SELECT id FROM documents")) == 2
