"""Study sets are made by the workers: resumed where a killed one was, and stopped on request."""

from __future__ import annotations

import asyncio

import psycopg

from helix.domain.scope import DEFAULT_TENANT
from helix.evidence.vectors import IDENTITY
from helix.library.runs import begin_run, cancel_run
from helix.settings import load_settings
from helix.study.item_storage import keep_plan
from helix.study.sets import NewSet, order_set
from pipelines.runs.worker import open_worker
from tests.support.fake_embedder import rows
from tests.support.query_service import a_store, store_text
from tests.support.service_process import eventually
from tests.support.study_texts import store_study_texts

SETS = """
SELECT r.status, s.at, (SELECT count(*)::int FROM study_items i WHERE i.set_id = s.id)
FROM study_sets s JOIN runs r ON r.id = s.run_id ORDER BY s.id
"""


async def test_sets_are_made_resumed_and_cancelled(database_url: str) -> None:
    with a_store(database_url) as store:
        store_study_texts(store)
    rows(database_url, "UPDATE embedding_space SET identity = %s RETURNING 1", IDENTITY)
    settings = load_settings(
        database_url=database_url, HELIX_LLM="offline", HELIX_EMBEDDER="offline"
    )
    with psycopg.connect(database_url) as connection:
        order_set(connection, DEFAULT_TENANT, NewSet("quiz", count=5))
        # a worker was killed over this one: it had a plan, and was past its first passage
        half = order_set(connection, DEFAULT_TENANT, NewSet("cards", count=5))
        chunks = [row[0] for row in connection.execute("SELECT id FROM chunks ORDER BY id")]
        keep_plan(connection, DEFAULT_TENANT, half, chunks, "offline")
        connection.execute("UPDATE study_sets SET at = 4 WHERE id = %s", (half,))
        gone = order_set(connection, DEFAULT_TENANT, NewSet("map"))
        (run_id,) = connection.execute(
            "SELECT run_id FROM study_sets WHERE id = %s", (gone,)
        ).fetchone() or (0,)
        assert begin_run(connection, run_id)
        assert cancel_run(connection, run_id) == "cancelled"  # no worker is there to stop it

    def are_made() -> bool:
        return [status for status, _, _ in rows(database_url, SETS)] == [
            "done",
            "done",
            "cancelled",
        ]

    async with open_worker(settings, until_idle=True) as (_, attending):
        assert await asyncio.to_thread(eventually, are_made)
        attending.cancel()
    (_, _, questions), (_, at, cards), (_, not_begun, nodes) = rows(database_url, SETS)
    assert (questions, cards, nodes, not_begun) == (5, 5, 0, 0) and at >= 9
    first = rows(database_url, "SELECT DISTINCT chunk_id FROM study_sources JOIN study_items i"
                 " ON i.id = item_id WHERE i.set_id = %s", half)  # fmt: skip
    assert not {chunk_id for (chunk_id,) in first} & set(chunks[:4]), "those steps were done"


async def test_a_set_without_an_item_is_not_done_and_says_why(database_url: str) -> None:
    with a_store(database_url) as store:
        listed = store_text(store, "halden/list.md", "List", "Alpha, beta and gamma.")
    rows(database_url, "UPDATE embedding_space SET identity = %s RETURNING 1", IDENTITY)
    settings = load_settings(
        database_url=database_url, HELIX_LLM="offline", HELIX_EMBEDDER="offline"
    )
    with psycopg.connect(database_url) as connection:
        order_set(connection, DEFAULT_TENANT, NewSet("quiz", count=5, document_ids=[listed]))

    def ended() -> list[tuple[str, str]]:
        told = "SELECT status, error FROM runs WHERE finished_at IS NOT NULL ORDER BY id"
        return rows(database_url, told)

    async with open_worker(settings, until_idle=True) as (_, attending):
        assert await asyncio.to_thread(eventually, lambda: len(ended()) == 1)
        attending.cancel()
    ((status, error),) = ended()
    assert status == "failed" and "have no passage that anything could be made of" in error
