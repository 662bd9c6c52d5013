"""What goes wrong around a run: outages, lost workers and records, uploads out of order."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import psutil
import psycopg
import pytest
from dbos import DBOS, SetWorkflowID
from psycopg import sql
from sqlalchemy.exc import InternalError

from helix.domain.scope import DEFAULT_TENANT
from helix.library.rereading import reread
from helix.library.run_files import (
    NewFile,
    add_files,
    fail_file,
    load_file,
    set_file,
    set_unchanged,
)
from helix.library.runs import LIVE, begin_run, create_run, finish_run, stop_for_fault
from helix.library.uploads import REPLACED, Upload, UploadResult, store_uploads
from helix.settings import Settings, load_settings
from helix.storage.stored_bytes import keep_bytes
from pipelines.runs import workflow
from pipelines.runs.worker import open_worker
from tests.support.fake_embedder import rows
from tests.support.server_processes import served
from tests.support.service_process import CuttableDatabase, environment, eventually
from tests.support.warm_processes import Process
from tests.support.wire.gemini import GeminiWire

PAID = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "gemini", "GEMINI_API_KEY": "test-key"}
FAULT = "the key is refused"
FILE = (
    "SELECT f.status, f.reason, f.file_hash, f.done, f.total, f.changed_at, f.version"
    " FROM run_files f WHERE run_id = %s AND n = %s"
)
BYTES = "SELECT content_hash FROM files ORDER BY 1"
ENDED = "SELECT id, status, error FROM runs WHERE finished_at IS NOT NULL ORDER BY id"
DOCUMENT = "SELECT status, error, content_hash, file_hash FROM documents WHERE source_uri = %s"
CHUNKS = "SELECT id, xmin::text, content FROM chunks ORDER BY ordinal"
SIGNS_OF_LIFE = (
    "SELECT objid, pid FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND granted"
    " AND mode = 'ShareLock'"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


def upload(text: str, name: str = "a.txt", source_uri: str | None = None) -> Upload:
    data = text.encode()
    return Upload(
        name, "text", len(data), sha256(data).hexdigest(), lambda: data, source_uri=source_uri
    )


def stored(url: str, *uploads: Upload) -> UploadResult:
    with psycopg.connect(url) as connection:
        return store_uploads(connection, uploads, DEFAULT_TENANT)


def some(count: int) -> list[Upload]:
    """Small files that differ in name and content."""
    return [upload(f"Crate {n} holds {n + 7} lanterns.", f"{n}.txt") for n in range(count)]


def statuses(url: str, run_id: int | None) -> list[str]:
    found = rows(url, "SELECT status FROM run_files WHERE run_id = %s ORDER BY n", run_id)
    return [status for (status,) in found]


async def comes_true(holds: Callable[[], bool], seconds: float = 60) -> bool:
    """``eventually``, while the worker of this loop goes on."""
    return await asyncio.to_thread(eventually, holds, seconds)


async def carried_out(url: str) -> None:
    """A worker of this process has done all there was to do."""
    async with open_worker(settings(url), until_idle=True) as (_, attending):
        await asyncio.wait_for(attending, 60)


def settings(url: str) -> Settings:
    return load_settings(
        database_url=url, gemini_api_key="test-key", HELIX_LLM="offline", HELIX_EMBEDDER="gemini"
    )


@pytest.fixture
def connection(database_url: str) -> Iterator[psycopg.Connection]:
    with closing(psycopg.connect(database_url, autocommit=True)) as connection:
        yield connection


@pytest.mark.parametrize("outcome", ["failed", "added"])
def test_an_ended_file_stays_ended(
    database_url: str, connection: psycopg.Connection, outcome: str
) -> None:
    run_id = stored(database_url, upload("one")).run_id
    assert run_id is not None
    if outcome == "failed":
        assert fail_file(connection, run_id, 0, "it is damaged")
    else:
        assert set_file(connection, run_id, 0, "added", chunks=1)
    [before] = rows(database_url, FILE, run_id, 0)
    document = rows(database_url, DOCUMENT, upload("one").uri)
    assert before[0] == outcome
    for status in ("reading", "embedding", "added", "unchanged"):
        assert not set_file(connection, run_id, 0, status, done=1, total=2)
    assert not fail_file(connection, run_id, 0, "too late")
    assert rows(database_url, FILE, run_id, 0) == [before]
    assert rows(database_url, DOCUMENT, upload("one").uri) == document


@pytest.mark.parametrize("asked_again", ["while the run stops", "when it has ended"])
def test_bytes_that_a_fault_stopped_are_taken_again(
    database_url: str, connection: psycopg.Connection, asked_again: str
) -> None:
    first = stored(database_url, upload("one")).run_id
    assert first is not None
    assert begin_run(connection, first)
    assert set_file(connection, first, 0, "reading")
    stop_for_fault(connection, first, FAULT)

    def end() -> None:
        with connection.transaction():
            assert finish_run(connection, first, "failed", FAULT)

    if asked_again == "when it has ended":
        end()
        [(status, error, _, _)] = rows(database_url, DOCUMENT, upload("one").uri)
        assert (status, error) == ("failed", FAULT)
        assert rows(database_url, BYTES), "kept, to be read again"
    again = stored(database_url, upload("one"))
    if asked_again == "while the run stops":
        end()
    assert again.run_id is not None
    assert again.run_id > first
    assert not set_file(connection, first, 0, "embedding"), "what was read comes too late"
    told, file = rows(database_url, FILE, first, 0)[0], load_file(connection, again.run_id, 0)
    assert told[0] in ("failed", "cancelled")
    assert file is not None
    assert (file.status, file.file_hash) == ("queued", upload("one").content_hash)
    assert rows(database_url, BYTES) == [(upload("one").content_hash,)]
    [(status, error, _, _)] = rows(database_url, DOCUMENT, upload("one").uri)
    assert (status, error) == ("processing", "")


def test_an_upload_back_to_what_is_there_ends_the_one_between(
    database_url: str, connection: psycopg.Connection
) -> None:
    uri = "handbook"
    one, other = upload("one", source_uri=uri), upload("other", source_uri=uri)
    first = stored(database_url, one).run_id
    assert first is not None
    connection.execute("UPDATE documents SET status = 'ready'")
    assert set_file(connection, first, 0, "added", chunks=1)
    between = stored(database_url, other).run_id
    assert between is not None
    assert between > first
    assert rows(database_url, BYTES) == sorted([(one.content_hash,), (other.content_hash,)])
    back = stored(database_url, one)
    assert back.run_id is None
    assert [told["duplicate"] for told in back.documents] == [True]
    [(status, reason, kept, *_)] = rows(database_url, FILE, between, 0)
    assert (status, reason, kept) == ("cancelled", REPLACED, None)
    assert rows(database_url, DOCUMENT, uri) == [("ready", "", one.content_hash, one.content_hash)]
    assert rows(database_url, BYTES) == [(one.content_hash,)]


def test_unchanged_files_let_go_of_their_bytes(
    database_url: str, connection: psycopg.Connection
) -> None:
    run_id = create_run(connection, "paths")
    alone, shared = (sha256(data).hexdigest() for data in (b"alone", b"shared"))
    keep_bytes(connection, DEFAULT_TENANT, alone, b"alone")
    keep_bytes(connection, DEFAULT_TENANT, shared, b"shared")
    names = (("a", alone), ("b", shared), ("c", shared))
    new = [NewFile(name, content_hash=kept, file_hash=kept) for name, kept in names]
    add_files(connection, run_id, [*new, replace(new[0], source_uri="d", file_hash=None)])
    set_unchanged(connection, run_id, [0, 1, 3])
    assert statuses(database_url, run_id) == ["unchanged", "unchanged", "queued", "unchanged"]
    assert rows(database_url, BYTES) == [(shared,)], "an open file needs them yet"
    set_unchanged(connection, run_id, [2])
    assert rows(database_url, BYTES) == []


async def test_a_forced_run_reads_again_and_embeds_nothing(
    database_url: str, connection: psycopg.Connection, wire: GeminiWire
) -> None:
    one = upload("\n\n".join(f"Shelf {n} holds jars of honey from year {n}." for n in range(80)))
    first = stored(database_url, one)
    await carried_out(database_url)
    assert statuses(database_url, first.run_id) == ["added"]
    chunks, asked = rows(database_url, CHUNKS), len(wire.received("embed"))
    assert len(chunks) > 1
    assert asked
    connection.execute("DELETE FROM embedding_cache")
    with connection.transaction():
        again = reread(connection, first.documents[0]["id"], DEFAULT_TENANT)
    assert again != first.run_id
    file = load_file(connection, again, 0)
    assert file is not None
    assert file.force
    await carried_out(database_url)
    assert statuses(database_url, again) == ["replaced"]
    assert len(wire.received("embed")) == asked
    assert [row[0] for row in rows(database_url, CHUNKS)] == [row[0] for row in chunks]
    assert rows(database_url, BYTES) == [(one.content_hash,)], "the document keeps them"


async def test_a_short_outage_while_embedding(database_url: str, wire: GeminiWire) -> None:
    wire.delay = 1.0
    door = CuttableDatabase(database_url)
    with closing(door):
        async with open_worker(settings(door.url)):
            run_id = stored(database_url, *some(3)).run_id
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
        uploads = some(2)
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


async def test_a_workflow_whose_start_was_lost_with_the_database_is_queued_again(
    database_url: str, connection: psycopg.Connection, wire: GeminiWire
) -> None:
    run_id = stored(database_url, *some(2)).run_id
    assert run_id is not None
    connection.execute("UPDATE runs SET status = 'running'")  # the worker's loop leaves it alone
    async with open_worker(settings(database_url)) as (worker, attending):
        attending.cancel()
        with SetWorkflowID(f"run-{run_id}"):
            await DBOS.enqueue_workflow_async("of nobody", workflow.run_workflow, run_id)
        connection.execute(
            "UPDATE dbos.workflow_status SET status = 'PENDING', executor_id = %s, queue_name = %s"
            " WHERE workflow_uuid = %s",
            (worker.name, workflow.RUNS, f"run-{run_id}"),
        )
        suspects = await workflow.requeue_unstarted(worker.name, set())
        assert suspects == {f"run-{run_id}"}
        assert await workflow.requeue_unstarted(worker.name, suspects) == set()
        assert await comes_true(lambda: rows(database_url, ENDED) == [(run_id, "done", "")])
    assert statuses(database_url, run_id) == ["added"] * 2


async def test_a_queued_run_whose_workflow_has_ended_is_begun_all_the_same(
    database_url: str, connection: psycopg.Connection, wire: GeminiWire
) -> None:
    """As one that a worker took while it was closing."""
    run_id = stored(database_url, upload("one")).run_id
    assert run_id is not None
    connection.execute("UPDATE runs SET status = 'failed'")  # the worker's loop leaves it alone
    async with open_worker(settings(database_url)) as (_, attending):
        attending.cancel()
        with SetWorkflowID(f"run-{run_id}"):
            await DBOS.enqueue_workflow_async("of nobody", workflow.run_workflow, run_id)
    connection.execute("UPDATE dbos.workflow_status SET status = 'ERROR'")
    connection.execute("UPDATE runs SET status = 'queued'")
    await carried_out(database_url)
    assert rows(database_url, ENDED) == [(run_id, "done", "")]
    assert statuses(database_url, run_id) == ["added"]


async def test_nothing_begins_in_a_worker_that_closes() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workflow._current, "is_closing", False)
        await workflow._current.interrupt()
        with pytest.raises(asyncio.CancelledError), workflow._current.under_way():
            pytest.fail("it began")


async def test_runs_that_the_engine_does_not_know(
    database_url: str, connection: psycopg.Connection, wire: GeminiWire
) -> None:
    lost, stopping, faulty = (stored(database_url, one).run_id for one in some(3))
    connection.execute("UPDATE runs SET status = 'running'")
    connection.execute("UPDATE runs SET status = 'cancelling' WHERE id = %s", (stopping,))
    assert faulty is not None
    stop_for_fault(connection, faulty, FAULT)
    await carried_out(database_url)
    assert rows(database_url, ENDED) == [
        (lost, "done", ""), (stopping, "cancelled", ""), (faulty, "failed", FAULT)
    ]  # fmt: skip
    ends = [statuses(database_url, run_id) for run_id in (lost, stopping, faulty)]
    assert ends == [["added"], ["cancelled"], ["failed"]]


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
            run_id = stored(database_url, *some(30)).run_id
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


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_a_killed_worker_of_a_server_is_replaced(
    database_url: str, wire: GeminiWire, tmp_path: Path
) -> None:
    wire.delay = 60.0
    values = {**PAID, "DATABASE_URL": database_url, "HELIX_WORKERS": "1"}
    with served(tmp_path / "log", **values) as server:
        file = ("a.txt", b"The lighthouse keeper counts ships.")
        sent = httpx.post(f"{server.url}/v1/documents", files=[("file", file)], timeout=30)
        run_id = sent.json()["run_id"]
        assert eventually(lambda: bool(wire.received("embed")), 60)
        [worker] = psutil.Process(server.process.pid).children()
        assert "pipelines.worker" in worker.cmdline()
        os.kill(worker.pid, signal.SIGKILL)
        wire.delay = 0.0
        assert rows(database_url, ENDED) == []
        assert eventually(lambda: rows(database_url, ENDED) == [(run_id, "done", "")], 120)
        assert statuses(database_url, run_id) == ["added"]
        [replacement] = psutil.Process(server.process.pid).children()
        assert replacement.pid != worker.pid
