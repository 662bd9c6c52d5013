"""ChunkStore on a real Postgres: what is written, what a search sees, and what it costs to fail."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import psycopg
import pytest
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import (
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
)
from psycopg import sql

import helix.store
from helix.domain.records import Hit
from helix.domain.scope import Scope
from helix.errors import StoreUnavailable
from helix.storage import indexes as index
from helix.storage.dense_search import FEWER
from helix.store import ChunkStore
from tests.support.fake_embedder import IDENTITY, nodes_of, opened, record, rows, write
from tests.support.search_statements import indexed_searches
from tests.support.wire.gemini import word_vector

OLD = record("policy.txt", "Refunds take thirty days.\n\nShipping is free.\n\nCall us.", "Old")
NEW = record("policy.txt", "Refunds take five days.\n\nExchanges, too.", "New")
OTHER = record("other.txt", "Refunds are for others.\n\nElephants never forget.", "Other")
QUESTION = word_vector("How long do refunds take?")


def contents(hits: list[Hit]) -> list[str]:
    return [hit.content for hit in hits]


# --- a document is whole


async def test_a_written_document_is_found_with_its_place(database_url: str) -> None:
    async with opened(database_url) as store:
        document_id = write(store, OLD)
        hits = await store.search(QUESTION, 5)
        assert store.run_blocking(store.search, QUESTION, 5) == hits
        assert len(await store.search(np.asarray(QUESTION), 2)) == 2
    assert hits[0].content == "Refunds take thirty days."
    assert [hit.distance for hit in hits] == sorted(hit.distance for hit in hits)
    assert {(h.document_id, h.title, h.source_uri) for h in hits} == {
        (document_id, "Old", "policy.txt")
    }
    assert sorted(hit.ordinal for hit in hits) == [0, 1, 2]
    for hit in hits:
        assert hit.content == OLD.text[hit.start_char : hit.end_char]
    slices = "SELECT c.content = substr(d.text, start_char + 1, end_char - start_char)"
    assert (
        rows(database_url, slices + " FROM chunks c JOIN documents d ON d.id = document_id")
        == [(True,)] * 3
    )


async def test_replacing_keeps_the_id_and_nothing_else(database_url: str) -> None:
    async with opened(database_url) as store:
        other = write(store, OTHER)
        first = write(store, OLD)
        assert write(store, NEW) == first != other
        hits = await store.search(QUESTION, 10, Scope(document_ids=(first,)))
        assert sorted(contents(hits)) == ["Exchanges, too.", "Refunds take five days."]
        assert {hit.title for hit in hits} == {"New"}
        assert len(await store.search(QUESTION, 10)) == 4
        assert store.fingerprints(["policy.txt", "nowhere"]) == {
            "policy.txt": (NEW.content_hash, NEW.recipe, "New")
        }
    assert rows(database_url, "SELECT text FROM documents WHERE id = %s", first) == [(NEW.text,)]


@pytest.mark.parametrize("wrong", ["slice", "width", "missing vector", "infinite", "NUL"])
async def test_a_write_that_fails_leaves_the_old_version(database_url: str, wrong: str) -> None:
    async with opened(database_url) as store:
        document_id = write(store, OLD)
        store.stage(str(document_id), NEW)
        nodes = nodes_of(NEW, str(document_id))
        if wrong == "slice":
            nodes[1].metadata["start_char"] += 1
        elif wrong == "NUL":
            nodes[1].metadata["note"] = "a\x00b"
        else:
            vectors = {"width": [0.1] * 1535, "infinite": [float("inf")] * 1536}
            nodes[1].embedding = vectors.get(wrong)
        with pytest.raises((ValueError, StoreUnavailable)) as raised:
            store.add(nodes)
        assert "\n" not in str(raised.value) and "Exchanges" not in str(raised.value)
        assert sorted(contents(await store.search(QUESTION, 9))) == sorted(OLD.text.split("\n\n"))
        assert {hit.title for hit in await store.search(QUESTION, 9)} == {"Old"}


@pytest.mark.parametrize("times", [25, pytest.param(500, marks=pytest.mark.soak)])
async def test_a_reader_sees_the_old_version_or_the_new_one(database_url: str, times: int) -> None:
    versions = {tuple(sorted(d.text.split("\n\n"))): d.title for d in (OLD, NEW)}
    seen: list[tuple[tuple[str, ...], set[str]]] = []
    async with opened(database_url) as store, opened(database_url) as writer:
        document_id = write(store, OLD)
        writing = asyncio.create_task(asyncio.to_thread(_replace_often, writer, times))

        async def read() -> None:
            while not writing.done():
                for hits in (
                    await store.search(QUESTION, 10),
                    await store.search(QUESTION, 10, Scope(document_ids=(document_id,))),
                ):
                    found = tuple(sorted(contents(hits)))
                    seen.append((found, {hit.title for hit in hits}))

        await asyncio.gather(read(), read())
        await writing
    for found, titles in seen:
        assert found in versions, "neither the old version nor the new one, or both"
        assert titles == {versions[found]}
    assert {found for found, _ in seen} == set(versions), "the race must see both to tell anything"


def _replace_often(store: ChunkStore, times: int) -> None:
    for _ in range(times):
        write(store, NEW)
        write(store, OLD)


def test_writers_of_one_source_at_once_leave_one_version(database_url: str) -> None:
    stores = [ChunkStore(database_url, IDENTITY) for _ in range(4)]

    def write_often(store: ChunkStore) -> None:
        for _ in range(5):
            write(store, NEW)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write_often, stores))
    assert rows(database_url, "SELECT count(*) FROM documents") == [(1,)]
    assert rows(database_url, "SELECT content FROM chunks ORDER BY ordinal") == [
        ("Refunds take five days.",),
        ("Exchanges, too.",),
    ]
    for store in stores:
        store._connections.close_writing()


def test_adopters_of_one_document_at_once_all_add_to_it(database_url: str) -> None:
    stores = [ChunkStore(database_url, IDENTITY) for _ in range(4)]
    shared = str(write(stores[0], NEW))

    def add_often(place: int) -> None:
        for number in range(5):
            stores[place].add([_node(shared, place * 5 + number, QUESTION)])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add_often, range(4)))
    for store in stores:
        store._connections.close_writing()
    assert rows(database_url, "SELECT array_agg(ordinal ORDER BY ordinal) FROM chunks") == [
        (list(range(22)),)
    ]
    assert rows(
        database_url,
        "SELECT bool_and(content = substr(text, start_char + 1, end_char - start_char))"
        " FROM chunks c JOIN documents d ON d.id = document_id",
    ) == [(True,)]


# --- the search


@pytest.fixture
def crowded(database_url: str) -> str:
    """A big document of random directions around the question's, and a small one opposite to it.

    Only the vector index can serve a search here, filtered or not.
    """
    random = np.random.default_rng(7)
    question = np.asarray(QUESTION)
    big = random.standard_normal((900, 1536)) / np.sqrt(1536) + question / 2
    small = random.standard_normal((12, 1536)) / np.sqrt(1536) - question / 2
    with psycopg.connect(database_url, autocommit=True) as connection:
        name = sql.Identifier(connection.info.dbname)
        connection.execute(sql.SQL("ALTER DATABASE {} SET enable_seqscan = off").format(name))
        connection.execute(
            "ALTER TABLE chunks DROP CONSTRAINT chunks_document_id_ordinal_key,"
            " DROP CONSTRAINT chunks_tenant_id_node_id_key"
        )
        assert index.drop_if_empty(connection)
        store = ChunkStore(database_url, IDENTITY)
        store.add([_node("big", place, vector) for place, vector in enumerate(big)])
        store.add([_node("small", place, vector) for place, vector in enumerate(small)])
        store._connections.close_writing()
        assert index.build_if_missing(connection)
    return database_url


def _node(source: str, place: int, vector: Any) -> TextNode:
    """A node as LlamaIndex code of one's own makes it: of a document, and without marks."""
    return TextNode(
        id_=f"{source}-{place}",
        text=f"{source} {place}.",
        embedding=list(vector),
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=source)},
    )


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
            await asyncio.to_thread(store.run_blocking, store.search, QUESTION, 5, scope),
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
        await store.async_add([_node("all", place, v) for place, v in enumerate([*near, *far])])
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
        document_id = write(store, OLD)
        found = await asyncio.gather(
            *(store.search(QUESTION, 2, Scope(document_ids=(document_id,))) for _ in range(60))
        )
    assert {tuple(contents(hits)) for hits in found} == {tuple(contents(found[0]))}


async def test_nothing_stored_is_nothing_found(database_url: str) -> None:
    async with opened(database_url) as store:
        await store.check()
        assert await store.search(QUESTION, 5) == []
        write(store, OLD)
        assert await store.search(QUESTION, 5, Scope(document_ids=(2**62,))) == []


# --- the database fails


async def test_a_database_that_is_down(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(helix.storage.connections, "CONNECT_TIMEOUT_SECONDS", 1)
    caplog.set_level(logging.DEBUG)
    async with opened("postgresql://user:hunter2@127.0.0.1:1/helix") as store:
        assert await store.ping() is False
        for attempt in (
            store.search(QUESTION, 5),
            asyncio.to_thread(store.reserve, "a.txt"),
            asyncio.to_thread(store.get_nodes, ["a"]),
            store.aget_nodes(["a"]),
        ):
            with pytest.raises(StoreUnavailable) as raised:
                await attempt
            assert str(raised.value) == (
                "the database did not answer: check that it is running and DATABASE_URL is right"
            )
    assert "hunter2" not in caplog.text


async def test_connections_killed_between_two_searches_are_survived(database_url: str) -> None:
    async with opened(database_url) as store:
        write(store, OLD)

        async def use() -> list[Any]:
            await asyncio.gather(*(store.search(QUESTION, 1) for _ in range(8)))
            return [
                contents(await store.search(QUESTION, 1)),
                contents(store.run_blocking(store.search, QUESTION, 1)),
                [node.get_content() for node in store.get_nodes(["none"])],
                [node.get_content() for node in await store.aget_nodes(["none"])],
                await store.ping(),
            ]

        before = await use()
        for _ in range(2):
            killed = rows(
                database_url,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()",
            )
            assert len(killed) > 2
            assert await use() == before


async def test_a_missing_schema_says_what_to_run(bare_database_url: str) -> None:
    said = "the database has no Helix schema: run `python -m db.migrate`"
    with psycopg.connect(bare_database_url) as connection:
        connection.execute("CREATE EXTENSION vector")
    async with opened(bare_database_url) as store:
        for attempt in (
            store.check(),
            store.search(QUESTION, 5),
            asyncio.to_thread(store.reserve, "a.txt"),
            store.aget_nodes(["a"]),
        ):
            with pytest.raises(StoreUnavailable) as raised:
                await attempt
            assert str(raised.value) == said
        assert await store.ping() is True


async def test_a_refused_statement_shows_no_text_of_a_document(database_url: str) -> None:
    async with opened(database_url) as store:
        twice = [_node("secret text", 0, QUESTION)] * 2
        with pytest.raises(StoreUnavailable, match=r"refused the statement \(23505\)") as raised:
            store.add(twice)
        with pytest.raises(StoreUnavailable, match="refused the statement") as of_sqlalchemy:
            store.delete_nodes(["secret\x00text"])
    for error in (raised.value, of_sqlalchemy.value):
        assert "secret" not in str(error) and "\n" not in str(error)


async def test_a_closed_store_says_so(database_url: str) -> None:
    async with opened(database_url) as store:
        await store.search(QUESTION, 1)
    with pytest.raises(StoreUnavailable):
        await store.search(QUESTION, 1)
