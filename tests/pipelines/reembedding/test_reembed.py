"""Changing the embedder: nothing is lost and nothing unanswered."""

from __future__ import annotations

import asyncio

import numpy as np
import psycopg
import pytest
from llama_index.core.vector_stores.types import VectorStoreQuery

from db.migrate import check_schema, migrate
from helix.answering.question import Question
from helix.errors import EmbedderMismatch, SettingsError
from helix.providers.base import Embedder
from helix.retrieval.embedding_cache import with_cache
from helix.retrieval.gated_retriever import GatedRetriever
from helix.retrieval.vector_space import Space, current_embedder, spaces
from helix.services import open_services
from helix.settings import load_settings
from pipelines.reembedding import state
from pipelines.reembedding.backfill import embedded_text
from pipelines.reembedding.change import abandon
from tests.support.fake_embedder import IDENTITY, opened, rows, word_embedder
from tests.support.reembedding import (
    NEXT,
    PARAGRAPHS,
    SaltedEmbedding,
    begun,
    change,
    check_all_are_of,
    fill,
    salted,
    salted_embedder,
    shape,
    text_of,
    vectors,
    write,
)
from tests.support.wire.gemini import word_vector


def test_the_schema_is_as_it_was(bare_database_url: str) -> None:
    migrate(bare_database_url)
    fresh = shape(bare_database_url)
    asyncio.run(fill(bare_database_url, 2))
    for embedder in (salted_embedder(), word_embedder()):  # there and back
        ids = [row[0] for row in vectors(bare_database_url)]
        told: list[str] = []
        asyncio.run(change(bare_database_url, embedder, told))
        check_all_are_of(bare_database_url, embedder)
        assert [row[0] for row in vectors(bare_database_url)] == ids
        assert any(line.startswith("embedded 10 of 10 chunks") for line in told), told
        assert shape(bare_database_url) == fresh
        out_of_line = "SELECT count(pg_column_toast_chunk_id(embedding)) FROM chunks"
        assert rows(bare_database_url, out_of_line) == [(0,)]
        check_schema(bare_database_url)
        migrate(bare_database_url)
        assert shape(bare_database_url) == fresh


async def test_questions_and_writers_go_on_through_a_change(database_url: str) -> None:
    """Every search is answered, from one space or the other; every write ends in the right one."""
    await fill(database_url)
    old, new = word_embedder(), salted_embedder()
    answered: dict[str, int] = {IDENTITY: 0, NEXT: 0}
    stop = asyncio.Event()

    async with opened(database_url, pool_size=4) as store:
        retriever = GatedRetriever(
            store, Space(old, 0.9), following=[Space(new, new.max_distance or 0)]
        )

        async def ask(number: int) -> None:
            while not stop.is_set():
                part = number % PARAGRAPHS
                question = text_of(number).split("\n\n")[part]
                told = f"Title of {number}.txt {question}"
                found = await retriever.search(told)
                assert found.hits[0].content == question
                # the same words: a vector of the other space would be far from it
                assert found.hits[0].distance == pytest.approx(0, abs=1e-5)
                answered[retriever.space.embedder.identity] += 1
                await asyncio.sleep(0)

        async def keep_writing() -> int:
            written = 0
            while not stop.is_set():
                uri = f"new-{written}.txt"
                embedder = await current_embedder(store, [old, new])
                try:
                    await asyncio.to_thread(write, store, embedder, uri, text_of(500 + written))
                except EmbedderMismatch:
                    continue  # the database changed under it: once more, with the other
                written += 1
                await asyncio.sleep(0.01)
            return written

        async def query_through_the_view() -> None:
            query = VectorStoreQuery(query_embedding=word_vector("x"), similarity_top_k=3)
            while not stop.is_set():
                assert len((await store.aquery(query)).ids or ()) == 3
                await asyncio.sleep(0.01)

        tasks = [asyncio.create_task(ask(number)) for number in range(4)]
        tasks.append(asyncio.create_task(query_through_the_view()))
        writer = asyncio.create_task(keep_writing())
        while min(answered[IDENTITY], len(rows(database_url, "SELECT FROM documents")) - 12) < 5:
            await asyncio.sleep(0.02)
        # a thread of its own, as a process of its own would be
        await asyncio.to_thread(asyncio.run, change(database_url, new))
        before = answered[NEXT]
        while answered[NEXT] < before + 20 and not any(task.done() for task in tasks):
            await asyncio.sleep(0.02)
        stop.set()
        await asyncio.gather(*tasks)
        written = await writer
    assert all(answered.values())
    assert written > 5
    assert rows(database_url, "SELECT count(*) FROM chunks") == [((12 + written) * PARAGRAPHS,)]
    check_all_are_of(database_url, new)


async def test_a_changed_chunk_is_embedded_anew_a_moved_one_is_not(database_url: str) -> None:
    await fill(database_url, 1)
    await begun(database_url, filled=True)
    async with opened(database_url) as store:
        embedder = word_embedder()
        text = text_of(0)
        await asyncio.to_thread(write, store, embedder, "0.txt", f"{text}\n\nOne more.")
    rows(
        database_url,
        "UPDATE chunks SET metadata_ = metadata_ || '{\"page\": 7}' RETURNING id",
    )
    kept = "SELECT count(embedding_next), count(*) FROM chunks"
    assert rows(database_url, kept) == [(PARAGRAPHS, PARAGRAPHS + 1)]
    rows(
        database_url,
        'UPDATE chunks SET metadata_ = metadata_ || \'{"embedding_key": "other"}\''
        " WHERE ordinal = 0 RETURNING id",
    )
    rows(
        database_url,
        "UPDATE chunks SET content = upper(content) WHERE ordinal = 1 RETURNING id",
    )
    missing = "SELECT ordinal FROM chunks WHERE embedding_next IS NULL ORDER BY 1"
    assert rows(database_url, missing) == [(0,), (1,), (5,)]
    new = salted_embedder()
    await change(database_url, new)
    stored = vectors(database_url)
    assert len(stored) == PARAGRAPHS + 1
    for _, content, metadata, vector in stored:
        expected = word_vector(salted(embedded_text(content, metadata)))
        assert np.allclose(vector.to_numpy(), expected, atol=1e-6)


async def test_a_chunk_rewritten_while_it_is_embedded_is_taken_again(database_url: str) -> None:
    await fill(database_url, 1)
    later = "UPDATE chunks SET content = upper(content) WHERE ordinal = 2 RETURNING id"

    class Overtaken(SaltedEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            if not self.texts:
                rows(database_url, later)
            return super()._get_text_embedding(text)

    model = Overtaken(model_name="overtaken")
    await change(database_url, Embedder(model, NEXT, 0.9, max_batch=10))
    assert [content.isupper() for _, content, _, _ in vectors(database_url)] == [
        ordinal == 2 for ordinal in range(PARAGRAPHS)
    ]
    assert len(model.texts) == PARAGRAPHS + 1
    assert "PARAGRAPH" in model.texts[-1]


async def test_a_reader_who_stays_long_delays_the_swap_but_no_question(database_url: str) -> None:
    await fill(database_url, 2)
    await begun(database_url, filled=True)
    new = salted_embedder()
    told: list[str] = []
    async with opened(database_url) as store:
        with psycopg.connect(database_url) as dump:
            dump.execute("SELECT 1 FROM chunks")  # and its lock stays, as those of pg_dump do
            changing = asyncio.create_task(
                asyncio.to_thread(asyncio.run, change(database_url, new, told))
            )
            waiting = "SELECT FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'"
            while not rows(database_url, waiting):
                await asyncio.sleep(0.005)
            for _ in range(40):
                assert await store.search(word_vector("Paragraph"), 3)
                await asyncio.sleep(0.03)
            # on a slow machine it has told by now that it waits
            steps = [one for one in told if not one.startswith("waiting for those who use")]
            assert steps[-1] == "builds the index"
        await changing
    check_all_are_of(database_url, new)


async def test_another_target_starts_over_and_a_change_can_be_abandoned(database_url: str) -> None:
    fresh = shape(database_url)
    await fill(database_url, 2)
    await begun(database_url, filled=True)
    told: list[str] = []
    await abandon(database_url, told.append)
    assert told == [f"the change to {NEXT} is abandoned"]
    assert shape(database_url) == fresh
    check_all_are_of(database_url, word_embedder())
    with pytest.raises(state.ChangeRefused, match="no change"):
        await abandon(database_url, told.append)

    await begun(database_url, filled=True)
    other = salted_embedder("fake:third:1536")
    await change(database_url, other, told)
    assert f"gives up the unfinished change to {NEXT}" in told
    assert len(other.model.texts) == 2 * PARAGRAPHS  # type: ignore[attr-defined]
    check_all_are_of(database_url, other)
    await change(database_url, other, told)
    assert told[-1] == f"the vectors are those of {other.identity}"


async def test_only_one_process_changes_a_database(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "_KILLED_SECONDS", 1)
    await fill(database_url, 1)
    with psycopg.connect(database_url) as other:
        other.execute("SELECT pg_advisory_lock(%s)", (state.ONE_AT_A_TIME,))
        with pytest.raises(state.ChangeRefused, match="another process"):
            await change(database_url, salted_embedder())
    await change(database_url, salted_embedder())


async def test_an_empty_database_needs_no_change(database_url: str) -> None:
    with pytest.raises(state.ChangeRefused, match="nothing is stored yet"):
        await change(database_url, salted_embedder())


async def test_what_is_in_the_cache_is_not_embedded(database_url: str) -> None:
    await fill(database_url, 2)
    entries = "SELECT DISTINCT model FROM embedding_cache"
    async with opened(database_url, NEXT) as store:
        first, second = salted_embedder(), salted_embedder()
        texts = [embedded_text(content, meta) for _, content, meta, _ in vectors(database_url)]
        for embedder in (word_embedder(), first):
            await with_cache(embedder, store, 8).model.aget_text_embedding_batch(texts)
        assert len(rows(database_url, entries)) == 2
        await change(database_url, with_cache(second, store, 8))
    assert not second.model.texts  # type: ignore[attr-defined]
    check_all_are_of(database_url, salted_embedder())
    assert rows(database_url, entries) == [(NEXT,)], "the old embedder's are of no more use"


async def test_services_open_before_and_after_the_change(database_url: str) -> None:
    settings = load_settings(
        DATABASE_URL=database_url, HELIX_EMBEDDER="offline", HELIX_LLM="offline"
    )
    await fill(database_url)
    old, new = word_embedder(), salted_embedder()
    question = "Title of 3.txt " + text_of(3).split("\n\n")[2]
    for _ in range(2):
        async with open_services(settings, old, following=new) as services:
            stream = await services.engine.ask(Question(question))
            assert "Paragraph" in "".join([delta async for delta in stream])
        await change(database_url, new)
    with pytest.raises(EmbedderMismatch):
        async with open_services(settings, old):
            raise AssertionError
    with pytest.raises(EmbedderMismatch):
        async with open_services(settings, old, following=salted_embedder("fake:third:1536")):
            raise AssertionError


async def test_the_current_embedder(database_url: str) -> None:
    old, new = word_embedder(), salted_embedder()
    async with opened(database_url) as store:
        assert await current_embedder(store, [old, new]) is old
        await asyncio.to_thread(write, store, old, "a.txt", "One.")
        assert await current_embedder(store, [new, old]) is old
        with pytest.raises(EmbedderMismatch):
            await current_embedder(store, [new])
        await asyncio.to_thread(store.clear)
        assert await current_embedder(store, [new, old]) is old
        assert await current_embedder(store, [new]) is new


def test_each_space_has_its_own_ceiling() -> None:
    def ceilings(explicit: float | None, following: float | None) -> list[float]:
        values = {} if explicit is None else {"RETRIEVAL_MAX_DISTANCE": explicit}
        settings = load_settings(
            DATABASE_URL="embedded", HELIX_EMBEDDER="offline", HELIX_LLM="offline", **values
        )
        new = Embedder(SaltedEmbedding(model_name="salted"), NEXT, following)
        return [space.max_distance for space in spaces(settings, [word_embedder(), new])]

    assert ceilings(None, 0.4) == [0.9, 0.4]
    assert ceilings(0.6, 0.4) == [0.6, 0.4]
    assert ceilings(0.6, None) == [0.6, 0.6]
    with pytest.raises(SettingsError, match=f"{NEXT} has no calibrated default"):
        ceilings(None, None)
