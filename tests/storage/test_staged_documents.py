"""A document staged, then written by an IngestionPipeline whose vector store is the ChunkStore."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import BaseNode, TextNode, TransformComponent

from helix.domain.records import EMBEDDING_KEY, KNOWN
from helix.errors import DocumentGone, StaleChunks
from helix.retrieval.embedding_cache import cache_key
from helix.storage.connections import Connected
from helix.storage.document_writes import Written
from helix.store import ChunkStore
from tests.support.fake_embedder import IDENTITY, nodes_of, opened, record, rows
from tests.support.wire.gemini import word_vector

URI = "handbook.txt"


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[ChunkStore]:
    async with opened(database_url) as store:
        yield store


class EmbedUnknown(TransformComponent):
    """Embeds the nodes that are not in ``known``, and marks the others as KNOWN."""

    known: dict[str, str]

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        for node in nodes:
            key = cache_key(IDENTITY, "document", node.get_content())
            node.metadata[EMBEDDING_KEY] = key
            is_known = self.known.get(node.node_id) == key
            node.embedding = KNOWN if is_known else word_vector(node.get_content())
        return nodes


def bare_nodes(text: str, reference: str) -> list[TextNode]:
    """A node a paragraph, its id the paragraph, without vectors."""
    nodes = nodes_of(record(URI, text), reference)
    for node in nodes:
        node.id_, node.embedding = node.text, None
    return nodes


async def ingest(store: ChunkStore, text: str, **staged: Any) -> Written:
    """The outcome of the pipeline's own write of ``text``."""
    outcome: list[Written] = []
    reference = str(store.reserve(URI))
    store.stage(
        reference, record(URI, text), settled=lambda _, done: outcome.append(done), **staged
    )
    pipeline = IngestionPipeline(
        transformations=[EmbedUnknown(known=store.known_nodes(URI))],
        vector_store=store,
        disable_cache=True,
    )
    await pipeline.arun(nodes=bare_nodes(text, reference))
    (written,) = outcome
    return written


async def test_known_chunks_pass_through_a_pipeline_and_keep_their_rows(
    store: ChunkStore, database_url: str
) -> None:
    first = await ingest(store, "one\n\ntwo")
    assert (first.added, first.kept) == (2, 0)
    stored = "SELECT node_id, id, embedding::text FROM chunks ORDER BY ordinal"
    before = rows(database_url, stored)
    second = await ingest(store, "one\n\ntwo\n\nthree", expected=True)
    assert (second.added, second.kept, second.changed) == (1, 2, 0)
    assert rows(database_url, stored)[:2] == before
    assert await store.search(word_vector("three"), 1)


async def test_what_settling_raises_rolls_the_document_back_and_leaves_it_staged(
    store: ChunkStore, database_url: str
) -> None:
    reference = str(store.reserve(URI))
    tries: list[int] = []
    outcome = "SELECT to_regclass('outcome')::text, count(*) FROM chunks"

    def settled(connection: Connected, _: Written) -> None:
        connection.execute("CREATE TABLE outcome ()")
        tries.append(1)
        if len(tries) == 1:
            raise InterruptedError

    document = record(URI, "one")
    store.stage(reference, document, settled=settled)
    with pytest.raises(InterruptedError):
        await store.async_add(nodes_of(document, reference))
    assert rows(database_url, outcome) == [(None, 0)]
    await store.async_add(nodes_of(document, reference))
    await store.write_staged(reference)  # written already
    assert len(tries) == 2
    assert rows(database_url, outcome) == [("outcome", 1)]


async def test_a_document_without_chunks_is_written_too(
    store: ChunkStore, database_url: str
) -> None:
    reference = str(store.reserve(URI))
    outcome: list[Written] = []
    store.stage(reference, record(URI, "?"), settled=lambda _, done: outcome.append(done))
    pipeline = IngestionPipeline(transformations=[], vector_store=store, disable_cache=True)
    await pipeline.arun(nodes=[])
    assert rows(database_url, "SELECT FROM documents") == []
    await store.write_staged(reference)
    assert [done.document_id for done in outcome] == [int(reference)]
    assert rows(database_url, "SELECT source_uri, text FROM documents") == [(URI, "?")]


async def test_a_staged_document_that_was_expected_must_be_there(store: ChunkStore) -> None:
    with pytest.raises(DocumentGone):
        await ingest(store, "one", expected=True)


async def test_a_chunk_marked_as_known_must_be_stored(store: ChunkStore) -> None:
    document = record(URI, "one")
    (node,) = nodes_of(document, "1")
    node.embedding = KNOWN
    with pytest.raises(ValueError, match="shape"):  # it has no embedding key to be known by
        await store.write(document, [node])
    node.metadata[EMBEDDING_KEY] = "a key"
    with pytest.raises(StaleChunks):
        await store.write(document, [node])
