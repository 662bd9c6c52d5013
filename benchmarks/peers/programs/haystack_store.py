"""Haystack's PgvectorDocumentStore: retrievers by vector and by keyword, joined by rank."""

from __future__ import annotations

from contender import TOP_K, main
from haystack import Document
from haystack.components.joiners import DocumentJoiner
from haystack.document_stores.types import DuplicatePolicy
from haystack.utils import Secret
from haystack_integrations.components.retrievers.pgvector import (
    PgvectorEmbeddingRetriever,
    PgvectorKeywordRetriever,
)
from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore


class Haystack:
    """One table with an HNSW index."""

    def __init__(self, url: str) -> None:
        self._store = PgvectorDocumentStore(
            connection_string=Secret.from_token(url), embedding_dimension=1536,
            search_strategy="hnsw",
        )  # fmt: skip
        self._nearest = PgvectorEmbeddingRetriever(document_store=self._store, top_k=TOP_K)
        self._words = PgvectorKeywordRetriever(document_store=self._store, top_k=TOP_K)
        self._joiner = DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=TOP_K)

    def load(self, texts: list[str], vectors: list[list[float]]) -> None:
        documents = [
            Document(id=str(number), content=text, embedding=vector)
            for number, (text, vector) in enumerate(zip(texts, vectors, strict=True))
        ]
        self._store.write_documents(documents, policy=DuplicatePolicy.FAIL)

    def dense(self, question: str, vector: list[float]) -> list[str]:
        return [found.id for found in self._nearest.run(query_embedding=vector)["documents"]]

    def hybrid(self, question: str, vector: list[float]) -> list[str]:
        near = self._nearest.run(query_embedding=vector)["documents"]
        worded = self._words.run(query=question)["documents"]
        return [found.id for found in self._joiner.run(documents=[near, worded])["documents"]]


main(Haystack)
