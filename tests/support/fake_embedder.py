"""A deterministic embedder for tests, and short ways to bring documents into a store with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any, LiteralString

import psycopg
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import Document, NodeRelationship, TextNode

from helix.domain.records import END_CHAR, ORDINAL, START_CHAR, DocumentRecord
from helix.providers.base import Embedder
from helix.store import ChunkStore
from tests.support.wire.gemini import GeminiWire, word_vector

IDENTITY = "fake:words:1536"


class WordEmbedding(BaseEmbedding):
    """Texts with common words are near: hashed words, 1536 wide, L2 norm 1.

    ``texts`` is every text that was embedded, in order; questions are not among them.
    """

    _texts: list[str] = PrivateAttr(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return self._texts

    def _get_query_embedding(self, query: str) -> list[float]:
        return word_vector(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return word_vector(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        self._texts.append(text)
        return word_vector(text)


def word_embedder(identity: str = IDENTITY) -> Embedder:
    """``WordEmbedding`` as Helix has embedders."""
    return Embedder(model=WordEmbedding(model_name="words"), identity=identity, max_distance=0.9)


@asynccontextmanager
async def opened(url: str, identity: str = IDENTITY, **options: Any) -> AsyncIterator[ChunkStore]:
    """A store on ``url``, closed at the end."""
    store = ChunkStore(url, identity, **options)
    try:
        yield store
    finally:
        await store.close()


def record(uri: str, text: str, title: str = "A Title") -> DocumentRecord:
    content_hash = sha256(text.encode()).hexdigest()
    return DocumentRecord(uri, title, content_hash, "test-1", text)


def nodes_of(document: DocumentRecord, reference: str) -> list[TextNode]:
    """One node a paragraph, embedded, each the exact slice that it says it is."""
    source = Document(id_=reference, text=document.text).as_related_node_info()
    nodes: list[TextNode] = []
    start = 0
    for ordinal, content in enumerate(document.text.split("\n\n")):
        end = start + len(content)
        node = TextNode(
            id_=sha256(f"{document.source_uri}:{ordinal}:{content}".encode()).hexdigest(),
            text=content,
            embedding=word_vector(content),
            metadata={ORDINAL: ordinal, START_CHAR: start, END_CHAR: end},
            relationships={NodeRelationship.SOURCE: source},
        )
        nodes.append(node)
        start = end + 2
    return nodes


def write(store: ChunkStore, document: DocumentRecord) -> int:
    """Store ``document`` the way an ingest does; its documents.id."""
    reference = store.reserve(document.source_uri)
    store.stage(str(reference), document)
    store.add(nodes_of(document, str(reference)))
    return reference


def rows(url: str, statement: LiteralString, *values: Any) -> list[Any]:
    """The rows that ``statement`` gives on a connection of its own, committed."""
    with psycopg.connect(url) as connection:
        return connection.execute(statement, values).fetchall()


def embedded(wire: GeminiWire) -> list[str]:
    """Every text that was sent to be embedded."""
    return [
        part["text"]
        for request in wire.received("embed")
        for content in request.body["requests"]
        for part in content["content"]["parts"]
    ]


def documents(url: str) -> dict[str, tuple[int, str]]:
    """source_uri to (id, title)."""
    found = rows(url, "SELECT source_uri, id, title FROM documents")
    return {uri: (document_id, title) for uri, document_id, title in found}
