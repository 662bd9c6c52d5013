"""Runs go on after the database was away, took no writes, or cut the connections of workers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from sqlalchemy.exc import InternalError

from helix.domain.scope import DEFAULT_TENANT
from helix.library.runs import LIVE
from helix.library.uploads import store_uploads
from pipelines.runs.worker import open_worker
from tests.support.fake_embedder import rows
from tests.support.service_process import CuttableDatabase, environment, eventually
from tests.support.warm_processes import Process
from tests.support.wire.gemini import GeminiWire
from tests.support.worker_runs import (
    ENDED,
    PAID,
    comes_true,
    crates,
    settings,
    statuses,
    stored,
    upload,
)

pytestmark = pytest.mark.processes

SIGNS_OF_LIFE = (
    "SELECT objid, pid FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND granted"
    " AND mode = 'ShareLock'"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


async def test_a_short_outage_while_embedding(database_url: str, wire: GeminiWire) -> None:
    wire.delay = 1.0
    door = CuttableDatabase(database_url)
    with closing(door):
        async with open_worker(settings(door.url)):
            run_id = stored(database_url, *crates(3)).run_id
            assert await comes_true(lambda: bool(wire.received("embed")))
            door.shut()
            await asyncio.sleep(7)  # longer than a pool of connections waits for one
            assert rows(database_url, ENDED) == []
            door.reopen()
            assert await comes_true(lambda: rows(database_url, ENDED) == [(run_id, "done", "")])
    assert statuses(database_url, run_id) == ["added"] * 3


async def _set_read_only(connection: psycopg.Connection, is_read_only: bool) -> None:
    """Let all others of the database only read from now on, or write again."""
    name = sql.Identifier(connection.info.dbname)
    setting = sql.Literal("on" if is_read_only else "off")
    connection.execute(
        sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = {}").format(name, setting)
    )
    connection.execute(  # for it holds for new connections
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )


async def test_a_worker_outlives_a_database_that_only_reads(
    database_url: str, connection: psycopg.Connection, wire: GeminiWire
) -> None:
    async with open_worker(settings(database_url)) as (_, attending):
        await _set_read_only(connection, True)
        uploads = crates(2)
        run_id = store_uploads(connection, uploads, DEFAULT_TENANT).run_id
        await asyncio.sleep(3)  # it is notified of the run at once
        assert not attending.done()
        await _set_read_only(connection, False)
        assert await comes_true(lambda: rows(database_url, ENDED) == [(run_id, "done", "")])
        assert not attending.done()
    assert statuses(database_url, run_id) == ["added"] * 2


async def test_a_workflow_that_the_engine_lost_under_way_goes_on(
    database_url: str, wire: GeminiWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_worker(settings(database_url)) as (worker, _):
        refused = psycopg.errors.ReadOnlySqlTransaction("cannot execute INSERT")
        failures: list[Exception] = [InternalError("INSERT", None, refused)]
        tenant = worker.tenant

        async def failing(run_id: int) -> str:
            if failures:
                raise failures.pop()
            return await tenant(run_id)

        monkeypatch.setattr(worker, "tenant", failing)
        run_id = stored(database_url, upload("one")).run_id
        ended = [(run_id, "done", "")]
        assert await comes_true(lambda: rows(database_url, ENDED) == ended, 20), (
            "what looks for workflows that were never started takes 30 s at least"
        )
        assert failures == []


@contextmanager
def another_worker(url: str, folder: Path, *arguments: str) -> Iterator[None]:
    """A worker process, alive when the block starts."""
    variables = environment(DATABASE_URL=url, **PAID)
    with (folder / "log").open("wb") as log:
        process = Process("pipelines.worker", *arguments, cwd=folder, env=variables, output=log)
    try:
        assert eventually(lambda: bool(rows(url, SIGNS_OF_LIFE, LIVE)), 60)
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


@pytest.mark.soak
@pytest.mark.timeout(300)
async def test_workers_whose_connections_are_cut_keep_their_files(
    database_url: str, connection: psycopg.Connection, wire: GeminiWire, tmp_path: Path
) -> None:
    wire.delay = 14.0  # the cuts take nine, and what is cut must be under way
    with another_worker(database_url, tmp_path, "--files", "15"):
        async with open_worker(settings(database_url), files_at_once=15):
            assert await comes_true(lambda: len(rows(database_url, SIGNS_OF_LIFE, LIVE)) == 2)
            run_id = stored(database_url, *crates(30)).run_id
            assert await comes_true(lambda: len(wire.received("embed")) >= 2)
            for lock, _ in rows(database_url, SIGNS_OF_LIFE, LIVE):
                await _cut(connection, lock)
            assert await comes_true(lambda: rows(database_url, ENDED) == [(run_id, "done", "")])
    assert statuses(database_url, run_id) == ["added"] * 30
    taken = (
        "SELECT executor_id, max(recovery_attempts), count(*) FROM dbos.workflow_status"
        " WHERE name = 'file' GROUP BY 1"
    )
    found: Sequence[Any] = rows(database_url, taken)
    assert [attempts for _, attempts, _ in found] == [1, 1], "nobody was taken over"
    assert sum(files for *_, files in found) == 30


async def _cut(connection: psycopg.Connection, lock: int) -> None:
    """Cut one worker's sign of life twice, so that a roll call of the other finds it away.

    It is away for a second; roll calls are two apart, so three between the cuts meet every phase.
    """
    held = f"SELECT pid FROM ({SIGNS_OF_LIFE}) AS signs WHERE objid = %s"
    for wait in (3, 0.2):
        found = connection.execute(held, (LIVE, lock)).fetchall()
        assert len(found) == 1
        connection.execute("SELECT pg_terminate_backend(%s)", found[0])
        await asyncio.sleep(wait)
        assert await comes_true(lambda: bool(connection.execute(held, (LIVE, lock)).fetchone()))
