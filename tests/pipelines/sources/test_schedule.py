"""Syncs that begin by themselves: what is due, and folders in which something changed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psycopg
import pytest

from helix.domain.scope import DEFAULT_TENANT
from helix.library.sources import pause_source, start_due
from pipelines.runs.worker import open_worker
from pipelines.sources.schedule import Schedule
from tests.support.fake_embedder import rows
from tests.support.synced_source import SyncedSource
from tests.support.worker_runs import comes_true, settings


@pytest.fixture
def shared(folder: Path) -> Path:
    (folder / "shared").mkdir()
    (folder / "shared" / "a.md").write_text("Crate A.")
    return folder / "shared"


def _make_due(url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE sources SET next_run_at = now() - interval '1 second'")


def _started(url: str) -> list[int]:
    with psycopg.connect(url) as connection:
        return start_due(connection)


@asynccontextmanager
async def _scheduling(url: str) -> AsyncIterator[None]:
    async with open_worker(settings(url)) as (worker, _):
        scheduling = asyncio.create_task(Schedule(worker, 0.5).attend())
        try:
            yield
        finally:
            scheduling.cancel()
            await asyncio.gather(scheduling, return_exceptions=True)


def test_what_is_due_is_started_once_and_planned_anew(database_url: str, shared: Path) -> None:
    source = SyncedSource(database_url, "folder", str(shared), every_seconds=3600)
    assert _started(database_url) == []
    _make_due(database_url)
    (run_id,) = _started(database_url)
    assert rows(database_url, "SELECT kind, options FROM runs WHERE id = %s", run_id) == [
        ("source", {"source_id": source.id})
    ]
    assert _started(database_url) == []
    _make_due(database_url)  # it is being synced: it stays due
    assert _started(database_url) == []
    later = "SELECT next_run_at > now() + interval '50 minutes' FROM sources"
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE runs SET status = 'done'")
    assert len(_started(database_url)) == 1
    assert rows(database_url, later) == [(True,)]


def test_a_paused_source_is_never_due(database_url: str, shared: Path) -> None:
    source = SyncedSource(database_url, "folder", str(shared), every_seconds=3600)
    with psycopg.connect(database_url) as connection:
        pause_source(connection, DEFAULT_TENANT, source.id, True)
    _make_due(database_url)
    assert _started(database_url) == []
    with psycopg.connect(database_url) as connection:
        pause_source(connection, DEFAULT_TENANT, source.id, False)
    assert len(_started(database_url)) == 1


async def test_a_worker_starts_what_is_due(database_url: str, shared: Path) -> None:
    source = SyncedSource(database_url, "folder", str(shared), every_seconds=3600)
    _make_due(database_url)
    async with _scheduling(database_url):
        assert await comes_true(lambda: source.documents().keys() == {"a.md"})


async def test_a_change_in_a_watched_folder_is_followed(database_url: str, shared: Path) -> None:
    source = SyncedSource(database_url, "folder", str(shared), options={"watch": True})
    _make_due(database_url)
    async with _scheduling(database_url):
        assert await comes_true(lambda: source.documents().keys() == {"a.md"})
        assert await comes_true(lambda: source.row()["run_id"] is None)
        (shared / "b.md").write_text("Crate B.")
        assert await comes_true(lambda: source.documents().keys() == {"a.md", "b.md"})
