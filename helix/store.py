"""ChunkStore: LlamaIndex's PGVectorStore over Helix's schema, and all SQL of serving.

Any LlamaIndex code can use it as a vector store. It differs from its base where the base loses
data, leaks or is slow: writes are one transaction a document over binary COPY, filters are bound,
index settings last one transaction, and serving has a search of its own, one round trip long.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from functools import partial
from typing import Any, TypeVar

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import BaseNode
from psycopg import Connection
from psycopg.rows import TupleRow

from helix import index
from helix.cache_rows import CacheRows
from helix.chunk_rows import known_nodes
from helix.connections import Connections
from helix.errors import EmbedderMismatch, StoreUnavailable
from helix.fingerprints import fingerprints
from helix.garbage import no_full_collection
from helix.hybrid_sql import Fusion
from helix.pgvector_store import SafePGVectorStore
from helix.records import DocumentRecord, Found, Hit
from helix.scope import Scope
from helix.search_sql import SEARCH_SETTINGS, STORED_PLACES, place_of
from helix.searching import DEFAULT_FUSION, Search, Vector1536, best, nearest
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

_T = TypeVar("_T")
Settled = Callable[[Connection[TupleRow], Written], None]


class ChunkStore(SafePGVectorStore):
    """The chunks of one tenant in one database; ``of`` gives another tenant's.

    Args:
        database_url: a libpq URL, ``postgresql://…``, unix sockets included.
        identity: the vector space of what is written and searched (``Embedder.identity``).
        ef_search: candidates an index scan keeps, 10 to 1000; more finds more and takes longer.
        pool_size: connections kept for serving at most.

    Errors of the database arrive as StoreUnavailable, and an identity other than the one that
    filled the database as EmbedderMismatch.
    """

    _identity: str = PrivateAttr()
    _connections: Connections = PrivateAttr()
    _staged: dict[str, tuple[DocumentRecord, bool]] = PrivateAttr(default_factory=dict)

    def __init__(
        self, database_url: str, identity: str, *, ef_search: int = 100, pool_size: int = 10
    ) -> None:
        super().__init__(database_url, ef_search)
        self._identity = identity
        self._connections = Connections(database_url, pool_size)

    @classmethod
    def class_name(cls) -> str:
        return "ChunkStore"

    # --- serving -------------------------------------------------------------------------------

    async def search(self, vector: Vector1536, top_k: int, scope: Scope | None = None) -> list[Hit]:
        """The ``top_k`` chunks of ``scope`` nearest to ``vector`` (1536 numbers), nearest first.

        Raises:
            StoreUnavailable: the database did not answer.
            EmbedderMismatch: the chunks were embedded by another embedder.
        """
        return await self._searched(nearest(vector, top_k, self._scope(scope), self._ef_search))

    def search_blocking(
        self, vector: Vector1536, top_k: int, scope: Scope | None = None
    ) -> list[Hit]:
        """``search`` for code without an event loop."""
        return self._searched_blocking(nearest(vector, top_k, self._scope(scope), self._ef_search))

    async def search_hybrid(
        self,
        question: str,
        vector: Vector1536,
        top_k: int,
        scope: Scope | None = None,
        fusion: Fusion = DEFAULT_FUSION,
    ) -> Found:
        """The ``top_k`` chunks best by distance and BM25 together, best first, in one round trip.

        Each ranking brings its first 50: with a ``top_k`` of SCORED all that was scored comes.

        Raises:
            StoreUnavailable, EmbedderMismatch: as search does.
        """
        wanted = self._scope(scope)
        return await self._searched(best(question, vector, top_k, wanted, fusion, self._ef_search))

    def search_hybrid_blocking(
        self,
        question: str,
        vector: Vector1536,
        top_k: int,
        scope: Scope | None = None,
        fusion: Fusion = DEFAULT_FUSION,
    ) -> Found:
        """``search_hybrid`` for code without an event loop."""
        wanted = self._scope(scope)
        return self._searched_blocking(
            best(question, vector, top_k, wanted, fusion, self._ef_search)
        )

    def _scope(self, scope: Scope | None) -> Scope:
        return scope or Scope(self._tenant)

    async def _searched(self, search: Search[_T]) -> _T:
        settings = SEARCH_SETTINGS.format(ef_search=search.ef_search)
        rows = await self._connections.fetch(
            search.statement, search.values, search.tenant, settings
        )
        return self._read(search, rows)

    def _searched_blocking(self, search: Search[_T]) -> _T:
        settings = SEARCH_SETTINGS.format(ef_search=search.ef_search)
        with self._connections.transaction(search.tenant, settings) as connection:
            cursor = connection.cursor(binary=True)
            rows = cursor.execute(search.statement, search.values, prepare=True).fetchall()
        return self._read(search, rows)

    def _read(self, search: Search[_T], rows: list[TupleRow]) -> _T:
        if rows and rows[0][-1] not in (None, self._identity):
            raise EmbedderMismatch(mismatch_message(rows[0][-1], self._identity))
        return search.read(rows)

    def pool_stats(self) -> dict[str, dict[str, int]]:
        """Of this process's connections, as Connections has it."""
        return self._connections.pool_stats()

    async def check_role(self) -> None:
        """Return where DATABASE_URL's role may act as tenants do; raises as Connections does."""
        await asyncio.to_thread(self._connections.check_role)

    async def check(self) -> None:
        """Whether questions can be answered: the database is up and this embedder filled it.

        Raises:
            StoreUnavailable, EmbedderMismatch: as they say.
        """
        rows = await self.fetch("SELECT identity FROM embedding_space WHERE any_chunks()", {})
        if rows and rows[0][0] != self._identity:
            raise EmbedderMismatch(mismatch_message(rows[0][0], self._identity))

    async def stored_identity(self) -> str | None:
        """The embedder whose vectors are stored, or were last; None where there never were any.

        Raises:
            StoreUnavailable: the database did not answer.
        """
        rows = await self.fetch("SELECT identity FROM embedding_space", {})
        return str(rows[0][0]) if rows else None

    async def has_chunks(self) -> bool:
        """Whether the tenant has anything that could be found."""
        statement = "SELECT 1 FROM chunks WHERE tenant_id = %(tenant)s LIMIT 1"
        return bool(await self.fetch(statement, {"tenant": self._tenant}))

    async def holds(self, hits: Sequence[Hit]) -> bool:
        """Whether all of these are still stored as they are: text, place, headings and title."""
        ids = list({hit.chunk_id for hit in hits})
        rows = await self.fetch(STORED_PLACES, {"tenant": self._tenant, "ids": ids})
        stored = {row[0]: place_of(row) for row in rows}
        return all(stored.get(hit.chunk_id) == hit.place for hit in hits)

    async def ping(self) -> bool:
        """Whether ``SELECT 1`` succeeds."""
        try:
            return bool(await self.fetch("SELECT 1", {}))
        except StoreUnavailable:
            return False

    async def fetch(self, statement: str, values: dict[str, Any]) -> list[TupleRow]:
        """All rows of one read as this tenant, unless the database keeps silent."""
        return await self._connections.fetch(statement, values, self._tenant)

    # --- writing -------------------------------------------------------------------------------

    def session(self, identity: str | None = None, tenant: str | None = None) -> ChunkStore:
        """This store with nothing staged, of another ``identity`` or ``tenant`` if given.

        They share the connections. Writers that share a process take one each.
        """
        session = self.model_copy()
        session._staged = {}
        session._identity = identity or self._identity
        session._tenant = tenant or self._tenant
        session._bind_sessions()
        return session

    def of(self, tenant: str) -> ChunkStore:
        """This store as ``tenant`` has it."""
        return self if tenant == self._tenant else self.session(tenant=tenant)

    @property
    def ef_search(self) -> int:
        """Candidates an index scan keeps at least."""
        return self._ef_search

    @property
    def tenant(self) -> str:
        """Whose chunks it reads and writes."""
        return self._tenant

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
            with self._connections.loading(self._tenant) as connection:
                claim_embedder(connection, self._identity)
                if staged := self._staged.get(reference):
                    record, expected = staged
                    replace_document(
                        connection, self._tenant, record, its_nodes, int(reference), expected
                    )
                else:
                    adopt_nodes(connection, self._tenant, reference, its_nodes)
            self._staged.pop(reference, None)
        return [node.node_id for node in nodes]

    async def async_add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        """``add`` in a thread, so that the event loop goes on."""
        with no_full_collection():
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
        with no_full_collection():
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
        with self._connections.loading(self._tenant) as connection:
            claim_embedder(connection, self._identity)
            written = replace_document(
                connection, self._tenant, record, nodes, reserved_id, expected
            )
            if settled:
                settled(connection, written)
        return written

    def known_nodes(self, source_uri: str) -> dict[str, str]:
        """Node id to embedding key of the chunks stored of a source: these need no new vector."""
        with self.transaction() as connection:
            return known_nodes(connection, self._tenant, source_uri)

    async def fill_terms(self) -> int:
        """Write the BM25 terms of chunks that have none yet, some at a time; how many there were.

        Chunks of an older release have none, and those that other code inserted.
        """
        filled, last = 0, 0
        while ids := await asyncio.to_thread(
            self._with_connection, partial(fill_missing, after=last)
        ):
            filled, last = filled + len(ids), ids[-1]
        return filled

    def cache_rows(self) -> CacheRows:
        """The embedding cache of the same database, over the same connections."""
        return CacheRows(self.fetch, self.connection)

    def delete(self, ref_doc_id: str, **_: Any) -> None:
        """Delete a document by documents.id or source_uri, its chunks with it."""
        with self.transaction() as connection:
            delete_document(connection, self._tenant, ref_doc_id)

    async def adelete(self, ref_doc_id: str, **kwargs: Any) -> None:
        await asyncio.to_thread(self.delete, ref_doc_id, **kwargs)

    def clear(self) -> None:
        """Delete every document of the tenant, with all that was kept for them and no run needs."""
        with self.transaction() as connection:
            delete_everything(connection, self._tenant)

    async def aclear(self) -> None:
        await asyncio.to_thread(self.clear)

    def reserve(self, source_uri: str) -> int:
        """The id of the document from ``source_uri``: the stored one, or a fresh one."""
        statement = (
            "SELECT coalesce("
            "(SELECT id FROM documents WHERE tenant_id = %s AND source_uri = %s),"
            " nextval(pg_get_serial_sequence('documents', 'id')))"
        )
        with self.transaction() as connection:
            row = connection.execute(statement, (self._tenant, source_uri)).fetchone()
        assert row is not None
        return int(row[0])

    def fingerprints(self, source_uris: Sequence[str]) -> dict[str, tuple[str, str, str]]:
        """(content_hash, recipe, title) of each source that has chunks, by source_uri."""
        with self.transaction() as connection:
            return fingerprints(connection, self._tenant, source_uris)

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
        return self._connections.url

    def connection(self) -> AbstractContextManager[Connection[TupleRow]]:
        """A connection that sees every tenant, in autocommit: for what keeps the database."""
        return self._connections.connection()

    def transaction(self) -> AbstractContextManager[Connection[TupleRow]]:
        """A connection in one transaction as this tenant; an error rolls it back."""
        return self._connections.transaction(self._tenant)

    async def close(self) -> None:
        """Close every pool; the store cannot be used afterwards."""
        await self._connections.close()
        await super().close()
