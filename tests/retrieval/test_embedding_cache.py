"""The embedding cache: what is asked once, what is kept, what goes, and what its failures cost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from hashlib import sha256

import numpy as np
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import helix.store
from helix.cli import cli
from helix.domain.records import EMBEDDING_KEY, DocumentRecord
from helix.errors import StoreUnavailable
from helix.providers.base import Embedder
from helix.providers.gemini.embedding import gemini_embedder
from helix.retrieval.embedding_cache import CachedEmbedding, cache_key, with_cache
from helix.settings import load_settings
from helix.storage.cache_rows import ENTRY_BYTES, packed, unpacked
from helix.store import ChunkStore
from tests.support.fake_embedder import (
    IDENTITY,
    WordEmbedding,
    nodes_of,
    opened,
    record,
    rows,
    word_embedder,
)
from tests.support.wire.gemini import GeminiWire, word_vector

DOWN = "postgresql://user:hunter2@127.0.0.1:1/helix"


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[ChunkStore]:
    async with opened(database_url) as store:
        yield store


def cached(store: ChunkStore, identity: str = IDENTITY, limit_mb: int = 8) -> CachedEmbedding:
    model = with_cache(word_embedder(identity), store, limit_mb).model
    assert isinstance(model, CachedEmbedding)
    return model


def made(model: CachedEmbedding) -> list[str]:
    """The texts that the model behind the cache was asked for."""
    inner = model._embedder.model
    assert isinstance(inner, WordEmbedding)
    return inner.texts


def gemini() -> Embedder:
    return gemini_embedder(load_settings(database_url="embedded", gemini_api_key="k"))


# --- keys and rows

parts = st.tuples(st.text(max_size=8), st.sampled_from(["document", "query"]), st.text(max_size=8))


@given(parts, parts)
def test_keys_are_equal_only_for_equal_embedder_task_and_text(one: tuple, other: tuple) -> None:  # type: ignore[type-arg]
    assert (cache_key(*one) == cache_key(*other)) is (one == other)


def test_no_part_of_a_key_runs_into_the_next() -> None:
    assert cache_key("a:document", "query", "x") != cache_key("a", "document", "query:x")
    assert cache_key("a", "query", "lone \ud800") != cache_key("a", "query", "lone ?")


@given(st.integers(0, 1536), st.integers(0, 2**32 - 1))
def test_a_vector_comes_back_as_it_was_without_its_last_zeros_kept(width: int, seed: int) -> None:
    vector = np.zeros(1536, dtype=np.float32)
    vector[:width] = np.random.default_rng(seed).standard_normal(width)
    assert len(packed(vector)) <= width * 4
    assert np.array_equal(unpacked(packed(vector)), vector)


# --- what is asked once


async def test_a_text_is_embedded_once(store: ChunkStore, database_url: str) -> None:
    first = cached(store)
    vectors = await first.aget_text_embedding_batch(["one", "two", "one"])
    assert made(first) == ["one", "two"]
    assert np.allclose(vectors, [word_vector(text) for text in ("one", "two", "one")], atol=1e-6)
    second = cached(store)  # another process, as it were
    again = await second.aget_text_embedding_batch(["two", "three", "one"])
    assert made(second) == ["three"]
    assert np.allclose(again[0], vectors[1], atol=1e-6)
    assert np.allclose(again[2], vectors[0], atol=1e-6)
    assert rows(database_url, "SELECT model, count(*) FROM embedding_cache GROUP BY 1") == [
        (IDENTITY, 3)
    ]


async def test_code_without_an_event_loop_shares_it(store: ChunkStore) -> None:
    waiting, blocking = cached(store), cached(store)
    one = await waiting.aget_text_embedding_batch(["one"])
    both = await asyncio.to_thread(blocking.get_text_embedding_batch, ["one", "two"])
    assert made(blocking) == ["two"]
    assert np.allclose(both[0], one[0])
    assert len(await waiting.embed(["two"])) == 1 and made(waiting) == ["one"]


async def test_another_embedder_shares_nothing(store: ChunkStore) -> None:
    await cached(store).embed(["one"])
    other = cached(store, "fake:other:1536")
    await other.embed(["one"])
    assert made(other) == ["one"]


async def test_a_question_costs_one_request_and_is_no_document(
    store: ChunkStore, wire: GeminiWire
) -> None:
    embedder = with_cache(gemini(), store, 8)
    first = await embedder.model.aget_query_embedding("how long?")
    again = await embedder.model.aget_query_embedding("how long?")
    blocking = await asyncio.to_thread(embedder.model.get_query_embedding, "how long?")
    assert len(wire.requests) == 1
    assert np.allclose(first, again) and np.allclose(first, blocking)
    await embedder.model.aget_text_embedding("how long?")
    tasks = [part["taskType"] for r in wire.requests for part in r.body["requests"]]
    assert tasks == ["RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"]
    await embedder.aclose()


async def test_a_question_to_a_model_in_this_process_passes_the_cache_by(
    store: ChunkStore, database_url: str
) -> None:
    local = with_cache(replace(word_embedder(), local=True), store, 8).model
    await local.aget_query_embedding("how long?")
    await asyncio.to_thread(local.get_query_embedding, "how long?")
    assert rows(database_url, "SELECT FROM embedding_cache") == []


async def test_no_room_is_no_cache_and_twice_is_once(store: ChunkStore) -> None:
    embedder = word_embedder()
    assert with_cache(embedder, store, 0) is embedder
    once = with_cache(embedder, store, 8)
    assert with_cache(once, store, 8) is once
    assert (once.identity, once.max_batch) == (embedder.identity, embedder.max_batch)


async def test_processes_that_make_the_same_texts_at_once_get_along(store: ChunkStore) -> None:
    texts = [f"text {n}" for n in range(60)]
    models = [cached(store) for _ in range(6)]
    orders = [texts if n % 2 else texts[::-1] for n in range(6)]
    found = await asyncio.gather(*(m.embed(o) for m, o in zip(models, orders, strict=True)))
    for vectors, order in zip(found, orders, strict=True):
        assert np.allclose(vectors, [word_vector(text) for text in order], atol=1e-6)


# --- what is kept and what goes


async def test_a_hit_writes_its_last_use_down_once_an_hour(
    store: ChunkStore, database_url: str
) -> None:
    model = cached(store)
    await model.embed(["old", "new"])
    old = cache_key(IDENTITY, "document", "old")
    age = "UPDATE embedding_cache SET used_at = now() - interval '2 hours' WHERE key = %s"
    rows(database_url, age + " RETURNING 1", old)
    versions = "SELECT key, xmin::text FROM embedding_cache"
    before = dict(rows(database_url, versions))
    await model.embed(["old", "new"])
    touched = dict(rows(database_url, versions))
    assert {key for key in before if before[key] != touched[key]} == {old}
    await asyncio.to_thread(model.get_text_embedding_batch, ["old", "new"])
    assert dict(rows(database_url, versions)) == touched


async def test_past_the_limit_the_least_recently_used_go(
    store: ChunkStore, database_url: str
) -> None:
    model = cached(store, limit_mb=1)
    texts = [f"text {n}" for n in range(150)]
    await model.embed(texts)
    keys = [cache_key(IDENTITY, "document", text) for text in texts]
    rows(
        database_url,
        "UPDATE embedding_cache SET used_at = now() - interval '1 day'"
        " * array_position(%s::text[], key) RETURNING 1",
        keys,
    )
    for start in range(0, 60, 20):  # each call measures: 20 vectors are over a 64th of 1 MB
        await model.embed([f"more {n}" for n in range(start, start + 20)])
    left = {key for (key,) in rows(database_url, "SELECT key FROM embedding_cache")}
    [(size,)] = rows(database_url, "SELECT sum(octet_length(vector)) FROM embedding_cache")
    size += len(left) * ENTRY_BYTES
    assert 0.7 * 2**20 < size <= 2**20 + 20 * (6144 + ENTRY_BYTES)
    kept = [key in left for key in keys]
    assert kept == sorted(kept, reverse=True) and True in kept and False in kept
    assert all(cache_key(IDENTITY, "document", f"more {n}") in left for n in range(60))


def stored(store: ChunkStore, document: DocumentRecord, reference: int | None = None) -> int:
    """Written as an ingest does it, the vectors' keys with the nodes; documents.id."""
    reference = reference or store.reserve(document.source_uri)
    nodes = nodes_of(document, str(reference))
    for node in nodes:
        node.metadata[EMBEDDING_KEY] = cache_key(IDENTITY, "document", node.text)
    store.stage(str(reference), document)
    store.add(nodes)
    return reference


async def test_a_deleted_document_takes_what_nothing_else_uses(
    store: ChunkStore, database_url: str
) -> None:
    data = b"the bytes of both"
    file_hash = sha256(data).hexdigest()
    insert = "INSERT INTO files (content_hash, data, size) VALUES (%s, %s, 17) RETURNING 1"
    rows(database_url, insert, file_hash, data)
    one = replace(record("one.txt", "Shared.\n\nOnly one."), file_hash=file_hash)
    two = replace(record("two.txt", "Shared.\n\nOnly two."), file_hash=file_hash)
    await cached(store).embed(["Shared.", "Only one.", "Only two.", "Nobody's."])
    ids = [stored(store, document) for document in (one, two)]
    everything = "SELECT (SELECT count(*) FROM {}), (SELECT count(*) FROM files)"
    counts = everything.format("embedding_cache")
    store.delete(str(ids[0]))
    assert rows(database_url, counts) == [(3, 1)]
    store.delete("two.txt")
    assert rows(database_url, counts) == [(1, 0)]
    keys = rows(database_url, "SELECT key FROM embedding_cache")
    assert keys == [(cache_key(IDENTITY, "document", "Nobody's."),)]
    assert rows(database_url, "SELECT FROM chunks UNION ALL SELECT FROM documents") == []


async def test_a_file_that_a_run_needs_stays(store: ChunkStore, database_url: str) -> None:
    rows(
        database_url,
        "INSERT INTO files (content_hash, data, size) VALUES ('h', 'x', 1) RETURNING 1",
    )
    rows(
        database_url,
        "WITH r AS (INSERT INTO runs (kind) VALUES ('upload') RETURNING id)"
        " INSERT INTO run_files (run_id, n, source_uri, file_hash)"
        " SELECT id, 0, 'one.txt', 'h' FROM r RETURNING 1",
    )
    stored(store, replace(record("one.txt", "One."), file_hash="h"))
    store.delete("one.txt")
    assert rows(database_url, "SELECT content_hash FROM files") == [("h",)]
    store.clear()
    assert rows(database_url, "SELECT content_hash FROM files") == [("h",)]


async def test_two_deleted_at_once_leave_no_shared_vector(
    store: ChunkStore, database_url: str
) -> None:
    texts = [f"Shared {n}." for n in range(30)]
    for _ in range(5):
        await cached(store).embed(texts)
        for name, order in (("one.txt", texts), ("two.txt", texts[::-1])):
            stored(store, record(name, "\n\n".join(order)))
        await asyncio.gather(store.adelete("one.txt"), store.adelete("two.txt"))
        assert rows(database_url, "SELECT count(*) FROM embedding_cache") == [(0,)]


async def test_a_new_version_keeps_the_old_ones_vectors(
    store: ChunkStore, database_url: str
) -> None:
    await cached(store).embed(["Old.", "New."])
    stored(store, record("one.txt", "Old."))
    stored(store, record("one.txt", "New."))
    assert rows(database_url, "SELECT count(*) FROM embedding_cache") == [(2,)]


# --- when it fails


async def test_a_question_is_embedded_though_the_database_is_down(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, wire: GeminiWire
) -> None:
    monkeypatch.setattr(helix.storage.connections, "CONNECT_TIMEOUT_SECONDS", 0.2)
    async with opened(DOWN) as store:
        embedder = with_cache(gemini(), store, 8)
        for _ in range(3):
            assert len(await embedder.model.aget_query_embedding("secret question")) == 1536
        assert await asyncio.to_thread(embedder.model.get_query_embedding, "secret question")
        assert len(wire.requests) == 4
        await embedder.aclose()
    told = [r.getMessage() for r in caplog.records if r.name == "helix.retrieval.embedding_cache"]
    assert told == ["the embedding cache failed (StoreUnavailable): going on without it"]
    assert "hunter2" not in caplog.text and "secret" not in caplog.text


async def test_a_document_waits_for_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helix.storage.connections, "CONNECT_TIMEOUT_SECONDS", 0.2)
    async with opened(DOWN) as store:
        model = cached(store)
        with pytest.raises(StoreUnavailable):
            await model.embed(["text"])
        with pytest.raises(StoreUnavailable):
            await asyncio.to_thread(model.get_text_embedding, "text")
        assert made(model) == []


async def test_a_vector_that_cannot_be_kept_is_not_lost(
    store: ChunkStore, database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("ALTER TABLE embedding_cache ADD CHECK (model = '')")
    model = cached(store)
    assert np.allclose(await model.embed(["one"]), [word_vector("one")], atol=1e-6)
    assert "the embedding cache failed" in caplog.text
    assert await asyncio.to_thread(model.get_text_embedding, "one")


# --- the command


async def test_the_command_tells_and_clears(store: ChunkStore, database_url: str) -> None:
    values = {
        "DATABASE_URL": database_url, "HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline",
    }  # fmt: skip
    await cached(store).embed(["one", "two"])
    await cached(store, "fake:other:1536").embed(["one"])

    async def helix_cache(*arguments: str, status: int = 0) -> str:
        done = await asyncio.to_thread(CliRunner().invoke, cli, ["cache", *arguments], env=values)
        assert done.exit_code == status, done.output
        return done.output

    told = (await helix_cache("stats")).splitlines()
    assert told[0].split() == ["entries", "3"]
    assert "0.0 MB (limit 512 MB)" in told[1] and "last used 20" in told[2]
    assert told[3:] == [
        f"  {IDENTITY}: 2 entries, 0.0 MB",
        "  fake:other:1536: 1 entries, 0.0 MB",
    ]
    await helix_cache("clear", status=1)  # nobody there to confirm
    assert await helix_cache("clear", "--yes", "--model", IDENTITY) == "2 entries removed\n"
    assert await helix_cache("clear", "--yes") == "1 entries removed\n"
    assert (await helix_cache("stats")).split()[:2] == ["entries", "0"]
