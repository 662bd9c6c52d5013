"""The search by distance, on a real Postgres: what it finds, exactly or through the index."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import numpy as np
import psycopg
import pytest
from llama_index.core.vector_stores.types import (
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
)
from psycopg import sql

from helix.domain.records import Hit
from helix.domain.scope import Scope
from helix.storage import indexes as index
from helix.storage.searches import FEWER
from helix.store import ChunkStore
from tests.support.fake_embedder import IDENTITY, opened, record, rows, write
from tests.support.foreign_nodes import foreign_node
from tests.support.search_statements import indexed_searches
from tests.support.wire.gemini import word_vector

POLICY = record("policy.txt", "Refunds take thirty days.\n\nShipping is free.\n\nCall us.", "Old")
QUESTION = word_vector("How long do refunds take?")


@pytest.fixture(scope="module")
def crowded(module_database_url: str) -> str:
    """A big document of random directions around the question's, and a small one opposite to it.

    Only the vector index can serve a search here, filtered or not.
    """
    random = np.random.default_rng(7)
    question = np.asarray(QUESTION)
    big = random.standard_normal((900, 1536)) / np.sqrt(1536) + question / 2
    small = random.standard_normal((12, 1536)) / np.sqrt(1536) - question / 2
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        name = sql.Identifier(connection.info.dbname)
        connection.execute(sql.SQL("ALTER DATABASE {} SET enable_seqscan = off").format(name))
        connection.execute(
            "ALTER TABLE chunks DROP CONSTRAINT chunks_document_id_ordinal_key,"
            " DROP CONSTRAINT chunks_tenant_id_node_id_key"
        )
        assert index.drop_if_empty(connection)
        store = ChunkStore(module_database_url, IDENTITY)
        store.add([foreign_node("big", place, vector) for place, vector in enumerate(big)])
        store.add([foreign_node("small", place, vector) for place, vector in enumerate(small)])
        store.connections.close_writing()
        assert index.build_if_missing(connection)
    return module_database_url


async def test_one_document_is_searched_exactly(crowded: str) -> None:
    [(small,)] = rows(crowded, "SELECT id FROM documents WHERE source_uri = 'small'")
    nearest = rows(
        crowded,
        "SELECT id FROM chunks WHERE document_id = %s ORDER BY (embedding <=> %s::vector) + 0",
        small,
        str(QUESTION),
    )
    async with opened(crowded, ef_search=10) as store:
        scope = Scope(document_ids=(small,))
        for hits in (
            await store.search(QUESTION, 5, scope),
            await asyncio.to_thread(
                store.connections.run_blocking, store.search, QUESTION, 5, scope
            ),
        ):
            assert [(hit.chunk_id,) for hit in hits] == nearest[:5]


async def test_a_filtered_index_scan_goes_on_until_it_has_k(
    crowded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    [(small,)] = rows(crowded, "SELECT id FROM documents WHERE source_uri = 'small'")
    only_small = MetadataFilter(key="document_id", value=str(small))
    query = VectorStoreQuery(
        query_embedding=QUESTION,
        similarity_top_k=5,
        filters=MetadataFilters(filters=[only_small]),
    )
    async with opened(crowded, ef_search=10) as store:
        assert len((await store.aquery(query)).nodes or []) == 5
        monkeypatch.setattr(ChunkStore, "_get_query_session_settings", lambda *_, **__: [])
        assert len((await store.aquery(query)).nodes or []) < 5, "or the test tells nothing"


@pytest.fixture
def never_few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with indexed_searches(monkeypatch):
        yield


async def test_a_narrow_search_through_the_index_is_complete(crowded: str, never_few: None) -> None:
    """The opposite document is behind all of the big one: the scan goes on until it is there."""
    [(small,)] = rows(crowded, "SELECT id FROM documents WHERE source_uri = 'small'")
    with psycopg.connect(crowded, autocommit=True) as connection:
        connection.execute("UPDATE pg_class SET reltuples = 0 WHERE relname = 'chunks'")
    async with opened(crowded, ef_search=10) as store:
        hits = await store.search(QUESTION, 5, Scope(document_ids=(small,)))
        found = await store.search_hybrid("small", QUESTION, 5, Scope(document_ids=(small,)))
    assert [hit.document_id for hit in hits] == [small] * 5
    assert [hit.document_id for hit in found.hits] == [small] * 5


async def test_what_is_equally_near_at_half_precision_comes_by_its_own_distance(
    database_url: str, never_few: None
) -> None:
    """The index cannot tell these apart: the nearest of them are found all the same."""
    question, aside = np.eye(2, 1536)
    angles = np.random.default_rng(5).permutation(0.5 + 1e-6 * np.arange(2 * FEWER + 5))
    near = [np.cos(angle) * question + np.sin(angle) * aside for angle in angles]
    far = [np.cos(angle) * question + np.sin(angle) * aside for angle in np.linspace(1, 2, 50)]
    async with opened(database_url) as store:
        await store.async_add(
            [foreign_node("all", place, v) for place, v in enumerate([*near, *far])]
        )
        rows(database_url, "UPDATE pg_class SET reltuples = 0 WHERE relname = 'chunks' RETURNING 1")
        hits = await store.search(question.astype(np.float32), 10)
    assert [hit.content for hit in hits] == [f"all {place}." for place in np.argsort(angles)[:10]]


async def test_ef_search_holds_within_the_statement_and_not_after_it(
    crowded: str, never_few: None
) -> None:
    with psycopg.connect(crowded, autocommit=True) as connection:
        connection.execute("UPDATE pg_class SET reltuples = 0 WHERE relname = 'chunks'")
    recall = {}
    for ef_search in (10, 1000):
        async with opened(crowded, ef_search=ef_search, pool_size=1) as store:
            recall[ef_search] = await _recall(crowded, store)
            assert await store.fetch(_LEFT, {}) == [{"ef_search": "40", "iterative_scan": "off"}]
    assert recall[1000] >= 0.95
    assert recall[10] < recall[1000] - 0.2


_LEFT = """
SELECT current_setting('hnsw.ef_search') AS ef_search,
       current_setting('hnsw.iterative_scan') AS iterative_scan
"""


async def _recall(url: str, store: ChunkStore) -> float:
    """Of the 10 chunks nearest to each of 20 random directions, the part that a search finds."""
    exact = "SELECT id FROM chunks ORDER BY (embedding <=> %s::vector) + 0 LIMIT 10"
    found = 0
    for vector in np.random.default_rng(8).standard_normal((20, 1536)):
        nearest = {chunk for (chunk,) in rows(url, exact, vector.tolist())}
        found += len({hit.chunk_id for hit in await store.search(vector, 10)} & nearest)
    return found / 200


async def test_many_searches_share_a_small_pool(database_url: str) -> None:
    async with opened(database_url, pool_size=2) as store:
        document_id = write(store, POLICY)
        found = await asyncio.gather(
            *(store.search(QUESTION, 2, Scope(document_ids=(document_id,))) for _ in range(60))
        )
    assert {_contents(hits) for hits in found} == {_contents(found[0])}


async def test_nothing_stored_is_nothing_found(database_url: str) -> None:
    async with opened(database_url) as store:
        await store.check()
        assert await store.search(QUESTION, 5) == []
        write(store, POLICY)
        assert await store.search(QUESTION, 5, Scope(document_ids=(2**62,))) == []


def _contents(hits: list[Hit]) -> tuple[str, ...]:
    return tuple(hit.content for hit in hits)
