"""ChunkStore: LlamaIndex's PGVectorStore over Helix's schema, and all SQL of serving.

Any LlamaIndex code can use it as a vector store. It differs from its base where the base loses
data, leaks or is slow: writes are one transaction a document over binary COPY, filters are bound,
index settings last one transaction, and serving has a search of its own, one round trip long.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import numpy as np
import psycopg
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import BaseNode
from pgvector import Vector
from pgvector.psycopg import register_vector, register_vector_async
from psycopg import AsyncConnection, Connection
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolClosed, PoolTimeout

from helix import index
from helix.errors import EmbedderMismatch, StoreUnavailable
from helix.pgvector_store import SafePGVectorStore, unavailable
from helix.records import DocumentRecord, Hit
from helix.writing import (
    adopt_nodes,
    claim_embedder,
    delete_document,
    mismatch_message,
    replace_document,
)

CONNECT_TIMEOUT_SECONDS = 5
READ_SECONDS = 8  # longer than the pool may take to find that nobody is there
RECONNECT_SECONDS = 2
"""How long a pool tries by itself to reach a database that is gone; after that each request does.
psycopg's 300 would back off to minutes, and a restarted database stay unseen that long."""

Vector1536 = Sequence[float] | np.ndarray[Any, np.dtype[np.float32]]

# One statement, so one round trip: the settings are transaction-local (`true`), and the implicit
# transaction of an autocommitted statement is as long as the statement. `s` is materialised and
# the condition on it is a one-time filter, so they are set before the index scan begins.
# `strict_order` makes a filtered scan go on until it has k rows instead of stopping short, at
# 20,000 tuples by default.
_SEARCH = """
WITH s AS MATERIALIZED (
    SELECT set_config('hnsw.ef_search', %(ef_search)s, true) AS ef_search,
           set_config('hnsw.iterative_scan', 'strict_order', true) AS iterative_scan,
           set_config('hnsw.max_scan_tuples', '2147483647', true) AS max_scan_tuples
)
SELECT h.id, h.document_id, d.title, d.source_uri, h.ordinal, h.content, h.start_char, h.end_char,
       h.node_id, h.distance, (SELECT identity FROM embedding_space) AS identity
FROM s CROSS JOIN LATERAL (
    SELECT id, document_id, ordinal, content, start_char, end_char, node_id,
           embedding <=> %(vector)b AS distance
    FROM chunks
    WHERE s.ef_search IS NOT NULL {condition}
    ORDER BY {order}
    LIMIT %(top_k)s
) h JOIN documents d ON d.id = h.document_id
ORDER BY h.distance, h.id
"""
_SEARCH_ALL = _SEARCH.format(condition="", order="embedding <=> %(vector)b")
# `+ 0` keeps the vector index out: one document's chunks are found by its id and compared one by
# one, which is exact and always complete, where a filtered index scan may give up before k.
_SEARCH_DOCUMENT = _SEARCH.format(
    condition="AND document_id = %(document_id)s", order="(embedding <=> %(vector)b) + 0"
)

# Planning the search anew each time costs a tenth of it: a bound LIMIT makes Postgres prefer that.
# And a plan whose estimate passes jit_above_cost would be compiled for longer than it runs.
_READ_SETTINGS = "SET plan_cache_mode = force_generic_plan; SET jit = off"


class ChunkStore(SafePGVectorStore):
    """The chunks of one database.

    Args:
        database_url: a libpq URL, ``postgresql://…``, unix sockets included.
        identity: the vector space of what is written and searched (``Embedder.identity``).
        ef_search: candidates an index scan keeps, 10 to 1000; more finds more and takes longer.
        pool_size: connections kept for serving at most.

    Errors of the database arrive as StoreUnavailable, and an identity other than the one that
    filled the database as EmbedderMismatch.
    """

    _identity: str = PrivateAttr()
    _reading: AsyncConnectionPool[AsyncConnection[TupleRow]] = PrivateAttr()
    _writing: ConnectionPool[Connection[TupleRow]] = PrivateAttr()
    _staged: dict[str, DocumentRecord] = PrivateAttr(default_factory=dict)

    def __init__(
        self, database_url: str, identity: str, *, ef_search: int = 100, pool_size: int = 10
    ) -> None:
        super().__init__(database_url, ef_search)
        self._identity = identity
        options: dict[str, Any] = {
            "autocommit": True,
            "connect_timeout": CONNECT_TIMEOUT_SECONDS,
            "tcp_user_timeout": READ_SECONDS * 1000,  # a network that swallows packets breaks
        }
        self._reading = AsyncConnectionPool(
            database_url, min_size=1, max_size=pool_size, configure=_ready_to_read,
            timeout=CONNECT_TIMEOUT_SECONDS, reconnect_timeout=RECONNECT_SECONDS, open=False,
            kwargs=options, name="helix-read",
        )  # fmt: skip
        self._writing = ConnectionPool(
            database_url, min_size=0, max_size=4, configure=register_vector,
            timeout=CONNECT_TIMEOUT_SECONDS, reconnect_timeout=RECONNECT_SECONDS, open=False,
            kwargs=options, name="helix-write",
            check=ConnectionPool.check_connection,  # a write is not tried twice, as a read is
        )  # fmt: skip

    @classmethod
    def class_name(cls) -> str:
        return "ChunkStore"

    # --- serving -------------------------------------------------------------------------------

    async def search(
        self,
        vector: Vector1536,
        top_k: int,
        document_id: int | None = None,
    ) -> list[Hit]:
        """The ``top_k`` chunks nearest to ``vector`` (1536 numbers), nearest first.

        ``document_id`` restricts the same query to one document.

        Raises:
            StoreUnavailable: the database did not answer.
            EmbedderMismatch: the chunks were embedded by another embedder.
        """
        return self._hits(await self._fetch(*self._search(vector, top_k, document_id)))

    def search_blocking(
        self, vector: Vector1536, top_k: int, document_id: int | None = None
    ) -> list[Hit]:
        """``search`` for code without an event loop."""
        with self._connection() as connection:
            statement, values = self._search(vector, top_k, document_id)
            cursor = connection.cursor(binary=True).execute(statement, values, prepare=True)
            return self._hits(cursor.fetchall())

    def _search(
        self, vector: Vector1536, top_k: int, document_id: int | None
    ) -> tuple[str, dict[str, Any]]:
        values = {
            "vector": Vector(np.asarray(vector, dtype=np.float32)),
            "ef_search": str(max(self._ef_search, top_k)),
            "top_k": top_k,
            "document_id": document_id,
        }
        return _SEARCH_ALL if document_id is None else _SEARCH_DOCUMENT, values

    def _hits(self, rows: list[TupleRow]) -> list[Hit]:
        if rows and rows[0][-1] not in (None, self._identity):
            raise EmbedderMismatch(mismatch_message(rows[0][-1], self._identity))
        return [Hit(*row[:-1]) for row in rows]

    async def check(self) -> None:
        """Whether questions can be answered: the database is up and this embedder filled it.

        Raises:
            StoreUnavailable, EmbedderMismatch: as they say.
        """
        rows = await self._fetch("SELECT identity FROM embedding_space, chunks LIMIT 1", {})
        if rows and rows[0][0] != self._identity:
            raise EmbedderMismatch(mismatch_message(rows[0][0], self._identity))

    async def ping(self) -> bool:
        """Whether ``SELECT 1`` succeeds."""
        try:
            return bool(await self._fetch("SELECT 1", {}))
        except StoreUnavailable:
            return False

    async def _fetch(self, statement: str, values: dict[str, Any]) -> list[TupleRow]:
        """All rows of one read, if the database does not keep silent for READ_SECONDS."""
        try:
            # a task of its own would be simpler to abandon, and cost a tenth of the search
            async with asyncio.timeout(READ_SECONDS):
                return await self._read(statement, values)
        except TimeoutError as error:
            raise StoreUnavailable("the database keeps silent; try again") from error

    async def _read(self, statement: str, values: dict[str, Any]) -> list[TupleRow]:
        """All rows of one read; tried twice, for a restarted server leaves dead connections."""
        for last_try in (False, True):
            try:
                await self._reading.open()
                async with self._reading.connection() as connection:
                    cursor = connection.cursor(binary=True)
                    await cursor.execute(statement, values, prepare=True)
                    return await cursor.fetchall()
            except psycopg.OperationalError as error:
                if last_try or isinstance(error, (PoolTimeout, PoolClosed)):
                    raise unavailable(error) from error
                await self._reading.check()
            except psycopg.Error as error:
                raise unavailable(error) from error
        raise AssertionError("unreachable")

    # --- writing -------------------------------------------------------------------------------

    def session(self) -> ChunkStore:
        """This store with nothing staged: writers that share a process take one each."""
        session = self.model_copy()
        session._staged = {}
        return session

    def stage(self, reference: str, record: DocumentRecord) -> None:
        """Announce the document that nodes with ref_doc_id ``reference`` are the chunks of.

        The next ``add`` of such nodes replaces that document in one transaction; ``reference`` is
        an id from ``reserve`` as text. Nodes of a document not announced are adopted.
        """
        self._staged[reference] = record

    def add(self, nodes: Sequence[BaseNode], **_: Any) -> list[str]:
        """Write nodes with embeddings, one transaction a document; returns their node ids."""
        documents: dict[str, list[BaseNode]] = {}
        for node in nodes:
            documents.setdefault(node.ref_doc_id or node.node_id, []).append(node)
        for reference, its_nodes in documents.items():
            with self._connection() as connection, connection.transaction():
                claim_embedder(connection, self._identity)
                if record := self._staged.get(reference):
                    replace_document(connection, record, its_nodes, int(reference))
                else:
                    adopt_nodes(connection, reference, its_nodes)
            self._staged.pop(reference, None)
        return [node.node_id for node in nodes]

    async def async_add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        """``add`` in a thread, so that the event loop goes on."""
        # A full collection over 20,000 nodes stops every thread for 0.2 s and more: spare them it.
        gc.freeze()
        try:
            return await asyncio.to_thread(self.add, nodes, **kwargs)
        finally:
            gc.unfreeze()

    def delete(self, ref_doc_id: str, **_: Any) -> None:
        """Delete a document by documents.id or source_uri, its chunks with it."""
        with self._connection() as connection, connection.transaction():
            delete_document(connection, ref_doc_id)

    async def adelete(self, ref_doc_id: str, **kwargs: Any) -> None:
        await asyncio.to_thread(self.delete, ref_doc_id, **kwargs)

    def clear(self) -> None:
        """Delete every document."""
        with self._connection() as connection:
            connection.execute("DELETE FROM documents")

    async def aclear(self) -> None:
        await asyncio.to_thread(self.clear)

    def reserve(self, source_uri: str) -> int:
        """The id of the document from ``source_uri``: the stored one, or a fresh one."""
        statement = (
            "SELECT coalesce((SELECT id FROM documents WHERE source_uri = %s),"
            " nextval(pg_get_serial_sequence('documents', 'id')))"
        )
        with self._connection() as connection:
            row = connection.execute(statement, (source_uri,)).fetchone()
        assert row is not None
        return int(row[0])

    def fingerprints(self, source_uris: Sequence[str]) -> dict[str, tuple[str, str, str]]:
        """(content_hash, recipe, title) of each source that has chunks, by source_uri."""
        statement = (
            "SELECT source_uri, content_hash, recipe, title FROM documents d"
            " WHERE source_uri = ANY(%s) AND EXISTS (SELECT FROM chunks WHERE document_id = d.id)"
        )
        with self._connection() as connection:
            rows = connection.execute(statement, (list(source_uris),)).fetchall()
        return {uri: (content_hash, recipe, title) for uri, content_hash, recipe, title in rows}

    @asynccontextmanager
    async def bulk_load(self) -> AsyncIterator[None]:
        """Writes within may come in thousands: into an empty table, index them at the end.

        The index is dropped while there is nothing in it, and built in any case when the block
        ends, by an error too; a killed process leaves it to the next load or migration. Searches
        without it are exact, only slower.
        """
        await asyncio.to_thread(self._with_connection, index.drop_if_empty)
        try:
            yield
        finally:
            await asyncio.to_thread(self._with_connection, index.build_if_missing)

    def _with_connection(self, action: Any) -> None:
        with self._connection() as connection:
            action(connection)

    @contextmanager
    def _connection(self) -> Iterator[Connection[TupleRow]]:
        try:
            self._writing.open()
            with self._writing.connection() as connection:
                yield connection
        except psycopg.Error as error:
            raise unavailable(error) from error

    async def close(self) -> None:
        """Close every pool; the store cannot be used afterwards."""
        await self._reading.close()
        await asyncio.to_thread(self._writing.close)
        await super().close()


async def _ready_to_read(connection: AsyncConnection[TupleRow]) -> None:
    await register_vector_async(connection)
    await connection.execute(_READ_SETTINGS)
