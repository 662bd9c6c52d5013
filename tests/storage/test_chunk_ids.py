"""A document written again: what stays keeps its id, its vector and, where it can, its very row."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from typer.testing import CliRunner

from helix.cli import cli
from helix.domain.citations import place
from helix.domain.records import (
    EMBEDDING_KEY,
    END_CHAR,
    HEADING_PATH,
    LABEL,
    ORDINAL,
    PAGE,
    START_CHAR,
    DocumentRecord,
    Hit,
    Section,
)
from helix.errors import DocumentGone, EmbedderMismatch, StaleChunks
from helix.providers.factories import build_embedder
from helix.retrieval.embedding_cache import cache_key
from helix.retrieval.gated_retriever import as_node
from helix.settings import load_settings
from helix.storage.chunk_rows import ChunkChanges
from helix.storage.document_writes import Written
from helix.store import ChunkStore
from tests.support.fake_embedder import IDENTITY, opened, record, rows
from tests.support.wire.gemini import word_vector

URI = "handbook.txt"


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[ChunkStore]:
    async with opened(database_url) as store:
        yield store


def version(*paragraphs: str, title: str = "Handbook") -> DocumentRecord:
    return record(URI, "\n\n".join(paragraphs), title)


def nodes(
    document: DocumentRecord, known: dict[str, str] | None = None, **metadata: Any
) -> list[TextNode]:
    """A node a paragraph, whose id is the paragraph; no vector for those that are known."""
    made: list[TextNode] = []
    start = 0
    for ordinal, content in enumerate(document.text.split("\n\n")):
        key = cache_key(IDENTITY, "document", f"{document.title}\n\n{content}")
        marks = {ORDINAL: ordinal, START_CHAR: start, END_CHAR: start + len(content)}
        node = TextNode(
            id_=content,
            text=content,
            metadata={**marks, EMBEDDING_KEY: key, "title": document.title, **metadata},
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id="1")},
        )
        if (known or {}).get(content) != key:
            node.embedding = word_vector(f"{document.title}\n\n{content}")
        made.append(node)
        start += len(content) + 2
    return made


async def rewrite(store: ChunkStore, document: DocumentRecord) -> Written:
    """Write the document like an ingest: only nodes that are not known have a vector."""
    known = store.known_nodes(URI)
    return await store.write(document, nodes(document, known))


def changes(written: Written) -> ChunkChanges:
    values = {key: value for key, value in written.__dict__.items() if key != "document_id"}
    return ChunkChanges(**values)


def ids(url: str) -> dict[str, int]:
    return dict(rows(url, "SELECT node_id, id FROM chunks"))


def versions(url: str) -> dict[str, str]:
    """The row versions, which change with any write to a row."""
    return dict(rows(url, "SELECT node_id, ctid::text || xmin FROM chunks"))


def assert_stored(url: str, document: DocumentRecord) -> None:
    """Exactly the chunks of ``document`` are there, in order, each with its slice and vector."""
    found = rows(
        url,
        "SELECT ordinal, content, start_char, end_char, embedding::text FROM chunks"
        " ORDER BY ordinal",
    )
    paragraphs = document.text.split("\n\n")
    assert [row[:2] for row in found] == list(enumerate(paragraphs))
    for _, content, start, end, vector in found:
        assert document.text[start:end] == content
        expected = word_vector(f"{document.title}\n\n{content}")
        assert np.allclose([float(n) for n in vector[1:-1].split(",")], expected, atol=1e-6)


async def test_writing_the_same_again_writes_no_chunk(store: ChunkStore, database_url: str) -> None:
    document = version("a", "b", "c")
    assert changes(await rewrite(store, document)) == ChunkChanges(0, 0, 3, 0)
    before = versions(database_url)
    assert changes(await rewrite(store, document)) == ChunkChanges(3, 0, 0, 0)
    assert versions(database_url) == before
    assert_stored(database_url, document)


async def test_an_edit_keeps_the_ids_of_the_rest(store: ChunkStore, database_url: str) -> None:
    await rewrite(store, version("a", "b", "c", "d"))
    before, rows_before = ids(database_url), versions(database_url)
    edited = version("a", "b, edited", "new", "c", "d")
    known = store.known_nodes(URI)
    assert [node.id_ for node in nodes(edited, known) if node.embedding] == ["b, edited", "new"]
    assert changes(await rewrite(store, edited)) == ChunkChanges(1, 2, 2, 1)
    after = ids(database_url)
    assert {key: after[key] for key in "acd"} == {key: before[key] for key in "acd"}
    assert set(after) == {"a", "b, edited", "new", "c", "d"}
    assert versions(database_url)["a"] == rows_before["a"]
    assert_stored(database_url, edited)


@pytest.mark.parametrize("rounds", [15, pytest.param(200, marks=pytest.mark.soak)])
async def test_any_sequence_of_edits(store: ChunkStore, database_url: str, rounds: int) -> None:
    """Paragraphs moved in rings and lines, added and taken out: ids follow the paragraphs."""
    chance = random.Random(3)
    first_id: dict[str, int] = {}
    paragraphs = [f"p{n}" for n in range(12)]
    for round_ in range(rounds):
        document = version(*paragraphs)
        written = await rewrite(store, document)
        assert written.kept + written.changed + written.added == len(paragraphs)
        assert_stored(database_url, document)
        now = ids(database_url)
        for paragraph in paragraphs:
            assert first_id.setdefault(paragraph, now[paragraph]) == now[paragraph]
        gone = set(paragraphs)
        paragraphs = edited(paragraphs, chance, round_)
        for paragraph in gone - set(paragraphs):
            del first_id[paragraph]


def edited(paragraphs: Sequence[str], chance: random.Random, round_: int) -> list[str]:
    left = [paragraph for paragraph in paragraphs if chance.random() > 0.15]
    if chance.random() < 0.5:
        chance.shuffle(left)
    for n in range(chance.randint(0, 4)):
        left.insert(chance.randint(0, len(left)), f"new {round_}-{n}")
    return left or ["last"]


async def test_a_new_title_embeds_anew_under_the_old_ids(
    store: ChunkStore, database_url: str
) -> None:
    await rewrite(store, version("a", "b"))
    before = ids(database_url)
    renamed = version("a", "b", title="Manual")
    assert all(node.embedding for node in nodes(renamed, store.known_nodes(URI)))
    assert changes(await rewrite(store, renamed)) == ChunkChanges(0, 2, 0, 0)
    assert ids(database_url) == before
    assert_stored(database_url, renamed)


async def test_nodes_without_keys_are_written_over(store: ChunkStore, database_url: str) -> None:
    """Code that knows nothing of keys: the vector that it brings is the one that holds."""
    document = version("a", "b")
    old = nodes(document)
    for node in old:
        del node.metadata[EMBEDDING_KEY]
        node.embedding = word_vector("otherwise")
    await store.write(document, old)
    assert store.known_nodes(URI) == {}
    before = ids(database_url)
    assert changes(await store.write(document, nodes(document))) == ChunkChanges(0, 2, 0, 0)
    assert ids(database_url) == before
    assert_stored(database_url, document)


async def test_the_same_id_with_another_text_is_another_chunk(
    store: ChunkStore, database_url: str
) -> None:
    await rewrite(store, version("a", "b"))
    before = ids(database_url)
    document = version("a", "B")
    given = nodes(document)
    given[1] = given[1].model_copy(update={"id_": "b"})
    assert changes(await store.write(document, given)) == ChunkChanges(1, 0, 1, 1)
    assert ids(database_url)["b"] != before["b"]
    assert_stored(database_url, document)


@pytest.mark.parametrize("meanwhile", ["deleted", "replaced", "renamed"])
async def test_what_was_known_may_be_gone(
    store: ChunkStore, database_url: str, meanwhile: str
) -> None:
    document = version("a", "b")
    await rewrite(store, document)
    given = nodes(version("a", "b", "c"), store.known_nodes(URI))
    if meanwhile == "deleted":
        store.delete(URI)
    else:
        other = version("other") if meanwhile == "replaced" else version("a", "b", title="Other")
        await rewrite(store, other)
    left = rows(database_url, "SELECT node_id, id FROM chunks ORDER BY id")
    with pytest.raises(StaleChunks):
        await store.write(version("a", "b", "c"), given)
    assert rows(database_url, "SELECT node_id, id FROM chunks ORDER BY id") == left
    await store.write(version("a", "b", "c"), nodes(version("a", "b", "c")))
    assert_stored(database_url, version("a", "b", "c"))


async def test_known_by_another_embedder_is_not_known(database_url: str) -> None:
    document = version("a")
    async with opened(database_url) as store, opened(database_url, "fake:other:1536") as other:
        await rewrite(store, document)
        with pytest.raises(EmbedderMismatch):
            await other.write(document, nodes(document, other.known_nodes(URI)))


async def test_a_deleted_document_does_not_come_back(store: ChunkStore, database_url: str) -> None:
    document = version("a")
    reference = store.reserve(URI)
    with pytest.raises(DocumentGone):
        await store.write(document, nodes(document), reference, expected=True)
    first = await store.write(document, nodes(document), reference)
    assert first.document_id == reference
    assert (await store.write(document, nodes(document), reference, expected=True)).kept == 1
    store.delete(URI)
    again = await store.write(document, nodes(document))  # uploaded again, under a new id
    assert again.document_id != reference
    with pytest.raises(DocumentGone):
        await store.write(version("late"), nodes(version("late")), reference, expected=True)
    assert_stored(database_url, document)


async def test_everything_of_a_document_is_written(store: ChunkStore, database_url: str) -> None:
    rows(
        database_url,
        "INSERT INTO files (content_hash, data, size) VALUES ('old', 'x', 1), ('new', 'y', 1)"
        " RETURNING 1",
    )
    rows(
        database_url,
        "INSERT INTO documents (title, source_uri, content_hash, status, error, file_hash)"
        " VALUES ('t', %s, '', 'processing', 'e', 'old') RETURNING 1",
        URI,
    )
    document = replace(
        version("a", "b"),
        media="pdf",
        size=7,
        sections=(Section(0, 1, ("One",), 1, "page 1", "head"), Section(3, 4)),
        warnings=("page 2 has no text",),
        origin={"url": "https://example.com", "etag": None},
        file_hash="new",
    )
    await rewrite(store, document)
    columns = "status, error, media, size, outline, warnings, origin, file_hash, title, text"
    [found] = rows(database_url, f"SELECT {columns} FROM documents")
    assert found == (
        "ready", "", "pdf", 7, [section.outline() for section in document.sections],
        ["page 2 has no text"], {"url": "https://example.com", "etag": None}, "new",
        "Handbook", document.text,
    )  # fmt: skip
    assert rows(database_url, "SELECT content_hash FROM files") == [("new",)]
    await rewrite(store, version("a", "b"))
    assert rows(database_url, "SELECT FROM files") == []


# --- where a chunk lies


async def test_a_hit_says_where_it_lies(store: ChunkStore) -> None:
    document = version("refunds")
    where: dict[str, Any] = {PAGE: 47, HEADING_PATH: ["Travel", "Refunds"], LABEL: "page 47"}
    await store.write(document, nodes(document, **where))
    [hit] = await store.search(word_vector("refunds"), 5)
    blocking = asyncio.to_thread(
        store.connections.run_blocking, store.search, word_vector("refunds"), 5
    )
    assert await blocking == [hit]
    assert (hit.page, hit.heading_path, hit.label) == (47, ("Travel", "Refunds"), "page 47")
    metadata = as_node(hit).node.metadata
    assert {key: metadata[key] for key in where} == where


@pytest.mark.parametrize(
    "metadata",
    [{}, {PAGE: "iv", HEADING_PATH: "Travel", LABEL: 7}, {PAGE: True, HEADING_PATH: {"a": 1}}],
)
async def test_anything_under_our_keys_still_answers(
    store: ChunkStore, metadata: dict[str, Any]
) -> None:
    document = version("refunds")
    await store.write(document, nodes(document, **metadata))
    [hit] = await store.search(word_vector("refunds"), 5)
    assert (hit.page, hit.heading_path, hit.label) == (None, (), "")


@pytest.mark.parametrize(
    ("heading_path", "label", "placed"),
    [
        ((), "", "Handbook"),
        ((), "page 47", "Handbook, page 47"),
        (("A",), "slide 3", "Handbook, slide 3"),
        (("Travel", "Refunds"), "", "Handbook › Travel › Refunds"),
        (("Handbook", "Travel"), "", "Handbook › Travel"),
        (("Handbook",), "", "Handbook"),
    ],
)
def test_the_words_for_a_place(heading_path: tuple[str, ...], label: str, placed: str) -> None:
    hit = Hit(1, 1, "Handbook", URI, 0, "x", 0, 1, "n", 0.1, None, heading_path, label)
    assert place(hit) == placed


async def test_ask_says_where_its_sources_lie(database_url: str) -> None:
    values = {"DATABASE_URL": database_url, "HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}
    embedder = build_embedder(
        load_settings(llm="offline", embedder="offline", database_url="embedded")
    )
    document = version("Refunds are accepted within 30 days of purchase.")
    where: dict[str, Any] = {LABEL: "page 47", PAGE: 47}
    [node] = nodes(document, **where)
    node.embedding = await embedder.model.aget_text_embedding(node.text)
    async with opened(database_url, embedder.identity) as store:
        await store.write(document, [node])
    question = "Within how many days are refunds accepted?"
    asked = await asyncio.to_thread(CliRunner().invoke, cli, ["ask", question], env=values)
    assert "30 days" in asked.output and "\n[1] Handbook, page 47\n" in asked.output
