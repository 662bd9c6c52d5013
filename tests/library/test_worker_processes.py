"""Worker processes: started where missing, stopped together, and never at the event loop's cost."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import psutil
import pytest

from helix.library import worker_processes
from helix.library.worker_processes import WorkerProcesses, environment_of
from helix.settings import load_settings
from tests.support.live_server import OFFLINE
from tests.support.repository import ROOT

WORKERS = 3
STOP_SECONDS = 4.0


async def test_deaf_workers_are_stopped_together_and_the_loop_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_processes, "MODULE", "tests.support.stubborn_worker")
    monkeypatch.setattr(worker_processes, "STOP_SECONDS", STOP_SECONDS)
    monkeypatch.setenv("STUBBORN_WORKERS", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    workers = WorkerProcesses(load_settings(database_url="embedded", workers=WORKERS, **OFFLINE))
    assert workers.ensure() and not workers.ensure()
    while len(deaf := [int(file.name) for file in tmp_path.iterdir()]) < WORKERS:
        await asyncio.sleep(0.02)
    own = psutil.Process().nice()
    assert {psutil.Process(process).nice() for process in deaf} == {min(own + 5, 19)}

    stopping = asyncio.create_task(workers.stop())
    began, turns = time.monotonic(), 0
    while not stopping.done():
        await asyncio.sleep(0.01)
        turns += 1
    await stopping
    assert not any(map(psutil.pid_exists, deaf))
    assert time.monotonic() - began < WORKERS * STOP_SECONDS, "one wait for all of them"
    assert turns > 10, "the loop had other turns meanwhile"
    await workers.stop()  # nothing is left to stop


def test_a_worker_reads_the_settings_of_its_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Secrets in lists too; of the providers that people sign in with it is told nothing."""
    replicas = ["postgresql://h@one,two/helix", "postgresql://h@three/helix"]
    provider = {"name": "corp", "issuer": "https://id.example.com", "client_id": "helix",
                "client_secret": "a secret"}  # fmt: skip
    chosen = load_settings(database_url="postgresql://h@zero/helix", auth="accounts",
                           database_replica_urls=replicas, secrets_keys=["ab" * 32, "cd" * 32],
                           oidc=[provider], hosts=["a.example", "*.b"], **OFFLINE)  # fmt: skip
    told = environment_of(chosen)
    assert not [value for value in told.values() if "secret" in value or "id.example" in value]
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    assert load_settings() == chosen.model_copy(update={"oidc": ()})
