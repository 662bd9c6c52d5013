"""The databases of a benchmark: an embedded Postgres, gone at the end; PGVectorStore over one."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from llama_index.vector_stores.postgres import PGVectorStore
from psycopg import sql

from db.embedded_postgres import DATABASE, acquire, wait_until_stopped
from db.migrate import migrate
from helix.domain.contract import EMBEDDING_DIMENSIONS

STOCK_INDEX = "chunks_embedding_stock"


class Server:
    """A running server whose own database is migrated and serves as template."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._numbers = itertools.count()

    @contextmanager
    def database(self) -> Iterator[str]:
        """URL of a fresh database with the schema; it is dropped afterwards."""
        name = f"benchmark_{next(self._numbers)}"
        with psycopg.connect(self._named("postgres"), autocommit=True) as admin:
            create = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
            admin.execute(create.format(sql.Identifier(name), sql.Identifier(DATABASE)))
            # What the benchmark before left to write is not to be paid for by the next.
            admin.execute("CHECKPOINT")
        try:
            yield self._named(name)
        finally:
            with psycopg.connect(self._named("postgres"), autocommit=True) as admin:
                drop = sql.SQL("DROP DATABASE {} WITH (FORCE)")
                admin.execute(drop.format(sql.Identifier(name)))

    def _named(self, name: str) -> str:
        return self._url.replace(f"/{DATABASE}?", f"/{name}?")


@contextmanager
def server() -> Iterator[Server]:
    """An embedded server for as long as the block lasts."""
    directory = Path(tempfile.mkdtemp(prefix="helix-bench-"))
    try:
        with acquire(directory) as postgres:
            migrate(postgres.url)
            yield Server(postgres.url)
        wait_until_stopped(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def add_stock_index(url: str) -> None:
    """Give ``chunks`` the vector index of LlamaIndex's store, of vectors as they are: ours is of
    half precision, which its queries do not ask for."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET maintenance_work_mem = '512MB'")
        create = sql.SQL("CREATE INDEX {} ON chunks USING hnsw (embedding vector_cosine_ops)")
        connection.execute(create.format(sql.Identifier(STOCK_INDEX)))


def stock_store(url: str, *, ef_search: int = 0) -> PGVectorStore:
    """LlamaIndex's own store over the table ``chunks`` of the database at ``url``.

    An ``ef_search`` of 0 leaves its SET out; with another its blocking query fails on psycopg 3.
    """
    address = f"postgresql+psycopg://{url.partition('://')[2]}"
    return PGVectorStore(
        connection_string=address,
        async_connection_string=address,
        table_name="chunks",
        embed_dim=EMBEDDING_DIMENSIONS,
        perform_setup=False,
        use_jsonb=True,
        hnsw_kwargs={"hnsw_ef_search": ef_search} if ef_search else None,
    )
