"""A run that is stopped ends beside the others: none of them waits for what it waits for."""

from __future__ import annotations

import asyncio
from contextlib import closing
from functools import partial
from hashlib import sha256

import psycopg

from helix.domain.scope import DEFAULT_TENANT
from helix.library.runs import notify
from helix.library.uploads import Upload, store_uploads
from helix.settings import load_settings
from pipelines.runs.worker import open_worker
from tests.support.fake_embedder import rows
from tests.support.service_process import eventually

WAITING = """
SELECT count(*)::int FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock'
"""
STATUSES = "SELECT status FROM runs ORDER BY id"


def started(url: str, text: bytes) -> None:
    """Upload ``text``."""
    digest = sha256(text).hexdigest()
    file = Upload(f"{digest[:6]}.txt", "text", len(text), digest, lambda: text)
    with psycopg.connect(url) as connection:
        store_uploads(connection, [file], DEFAULT_TENANT)


async def test_a_run_begins_while_another_waits_to_be_cancelled(database_url: str) -> None:
    settings = load_settings(
        database_url=database_url, HELIX_LLM="offline", HELIX_EMBEDDER="offline"
    )

    def are(*statuses: str) -> bool:
        return rows(database_url, STATUSES) == [(status,) for status in statuses]

    started(database_url, b"Crate 1 holds 7 lanterns.")
    with closing(psycopg.connect(database_url, autocommit=True)) as connection:
        connection.execute("UPDATE runs SET host = 'another machine'")
        async with open_worker(settings):
            with connection.transaction():  # as a file does that is being written
                connection.execute("SELECT FROM documents FOR UPDATE")
                with psycopg.connect(database_url) as stopping:
                    stopping.execute("UPDATE runs SET status = 'cancelling', host = NULL")
                    notify(stopping, 1)
                # queued earlier it would have begun at the look that comes to wait
                waits = partial(rows, database_url, WAITING)
                assert await asyncio.to_thread(eventually, lambda: waits() == [(1,)])
                started(database_url, b"Crate 2 holds 8 lanterns.")
                goes_on = partial(are, "cancelling", "done")
                assert await asyncio.to_thread(eventually, goes_on), rows(database_url, STATUSES)
            assert await asyncio.to_thread(eventually, partial(are, "cancelled", "done"))
