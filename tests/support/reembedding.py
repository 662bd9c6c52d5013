"""Two embedders and a database filled by one of them, for the tests of changing it."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import numpy as np
import psycopg
from llama_index.core.schema import MetadataMode
from pgvector.psycopg import register_vector
from psycopg import AsyncConnection

from helix.domain.records import EMBEDDING_KEY
from helix.providers.base import Embedder
from helix.retrieval.embedding_cache import cache_key
from helix.store import ChunkStore
from pipelines.reembedding import column
from pipelines.reembedding.backfill import embedded_text
from pipelines.reembedding.change import change_embedder
from tests.support.fake_embedder import WordEmbedding, nodes_of, opened, record, rows, word_embedder
from tests.support.wire.gemini import word_vector

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
    await change_embedder(url, embedder, batch=10, parallel=2, report=tell)


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
            "SELECT pg_get_viewdef('data_chunks'), reloptions FROM pg_class"
            " WHERE oid = 'data_chunks'::regclass",
            "SELECT proname FROM pg_proc WHERE proname ~ '^chunks'",
            "SELECT * FROM embedding_change",
        )
    ]


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
