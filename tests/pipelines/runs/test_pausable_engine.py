"""The engine of a worker sleeps while there is nothing to do, and wakes when it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from hashlib import sha256
from typing import Any

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError

from helix.domain.scope import DEFAULT_TENANT
from helix.errors import StoreUnavailable
from helix.library.uploads import Upload, store_uploads
from helix.settings import Settings, load_settings
from pipelines.runs import worker_loop
from pipelines.runs.run_steps import Worker
from pipelines.runs.worker import open_worker
from pipelines.runs.worker_loop import PausableEngine
from tests.support.fake_embedder import rows
from tests.support.service_process import eventually

ASKING = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    " AND starts_with(application_name, 'dbos')"
)
ENDED = "SELECT status FROM runs WHERE finished_at IS NOT NULL"


async def test_it_is_opened_once_each_time_it_is_woken() -> None:
    done: list[str] = []

    @asynccontextmanager
    async def engine() -> AsyncIterator[None]:
        done.append("opened")
        yield
        done.append("closed")

    resting = PausableEngine(engine)
    await resting.wake()
    await resting.wake()
    assert (done, resting.is_awake) == (["opened"], True)
    await resting.rest()
    await resting.rest()
    assert (done, resting.is_awake) == (["opened", "closed"], False)
    await resting.wake()
    assert resting.is_awake
    await resting.rest()
    assert done == ["opened", "closed"] * 2 and not resting.is_awake


async def test_one_that_cannot_be_opened_stays_at_rest() -> None:
    @asynccontextmanager
    async def engine() -> AsyncIterator[None]:
        raise StoreUnavailable("the database is away")
        yield

    resting = PausableEngine(engine)
    with pytest.raises(StoreUnavailable):
        await resting.wake()
    assert not resting.is_awake


def _upload(database_url: str, text: bytes) -> None:
    digest = sha256(text).hexdigest()
    file = Upload(f"{digest[:6]}.txt", "text", len(text), digest, lambda: text)
    with psycopg.connect(database_url) as connection:
        store_uploads(connection, [file], DEFAULT_TENANT)


def _has_ended(database_url: str, count: int) -> bool:
    return rows(database_url, ENDED) == [("done",)] * count


def _offline(database_url: str) -> Settings:
    return load_settings(database_url=database_url, HELIX_LLM="offline", HELIX_EMBEDDER="offline")


@pytest.mark.processes
async def test_a_worker_at_rest_asks_nothing_and_wakes_for_an_upload(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_loop, "_REST_SECONDS", 0.0)
    monkeypatch.setattr(worker_loop, "_RESTING_LOOK_SECONDS", 3600.0)
    settings = _offline(database_url)

    def at_rest() -> bool:
        return rows(database_url, ASKING) == [(0,)]

    async with open_worker(settings):
        assert not at_rest(), "it looks for work when it starts"
        for count, text in enumerate((b"Crate 1 holds 7 lanterns.", b"Crate 2 holds 8."), 1):
            assert await asyncio.to_thread(eventually, at_rest)
            _upload(database_url, text)
            assert await asyncio.to_thread(eventually, partial(_has_ended, database_url, count))
    assert at_rest()


@pytest.mark.processes
async def test_an_engine_that_loses_the_database_in_a_run_or_a_file_loses_neither(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_loop, "_TIDY_SECONDS", 0.2)
    failures = {"tenant": 1, "file": 1}

    def cut_off(name: str) -> Callable[..., Awaitable[Any]]:
        carry_out = getattr(Worker, name)

        async def fail_first(*arguments: Any) -> Any:
            failures[name] -= 1
            if failures[name] == 0:
                raise DBAPIError("SELECT 1", None, psycopg.OperationalError("the line was cut"))
            return await carry_out(*arguments)

        return fail_first

    for name in failures:
        monkeypatch.setattr(Worker, name, cut_off(name))
    async with open_worker(_offline(database_url)):
        _upload(database_url, b"Crate 1 holds 7 lanterns.")
        ended = partial(_has_ended, database_url, 1)
        assert await asyncio.to_thread(eventually, ended)
    assert rows(database_url, "SELECT status FROM documents") == [("ready",)]
    assert all(left < 0 for left in failures.values()), "both were cut off and came again"
