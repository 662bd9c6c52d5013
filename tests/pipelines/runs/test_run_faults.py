"""Runs that the engine lost, or does not know, are ended or begun again; so is a killed worker."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest
from dbos import DBOS, SetWorkflowID

from helix.library.runs import stop_for_fault
from pipelines.runs import workflow
from pipelines.runs.worker import open_worker
from tests.support.fake_embedder import rows
from tests.support.server_processes import served
from tests.support.service_process import eventually
from tests.support.wire.gemini import GeminiWire
from tests.support.worker_runs import (
    ENDED,
    PAID,
    carried_out,
    comes_true,
    crates,
    settings,
    statuses,
    stored,
    upload,
)

pytestmark = pytest.mark.processes

FAULT = "the key is refused"


async def test_a_workflow_whose_start_was_lost_with_the_database_is_queued_again(
    database_url: str, connection: psycopg.Connection, wire: GeminiWire
) -> None:
    run_id = stored(database_url, *crates(2)).run_id
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
    """A worker that is closing may take such a run."""
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
    lost, stopping, faulty = (stored(database_url, one).run_id for one in crates(3))
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
