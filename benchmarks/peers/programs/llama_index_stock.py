"""LlamaIndex's PGVectorStore as its documentation sets it up for hybrid search."""

from __future__ import annotations

from contender import TOP_K, main
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryMode
from llama_index.vector_stores.postgres import PGVectorStore
from sqlalchemy import make_url


class Stock:
    """One table, hybrid, with its HNSW parameters of the documentation."""

    def __init__(self, url: str) -> None:
        plain = make_url(url)
        self._store = PGVectorStore(
            connection_string=plain.set(drivername="postgresql+psycopg2"),
            async_connection_string=plain.set(drivername="postgresql+asyncpg"),
            table_name="texts",
            embed_dim=1536,
            hybrid_search=True,
            text_search_config="english",
            hnsw_kwargs={
                "hnsw_m": 16, "hnsw_ef_construction": 64, "hnsw_ef_search": 40,
                "hnsw_dist_method": "vector_cosine_ops",
            },
        )  # fmt: skip

    def load(self, texts: list[str], vectors: list[list[float]]) -> None:
        nodes = [
            TextNode(id_=str(number), text=text, embedding=vector)
            for number, (text, vector) in enumerate(zip(texts, vectors, strict=True))
        ]
        self._store.add(nodes)

    def dense(self, question: str, vector: list[float]) -> list[str]:
        return self._search(question, vector, VectorStoreQueryMode.DEFAULT)

    def hybrid(self, question: str, vector: list[float]) -> list[str]:
        return self._search(question, vector, VectorStoreQueryMode.HYBRID)

    def _search(self, question: str, vector: list[float], mode: VectorStoreQueryMode) -> list[str]:
        query = VectorStoreQuery(
            query_embedding=vector, query_str=question, similarity_top_k=TOP_K,
            sparse_top_k=TOP_K, mode=mode,
        )  # fmt: skip
        return list(self._store.query(query).ids or [])[:TOP_K]


main(Stock)
