"""A change of the embedder killed or interrupted: it goes on, and asks for nothing twice."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import AsyncConnection

from db.migrate import check_schema
from helix.storage.indexes import vector_index
from pipelines.reembedding import column
from pipelines.reembedding.backfill import embedded_text
from tests.support.fake_embedder import opened, rows
from tests.support.reembedding import (
    NEXT,
    PARAGRAPHS,
    begun,
    change,
    check_all_are_of,
    fill,
    salted,
    salted_embedder,
    shape,
    vectors,
    write,
)
from tests.support.service_process import environment, eventually
from tests.support.warm_processes import Process
from tests.support.wire.gemini import GeminiWire, word_vector


@pytest.fixture
def wire() -> Iterator[GeminiWire]:
    with GeminiWire(delay=0.05) as wire:
        yield wire


def start(url: str, wire: GeminiWire, *arguments: str) -> Process:
    settings = {
        "DATABASE_URL": url,
        "GOOGLE_GEMINI_BASE_URL": wire.base_url,
        "GEMINI_API_KEY": "test-key",
        "HELIX_LLM": "offline",
        "HELIX_EMBEDDER": "offline",
        "HELIX_EMBEDDER_NEXT": "gemini",
        "HELIX_EMBED_CACHE_MB": "0",  # it is the column that remembers
        "HELIX_EMBED_PARALLEL": "1",
    }
    return Process("pipelines.reembed", *arguments, cwd="/", env=environment(**settings))


def asked_for(wire: GeminiWire) -> list[str]:
    return [
        content["content"]["parts"][-1]["text"]
        for request in wire.received("embed")
        for content in request.body["requests"]
    ]


def filled_texts(url: str) -> set[str]:
    """The embedded text of each chunk that has its new vector."""
    found = rows(url, "SELECT content, metadata_ FROM chunks WHERE embedding_next IS NOT NULL")
    return {embedded_text(content, metadata) for content, metadata in found}


@pytest.mark.parametrize("kills", [2, pytest.param(30, marks=pytest.mark.soak)])
@pytest.mark.timeout(1800)
@pytest.mark.processes
def test_a_killed_change_goes_on_and_asks_for_nothing_twice(
    database_url: str, wire: GeminiWire, kills: int
) -> None:
    asyncio.run(fill(database_url, 4 * kills))
    chunks = 4 * kills * PARAGRAPHS
    paid: set[str] = set()
    for _ in range(kills):
        seen = len(asked_for(wire))
        process = start(database_url, wire, "--batch", "5")
        assert eventually(lambda seen=seen: len(asked_for(wire)) >= seen + 8, 60)  # type: ignore[misc]
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert not paid & set(asked_for(wire)[seen:]), "what was filled is asked for again"
        paid = filled_texts(database_url)
        assert paid
    seen = len(asked_for(wire))
    process = start(database_url, wire, "--batch", "5")
    _, told = process.communicate(timeout=60)
    assert process.returncode == 0, told
    assert f"embedded {chunks} of {chunks} chunks" in told
    assert sorted(asked_for(wire)[seen:]) == sorted(
        {embedded_text(content, metadata) for _, content, metadata, _ in vectors(database_url)}
        - paid
    )
    assert rows(database_url, "SELECT identity FROM embedding_space") == [
        ("gemini:gemini-embedding-001:1536",)
    ]
    assert rows(database_url, "SELECT count(*) FROM chunks") == [(chunks,)]


@pytest.mark.processes
def test_an_interrupted_change_says_how_to_go_on(database_url: str, wire: GeminiWire) -> None:
    asyncio.run(fill(database_url, 6))
    process = start(database_url, wire, "--batch", "2")
    assert eventually(lambda: len(wire.requests) >= 2, 60)
    process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=30)[1]
    assert process.returncode == 130
    assert told.splitlines()[-1] == (
        "reembed: interrupted; what is done stays, run it again to go on"
    )
    check_schema(database_url)


def kill_an_index_build(url: str) -> None:
    """Leave the INVALID index of a CREATE INDEX CONCURRENTLY that did not end."""
    with psycopg.connect(url) as reader, psycopg.connect(url, autocommit=True) as builder:
        reader.execute("SELECT 1 FROM chunks")
        reader.execute("LOCK TABLE chunks IN ROW EXCLUSIVE MODE")  # which the build waits for
        statement = (
            f"CREATE INDEX CONCURRENTLY {column.NEXT_INDEX}"
            f" ON chunks USING {vector_index('embedding_next')}"
        )

        def build() -> None:
            with pytest.raises(psycopg.errors.QueryCanceled):
                builder.execute(statement)

        thread = threading.Thread(target=build)
        thread.start()
        invalid = "SELECT FROM pg_index WHERE NOT indisvalid"
        assert eventually(lambda: bool(rows(url, invalid)))
        builder.cancel()
        thread.join(10)
    assert rows(url, "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid") == [
        (column.NEXT_INDEX,)
    ]


def test_an_index_left_unfinished_is_built_anew(database_url: str) -> None:
    fresh = shape(database_url)
    asyncio.run(fill(database_url, 3))
    asyncio.run(begun(database_url, filled=True))
    kill_an_index_build(database_url)
    new = salted_embedder()
    asyncio.run(change(database_url, new))
    assert not new.model.texts  # type: ignore[attr-defined]
    check_all_are_of(database_url, new)
    assert shape(database_url) == fresh


async def test_a_change_killed_after_its_swap_is_finished(database_url: str) -> None:
    fresh = shape(database_url)
    await fill(database_url, 3)
    await begun(database_url, filled=True)

    async def nothing() -> None:
        return None

    async with await AsyncConnection.connect(database_url, autocommit=True) as connection:
        await column.build_indexes(connection, 15)
        await column.swap(connection, nothing, print)
    new = salted_embedder()
    async with opened(database_url, NEXT) as store:
        hits = await store.search(word_vector(salted("Paragraph 101")), 3)
        assert len(hits) == 3
        check_schema(database_url)
        await asyncio.to_thread(write, store, new, "later.txt", "Written before it is finished.")
    with pytest.raises(psycopg.errors.CheckViolation):
        rows(database_url, "UPDATE chunks SET embedding = NULL RETURNING id")
    assert shape(database_url) != fresh
    await change(database_url, new)
    check_all_are_of(database_url, new)
    assert shape(database_url) == fresh
