"""ChunkStore: LlamaIndex's PGVectorStore over Helix's schema, and all SQL of serving.

Any LlamaIndex code can use it as a vector store. It differs from its base where the base loses
data, leaks or is slow: writes are one transaction a document over binary COPY, filters are bound,
index settings last one transaction, and serving has a search of its own, one round trip long.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

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
from helix.cache_rows import CacheRows
from helix.chunk_rows import known_nodes
from helix.contract import DEFAULT_DENSE_WEIGHT
from helix.errors import EmbedderMismatch, StoreUnavailable
from helix.fingerprints import fingerprints
from helix.hybrid_sql import HYBRID_ALL, HYBRID_DOCUMENT, LISTED, Fusion, term_values
from helix.pgvector_store import SafePGVectorStore, unavailable
from helix.records import DocumentRecord, Found, Hit
from helix.search_sql import SEARCH_ALL, SEARCH_DOCUMENT, hit_of
from helix.term_rows import fill_missing
from helix.writing import (
    Written,
    adopt_nodes,
    claim_embedder,
    delete_document,
    delete_everything,
    mismatch_message,
    replace_document,
)

CONNECT_TIMEOUT_SECONDS = 5
READ_SECONDS = 8  # longer than the pool may take to find that nobody is there
RECONNECT_SECONDS = 2
"""How long a pool tries by itself to reach a database that is gone; after that each request does.
psycopg's 300 would back off to minutes, and a restarted database stay unseen that long."""

DEFAULT_FUSION = Fusion(DEFAULT_DENSE_WEIGHT)

_T = TypeVar("_T")
Settled = Callable[[Connection[TupleRow], Written], None]
Vector1536 = Sequence[float] | np.ndarray[Any, np.dtype[np.float32]]

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
    _url: str = PrivateAttr()
    _reading: AsyncConnectionPool[AsyncConnection[TupleRow]] = PrivateAttr()
    _writing: ConnectionPool[Connection[TupleRow]] = PrivateAttr()
    _staged: dict[str, tuple[DocumentRecord, bool]] = PrivateAttr(default_factory=dict)

    def __init__(
        self, database_url: str, identity: str, *, ef_search: int = 100, pool_size: int = 10
    ) -> None:
        super().__init__(database_url, ef_search)
        self._identity = identity
        self._url = database_url
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
        return self._hits(await self.fetch(*self._search(vector, top_k, document_id)))

    def search_blocking(
        self, vector: Vector1536, top_k: int, document_id: int | None = None
    ) -> list[Hit]:
        """``search`` for code without an event loop."""
        with self.connection() as connection:
            statement, values = self._search(vector, top_k, document_id)
            cursor = connection.cursor(binary=True).execute(statement, values, prepare=True)
            return self._hits(cursor.fetchall())

    async def search_hybrid(
        self,
        question: str,
        vector: Vector1536,
        top_k: int,
        document_id: int | None = None,
        fusion: Fusion = DEFAULT_FUSION,
    ) -> Found:
        """The ``top_k`` chunks best by distance and BM25 together, best first, in one round trip.

        Each ranking brings its first 50. ``document_id`` restricts both to one document.

        Raises:
            StoreUnavailable, EmbedderMismatch: as search does.
        """
        statement = self._hybrid(question, vector, top_k, document_id, fusion)
        return self._found(await self.fetch(*statement))

    def search_hybrid_blocking(
        self, question: str, vector: Vector1536, top_k: int, fusion: Fusion = DEFAULT_FUSION
    ) -> Found:
        """``search_hybrid`` for code without an event loop."""
        with self.connection() as connection:
            statement, values = self._hybrid(question, vector, top_k, None, fusion)
            cursor = connection.cursor(binary=True).execute(statement, values, prepare=True)
            return self._found(cursor.fetchall())

    def _hybrid(
        self,
        question: str,
        vector: Vector1536,
        top_k: int,
        document_id: int | None,
        fusion: Fusion,
    ) -> tuple[str, dict[str, Any]]:
        _, values = self._search(vector, max(top_k, LISTED), document_id)
        values |= term_values(question) | {"top_k": top_k, "dense_weight": fusion.dense_weight}
        return HYBRID_ALL if document_id is None else HYBRID_DOCUMENT, values

    def _found(self, rows: list[TupleRow]) -> Found:
        hits = self._hits(rows)
        if not rows:
            return Found([], None, [])
        nearest, scores = rows[0][-4], [float(row[-3]) for row in rows]
        return Found(hits, float(nearest), scores)

    def _search(
        self, vector: Vector1536, top_k: int, document_id: int | None
    ) -> tuple[str, dict[str, Any]]:
        values = {
            "vector": Vector(np.asarray(vector, dtype=np.float32)),
            "ef_search": str(max(self._ef_search, top_k)),
            "top_k": top_k,
            "document_id": document_id,
        }
        return SEARCH_ALL if document_id is None else SEARCH_DOCUMENT, values

    def _hits(self, rows: list[TupleRow]) -> list[Hit]:
        if rows and rows[0][-1] not in (None, self._identity):
            raise EmbedderMismatch(mismatch_message(rows[0][-1], self._identity))
        return [hit_of(row) for row in rows]

    async def check(self) -> None:
        """Whether questions can be answered: the database is up and this embedder filled it.

        Raises:
            StoreUnavailable, EmbedderMismatch: as they say.
        """
        rows = await self.fetch("SELECT identity FROM embedding_space, chunks LIMIT 1", {})
        if rows and rows[0][0] != self._identity:
            raise EmbedderMismatch(mismatch_message(rows[0][0], self._identity))

    async def stored_identity(self) -> str | None:
        """The embedder whose vectors are stored, or were last; None where there never were any.

        Raises:
            StoreUnavailable: the database did not answer.
        """
        rows = await self.fetch("SELECT identity FROM embedding_space", {})
        return str(rows[0][0]) if rows else None

    async def ping(self) -> bool:
        """Whether ``SELECT 1`` succeeds."""
        try:
            return bool(await self.fetch("SELECT 1", {}))
        except StoreUnavailable:
            return False

    async def fetch(self, statement: str, values: dict[str, Any]) -> list[TupleRow]:
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

    def session(self, identity: str | None = None) -> ChunkStore:
        """This store with nothing staged, of another ``identity`` if given; they share the pools.

        Writers that share a process take one each.
        """
        session = self.model_copy()
        session._staged = {}
        session._identity = identity or self._identity
        return session

    def stage(self, reference: str, record: DocumentRecord, *, expected: bool = False) -> None:
        """Announce the document that nodes with ref_doc_id ``reference`` are the chunks of.

        The next ``add`` of such nodes replaces that document in one transaction, ``expected`` as
        ``write`` has it; ``reference`` is an id from ``reserve`` as text. Nodes of a document not
        announced are adopted.
        """
        self._staged[reference] = record, expected

    def add(self, nodes: Sequence[BaseNode], **_: Any) -> list[str]:
        """Write nodes with embeddings, one transaction a document; returns their node ids."""
        documents: dict[str, list[BaseNode]] = {}
        for node in nodes:
            documents.setdefault(node.ref_doc_id or node.node_id, []).append(node)
        for reference, its_nodes in documents.items():
            with self.connection() as connection, connection.transaction():
                claim_embedder(connection, self._identity)
                if staged := self._staged.get(reference):
                    record, expected = staged
                    replace_document(connection, record, its_nodes, int(reference), expected)
                else:
                    adopt_nodes(connection, reference, its_nodes)
            self._staged.pop(reference, None)
        return [node.node_id for node in nodes]

    async def async_add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        """``add`` in a thread, so that the event loop goes on."""
        with _no_full_collection():
            return await asyncio.to_thread(self.add, nodes, **kwargs)

    async def write(
        self,
        record: DocumentRecord,
        nodes: Sequence[BaseNode],
        reserved_id: int | None = None,
        *,
        expected: bool = False,
        settled: Settled | None = None,
    ) -> Written:
        """Replace a document in one transaction, as helix.writing.replace_document does.

        ``settled`` is called at its end, to write what is to hold if and only if the document does;
        what it raises rolls all back. Unlike an IngestionPipeline's own write it takes nodes
        without a vector, which ``known_nodes`` says are stored.

        Raises:
            ValueError, StaleChunks, DocumentGone: as replace_document says.
            EmbedderMismatch, StoreUnavailable: nothing was written.
        """
        with _no_full_collection():
            return await asyncio.to_thread(
                self._write, record, nodes, reserved_id, expected, settled
            )

    def _write(
        self,
        record: DocumentRecord,
        nodes: Sequence[BaseNode],
        reserved_id: int | None,
        expected: bool = False,
        settled: Settled | None = None,
    ) -> Written:
        with self.connection() as connection, connection.transaction():
            claim_embedder(connection, self._identity)
            written = replace_document(connection, record, nodes, reserved_id, expected)
            if settled:
                settled(connection, written)
        return written

    def known_nodes(self, source_uri: str) -> dict[str, str]:
        """Node id to embedding key of the chunks stored of a source: these need no new vector."""
        with self.connection() as connection:
            return known_nodes(connection, source_uri)

    async def fill_terms(self) -> int:
        """Write the BM25 terms of chunks that have none yet, some at a time; how many there were.

        Chunks of an older release have none, and those that other code inserted.
        """
        filled = 0
        while count := await asyncio.to_thread(self._with_connection, fill_missing):
            filled += count
        return filled

    def cache_rows(self) -> CacheRows:
        """The embedding cache of the same database, over the same connections."""
        return CacheRows(self.fetch, self.connection)

    def delete(self, ref_doc_id: str, **_: Any) -> None:
        """Delete a document by documents.id or source_uri, its chunks with it."""
        with self.connection() as connection, connection.transaction():
            delete_document(connection, ref_doc_id)

    async def adelete(self, ref_doc_id: str, **kwargs: Any) -> None:
        await asyncio.to_thread(self.delete, ref_doc_id, **kwargs)

    def clear(self) -> None:
        """Delete every document, with all that was kept for them and no run needs."""
        with self.connection() as connection, connection.transaction():
            delete_everything(connection)

    async def aclear(self) -> None:
        await asyncio.to_thread(self.clear)

    def reserve(self, source_uri: str) -> int:
        """The id of the document from ``source_uri``: the stored one, or a fresh one."""
        statement = (
            "SELECT coalesce((SELECT id FROM documents WHERE source_uri = %s),"
            " nextval(pg_get_serial_sequence('documents', 'id')))"
        )
        with self.connection() as connection:
            row = connection.execute(statement, (source_uri,)).fetchone()
        assert row is not None
        return int(row[0])

    def fingerprints(self, source_uris: Sequence[str]) -> dict[str, tuple[str, str, str]]:
        """(content_hash, recipe, title) of each source that has chunks, by source_uri."""
        with self.connection() as connection:
            return fingerprints(connection, source_uris)

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

    def _with_connection(self, action: Callable[[Connection[TupleRow]], _T]) -> _T:
        with self.connection() as connection:
            return action(connection)

    @property
    def url(self) -> str:
        """The libpq URL of the database; it may hold a password."""
        return self._url

    @contextmanager
    def connection(self) -> Iterator[Connection[TupleRow]]:
        """A connection for writing, in autocommit; its errors become StoreUnavailable."""
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


@contextmanager
def _no_full_collection() -> Iterator[None]:
    """A full collection over 20,000 nodes stops every thread for 0.2 s and more: spare them it."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
