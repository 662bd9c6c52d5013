"""Changing the embedder: nothing is lost, repeated or unanswered, however it is interrupted."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
import typer
from llama_index.core.schema import MetadataMode
from llama_index.core.vector_stores.types import VectorStoreQuery
from pgvector.psycopg import register_vector
from psycopg import AsyncConnection
from typer.testing import CliRunner

from db.migrate import check_schema, migrate
from helix.embedding_cache import cache_key, with_cache
from helix.errors import EmbedderMismatch, SettingsError
from helix.next_embedder import Space, current_embedder, spaces
from helix.providers.base import Embedder
from helix.providers.offline import offline_embedder
from helix.records import EMBEDDING_KEY
from helix.retriever import GatedRetriever
from helix.services import open_services
from helix.settings import HOW, load_settings
from helix.store import ChunkStore
from pipelines.reembed import reembed
from pipelines.reembedding import column, state
from pipelines.reembedding.change import abandon, change_embedder
from pipelines.reembedding.filling import embedded_text
from tests.fakes import IDENTITY, WordEmbedding, nodes_of, opened, record, rows, word_embedder
from tests.service import environment, eventually
from tests.wire.gemini import GeminiWire, word_vector
from tests.wire.gemini_replies import Failure, Vectors

NEXT = "fake:salted:1536"
DOCUMENTS = 12
PARAGRAPHS = 5


class SaltedEmbedding(WordEmbedding):
    """Another space: the same nearness, other vectors."""

    def _get_query_embedding(self, query: str) -> list[float]:
        return word_vector(salted(query))

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return word_vector(salted(query))

    def _get_text_embedding(self, text: str) -> list[float]:
        self.texts.append(text)
        return word_vector(salted(text))


def salted(text: str) -> str:
    return re.sub(r"\w+", lambda word: f"q{word[0]}", text)


def salted_embedder(identity: str = NEXT, max_distance: float = 0.9) -> Embedder:
    model = SaltedEmbedding(model_name="salted")
    return Embedder(model=model, identity=identity, max_distance=max_distance, max_batch=10)


def text_of(number: int, version: int = 1) -> str:
    return "\n\n".join(
        f"Paragraph {number * 100 + part}{'abcdefgh'[part]}{number} of version{version}."
        for part in range(PARAGRAPHS)
    )


def embedded_nodes(uri: str, text: str, reference: int, embedder: Embedder) -> list[Any]:
    """Nodes as ingest makes them: with a title in front of what is embedded, and a cache key."""
    nodes = nodes_of(record(uri, text), str(reference))
    for node in nodes:
        node.metadata["title"] = f"Title of {uri}"
        node.metadata_template = "{value}"
        node.excluded_embed_metadata_keys = [key for key in node.metadata if key != "title"]
        told = node.get_content(MetadataMode.EMBED)
        node.embedding = embedder.model.get_text_embedding(told)
        node.metadata[EMBEDDING_KEY] = cache_key(embedder.identity, "document", told)
        node.excluded_embed_metadata_keys.append(EMBEDDING_KEY)
    return nodes


def write(store: ChunkStore, embedder: Embedder, uri: str, text: str) -> int:
    """Store a document with the vectors of ``embedder``, as a worker does."""
    session = store.session(embedder.identity)
    reference = session.reserve(uri)
    session.stage(str(reference), record(uri, text))
    session.add(embedded_nodes(uri, text, reference, embedder))
    return reference


async def fill(url: str, documents: int = DOCUMENTS) -> None:
    async with opened(url) as store:
        embedder = word_embedder()
        for number in range(documents):
            await asyncio.to_thread(write, store, embedder, f"{number}.txt", text_of(number))


async def change(url: str, embedder: Embedder, told: list[str] | None = None) -> None:
    tell = (told if told is not None else []).append
    await change_embedder(url, embedder, batch=10, parallel=2, tell=tell)


def vectors(url: str) -> list[tuple[int, str, dict[str, Any], Any]]:
    """(id, content, metadata, vector) of each chunk."""
    with psycopg.connect(url) as connection:
        register_vector(connection)
        return connection.execute(
            "SELECT id, content, metadata_, embedding FROM chunks ORDER BY id"
        ).fetchall()


def check_all_are_of(url: str, embedder: Embedder) -> None:
    """Each vector and key is what ``embedder`` makes of the chunk's title and content."""
    stored = vectors(url)
    assert stored
    for _, content, metadata, vector in stored:
        told = f"{metadata['title']}\n\n{content}"
        expected = embedder.model.get_text_embedding(told)
        assert np.allclose(vector.to_numpy(), expected, atol=1e-6)
        assert metadata[EMBEDDING_KEY] == cache_key(embedder.identity, "document", told)
    assert rows(url, "SELECT identity FROM embedding_space") == [(embedder.identity,)]


def shape(url: str) -> list[Any]:
    """All that the schema says of chunks and its view, but for the order of columns."""
    return [
        rows(url, statement)
        for statement in (
            "SELECT attname, attnotnull, attstorage, format_type(atttypid, atttypmod)"
            " FROM pg_attribute WHERE attrelid = 'chunks'::regclass AND attnum > 0"
            " AND NOT attisdropped ORDER BY 1",
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'chunks' ORDER BY 1",
            "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid",
            "SELECT conname, pg_get_constraintdef(oid), convalidated FROM pg_constraint"
            " WHERE conrelid = 'chunks'::regclass ORDER BY 1",
            "SELECT tgname FROM pg_trigger WHERE tgrelid = 'chunks'::regclass AND NOT tgisinternal",
            "SELECT pg_get_viewdef('data_chunks')",
            "SELECT proname FROM pg_proc WHERE proname ~ '^chunks'",
            "SELECT * FROM embedding_change",
        )
    ]


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
            store, old, max_distance=0.9, following=[Space(new, new.max_distance or 0)]
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
                answered[retriever._side[0].embedder.identity] += 1
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


@pytest.fixture
def wire() -> Iterator[GeminiWire]:
    with GeminiWire(delay=0.05) as wire:
        yield wire


def start(url: str, wire: GeminiWire, *arguments: str) -> subprocess.Popen[str]:
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
    return subprocess.Popen(
        [sys.executable, "-m", "pipelines.reembed", *arguments],
        cwd="/", env=environment(**settings), text=True, stderr=subprocess.PIPE,
    )  # fmt: skip


def asked_for(wire: GeminiWire) -> list[str]:
    return [
        content["content"]["parts"][-1]["text"]
        for request in wire.received("embed")
        for content in request.body["requests"]
    ]


def filled_texts(url: str) -> set[str]:
    """What was embedded of each chunk that has its new vector."""
    found = rows(url, "SELECT content, metadata_ FROM chunks WHERE embedding_next IS NOT NULL")
    return {embedded_text(content, metadata) for content, metadata in found}


@pytest.mark.parametrize("kills", [2, pytest.param(30, marks=pytest.mark.soak)])
@pytest.mark.timeout(1800)
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


async def begun(url: str, *, filled: bool = False) -> None:
    """A change to NEXT that was killed: right after it began, or before its swap."""
    async with await AsyncConnection.connect(url, autocommit=True) as connection:
        await column.begin(connection, NEXT, print)
    if filled:
        with psycopg.connect(url) as filling:
            register_vector(filling)
            for chunk_id, content, metadata, _ in vectors(url):
                vector = np.asarray(word_vector(salted(embedded_text(content, metadata))))
                filling.execute(
                    "UPDATE chunks SET embedding_next = %s WHERE id = %s", (vector, chunk_id)
                )


def kill_an_index_build(url: str) -> None:
    """Leave the INVALID index of a CREATE INDEX CONCURRENTLY that did not end."""
    with psycopg.connect(url) as reader, psycopg.connect(url, autocommit=True) as builder:
        reader.execute("SELECT 1 FROM chunks")
        reader.execute("LOCK TABLE chunks IN ROW EXCLUSIVE MODE")  # which the build waits for
        statement = (
            f"CREATE INDEX CONCURRENTLY {column.NEXT_INDEX}"
            " ON chunks USING hnsw (embedding_next vector_cosine_ops)"
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
            assert told[-1] == "builds the index"
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


def test_a_failing_service_stops_it_and_says_that_it_can_go_on(
    database_url: str, wire: GeminiWire, command: Command
) -> None:
    asyncio.run(fill(database_url, 4))
    wire.script(Vectors(), Failure(400, "INVALID_ARGUMENT", "No."), on="embed")
    code, told = command(
        "--batch", "5", "--to", "gemini", GEMINI_API_KEY="test-key", HELIX_EMBED_PARALLEL="1",
        GOOGLE_GEMINI_BASE_URL=wire.base_url, DATABASE_URL=database_url,
    )  # fmt: skip
    assert code == 1
    assert re.search(r"^reembed: stopped: .* \(what is done stays; run it again\)$", told, re.M)
    assert rows(database_url, "SELECT count(embedding_next) FROM chunks") == [(5,)]


async def test_services_open_before_and_after_the_change(database_url: str) -> None:
    settings = load_settings(
        DATABASE_URL=database_url, HELIX_EMBEDDER="offline", HELIX_LLM="offline"
    )
    await fill(database_url)
    old, new = word_embedder(), salted_embedder()
    question = "Title of 3.txt " + text_of(3).split("\n\n")[2]
    for _ in range(2):
        async with open_services(settings, old, following=new) as services:
            stream = await services.engine.ask(question)
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


Command = Callable[..., tuple[int, str]]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """``python -m pipelines.reembed`` with the settings given: its exit status and stderr."""
    monkeypatch.chdir(tmp_path)
    for name in HOW:
        monkeypatch.delenv(name, raising=False)

    def invoke(*arguments: str, **settings: str) -> tuple[int, str]:
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        cli = typer.Typer()
        cli.command()(reembed)
        done = CliRunner().invoke(cli, arguments)
        return done.exit_code, done.stderr

    monkeypatch.setenv("HELIX_LLM", "offline")
    monkeypatch.setenv("HELIX_EMBEDDER", "offline")
    return invoke


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no new embedder is named: set HELIX_EMBEDDER_NEXT, or give --to"),
        (["--to", "No Such"], "HELIX_EMBEDDER_NEXT is malformed: set it like HELIX_EMBEDDER"),
        (["--to", "nosuch"], "HELIX_EMBEDDER_NEXT names an unknown provider 'nosuch'"),
        (["--to", "gemini"], "GEMINI_API_KEY is not set"),
        (["--to", "offline"], "nothing is stored yet"),
        (["--abandon"], "no change of the embedder is under way"),
    ],
)
def test_the_command_says_what_is_missing(
    module_database_url: str, command: Command, arguments: list[str], message: str
) -> None:
    code, told = command(*arguments, DATABASE_URL=module_database_url)
    assert code == 1
    assert re.fullmatch(rf"reembed: {re.escape(message)}.*\n", told), told


def test_the_offline_embedder_takes_over(database_url: str, command: Command) -> None:
    asyncio.run(fill(database_url, 2))
    code, told = command("--to", "offline", DATABASE_URL=database_url)
    assert code == 0, told
    assert "swapped: questions are now answered with" in told
    settings = load_settings(
        DATABASE_URL=database_url, HELIX_EMBEDDER="offline", HELIX_LLM="offline"
    )
    check_all_are_of(database_url, offline_embedder(settings, ""))
