"""LangChain's PGVectorStore (langchain-postgres) with its HNSW and hybrid indexes."""

from __future__ import annotations

from contender import TOP_K, main
from langchain_core.embeddings import Embeddings
from langchain_postgres import PGEngine, PGVectorStore
from langchain_postgres.v2.hybrid_search_config import (
    HybridSearchConfig,
    reciprocal_rank_fusion,
)
from langchain_postgres.v2.indexes import HNSWIndex
from sqlalchemy import make_url


class Known(Embeddings):
    """Vectors that were made before: it is asked for the one of a question."""

    def __init__(self) -> None:
        self.vector: list[float] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise NotImplementedError

    def embed_query(self, text: str) -> list[float]:
        return self.vector


class LangChain:
    """One table; a store for dense search, and one for hybrid over the same table."""

    def __init__(self, url: str) -> None:
        engine = PGEngine.from_connection_string(
            make_url(url).set(drivername="postgresql+psycopg").render_as_string(False)
        )
        self._known = Known()
        config = HybridSearchConfig(
            tsv_column="content_tsv", tsv_lang="pg_catalog.english",
            fusion_function=reciprocal_rank_fusion,
            fusion_function_parameters={"fetch_top_k": TOP_K},
        )  # fmt: skip
        engine.init_vectorstore_table("texts", 1536, hybrid_search_config=config)
        self._dense = PGVectorStore.create_sync(engine, self._known, "texts", k=TOP_K)
        self._hybrid = PGVectorStore.create_sync(
            engine, self._known, "texts", k=TOP_K, hybrid_search_config=config
        )

    def load(self, texts: list[str], vectors: list[list[float]]) -> None:
        numbered = [{"n": str(number)} for number in range(len(texts))]
        self._hybrid.add_embeddings(texts, vectors, metadatas=numbered)
        self._dense.apply_vector_index(HNSWIndex())
        self._hybrid.apply_hybrid_search_index()

    def dense(self, question: str, vector: list[float]) -> list[str]:
        found = self._dense.similarity_search_by_vector(vector, k=TOP_K)
        return [document.metadata["n"] for document in found]

    def hybrid(self, question: str, vector: list[float]) -> list[str]:
        self._known.vector = vector
        found = self._hybrid.similarity_search(question, k=TOP_K)
        return [document.metadata["n"] for document in found]


main(LangChain)
