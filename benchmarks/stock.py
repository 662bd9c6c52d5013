"""LlamaIndex's own PGVectorStore over Helix's schema, to measure beside ChunkStore."""

from __future__ import annotations

from llama_index.vector_stores.postgres import PGVectorStore

from helix.contract import EMBEDDING_DIMENSIONS


def stock_store(url: str, *, sync_driver: str = "psycopg", ef_search: int = 0) -> PGVectorStore:
    """One over table ``chunks`` of the database at ``url``; ``ef_search`` 0 leaves its SET out.

    With psycopg 3 its blocking query fails when ef_search is set; psycopg2 takes it.
    """
    path = url.partition("://")[2]
    return PGVectorStore(
        connection_string=f"postgresql+{sync_driver}://{path}",
        async_connection_string=f"postgresql+psycopg://{path}",
        table_name="chunks",
        embed_dim=EMBEDDING_DIMENSIONS,
        perform_setup=False,
        use_jsonb=True,
        hnsw_kwargs={"hnsw_ef_search": ef_search} if ef_search else None,
    )
