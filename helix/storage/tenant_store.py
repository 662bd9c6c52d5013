"""TenantStore: one tenant's documents and chunks in the database, searched and written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from helix.domain.records import DocumentRecord, Hit, SearchResult
from helix.domain.retrieval import DEFAULT_FUSION, Fusion
from helix.domain.scope import DEFAULT_TENANT, WHOLE, Reach, Scope
from helix.errors import BadRequest, EmbedderMismatch
from helix.storage import indexes as index
from helix.storage.connections import Connected, Connections, Row
from helix.storage.document_deletes import delete_document, delete_everything
from helix.storage.document_writes import (
    Settled,
    StagedDocument,
    Written,
    claim_embedder,
    edits_of,
    mismatch_message,
    reserved_id_of,
    write_document,
)
from helix.storage.garbage_collection import no_full_collection
from helix.storage.packed_terms import NO_TERMS, PackedTerms
from helix.storage.searches import (
    Search,
    Vector1536,
    dense_search,
    hybrid_search,
    place_of,
)
from helix.storage.statements import chunks, embedding_space, moments
from helix.storage.statements.hits import STORED_PLACES
from helix.storage.statements.scopes import SEARCH_SETTINGS
from helix.storage.stored_documents import fingerprints, known_nodes
from helix.storage.tenant_connections import TenantConnections
from helix.storage.term_rows import fill_missing, tell_languages

if TYPE_CHECKING:
    from llama_index.core.schema import BaseNode

_T = TypeVar("_T")


class TenantStore(TenantConnections):
    """The chunks of one tenant in one database; ``of`` gives another tenant's.

    It is what answering needs. ``helix.store.ChunkStore`` is one too, and LlamaIndex's vector store
    besides, which brings SQLAlchemy.

    Args:
        database_url: a libpq URL, ``postgresql://…``, unix sockets included.
        identity: the vector space of what is written and searched (``Embedder.vector_space``).
        ef_search: candidates an index scan keeps, 10 to 1000; more finds more and takes longer.
        pool_size: connections kept for serving at most.
        replica_urls: read replicas of the database, which answer searches too.
        pooler_url: a pooler in transaction mode in front of it, as Connections has it.

    Errors of the database arrive as StoreUnavailable, and an identity other than the one that
    filled the database as EmbedderMismatch.
    """

    _identity: str
    _ef_search: int

    def __init__(
        self,
        database_url: str,
        identity: str,
        *,
        ef_search: int = 100,
        pool_size: int = 10,
        replica_urls: Sequence[str] = (),
        pooler_url: str | None = None,
    ) -> None:
        connections = Connections(database_url, pool_size, replica_urls, pooler_url)
        super().__init__(connections, DEFAULT_TENANT)
        self._identity = identity
        self._ef_search = ef_search

    async def search(self, vector: Vector1536, top_k: int, scope: Scope | None = None) -> list[Hit]:
        """The ``top_k`` chunks of ``scope`` nearest to ``vector`` (1536 numbers), nearest first.

        Raises:
            StoreUnavailable: the database did not answer.
            EmbedderMismatch: the chunks were embedded by another embedder.
        """
        scope = scope or Scope(self._tenant)
        return await self.run_search(dense_search(vector, top_k, scope, self._ef_search))

    async def search_hybrid(
        self,
        question: str,
        vector: Vector1536,
        top_k: int,
        scope: Scope | None = None,
        fusion: Fusion = DEFAULT_FUSION,
        beside: Mapping[str, float] | None = None,
    ) -> SearchResult:
        """The ``top_k`` chunks best by distance and BM25 together, best first, in one round trip.

        Each ranking brings its first: with a ``top_k`` of ``fusion.scored`` all that was scored
        comes.
        ``beside`` are further terms with their weights, as hybrid_search has them.

        Raises:
            StoreUnavailable, EmbedderMismatch: as search does.
        """
        scope = scope or Scope(self._tenant)
        return await self.run_search(
            hybrid_search(question, vector, top_k, scope, fusion, self._ef_search, beside)
        )

    async def run_search(self, search: Search[_T]) -> _T:
        """The findings of a search; raises as ``search`` does."""
        rows = await self._found(search, search.values)
        if search.widened and (values := search.widened(rows)):
            rows = await self._found(search, values)
        if rows:
            self._require_identity(rows[0]["identity"])
        return search.read(rows)

    async def _found(self, search: Search[_T], values: dict[str, Any]) -> list[Row]:
        settings = SEARCH_SETTINGS.format(ef_search=search.ef_search)
        return await self._connections.read(
            search.statement, values, search.scope.tenant, settings, search.scope.reach
        )

    def _require_identity(self, stored: str | None) -> None:
        if stored not in (None, self._identity):
            raise EmbedderMismatch(mismatch_message(stored, self._identity))

    async def check(self) -> None:
        """Check that questions can be answered: the database is up and this embedder filled it.

        Raises:
            StoreUnavailable, EmbedderMismatch: as they say.
        """
        rows = await self.fetch(embedding_space.IN_USE, {})
        if rows:
            self._require_identity(rows[0]["identity"])

    async def stored_identity(self) -> str | None:
        """The embedder whose vectors are stored, or were last; None where there never were any.

        Raises:
            StoreUnavailable: the database did not answer.
        """
        rows = await self.fetch(embedding_space.STORED, {})
        return str(rows[0]["identity"]) if rows else None

    def stored_width(self) -> int | None:
        """The numbers of the stored vectors before the zeros at their end; None where none are.

        Raises:
            StoreUnavailable: the database did not answer.
        """
        with self.connection() as connection:
            rows = connection.execute(embedding_space.SOME_VECTORS).fetchall()
        return max((int(np.flatnonzero(vector)[-1]) + 1 for (vector,) in rows), default=None)

    async def has_chunks(self) -> bool:
        """True if the tenant has anything that could be found."""
        return bool(await self.fetch(chunks.ANY, {"tenant": self._tenant}))

    async def check_moment(self, scope: Scope) -> None:
        """Return where the library of the moment that ``scope`` names, if any, is kept whole.

        Raises:
            BadRequest: it is not, or not yet.
            StoreUnavailable: the database did not answer.
        """
        if (at := scope.as_of) is None:
            return
        days, age = self._connections.keep_versions_days, datetime.now(UTC) - at
        if age < timedelta(0):
            raise BadRequest("as_of is a moment that has not been yet")
        lost = await self.of(scope.tenant).fetch(moments.LOST, {"tenant": scope.tenant, "at": at})
        if lost[0]["lost"] or (days and age > timedelta(days=days)):
            raise BadRequest(
                f"the library of {at:%Y-%m-%d %H:%M} is not kept whole: versions that were replaced"
                f" are kept for HELIX_KEEP_VERSIONS_DAYS ({days}) from when that was set on"
            )

    async def holds(self, hits: Sequence[Hit]) -> bool:
        """True if all of these are still stored as they are: text, place, headings and title."""
        ids = list({hit.chunk_id for hit in hits})
        rows = await self.fetch(STORED_PLACES, {"tenant": self._tenant, "ids": ids})
        stored = {row["chunk_id"]: place_of(row) for row in rows}
        return all(stored.get(hit.chunk_id) == hit.place for hit in hits)

    # --- writing -------------------------------------------------------------------------------

    def session(self, identity: str | None = None, tenant: str | None = None) -> Self:
        """This store, of another ``identity`` or ``tenant`` if given.

        They share the connections. Writers that share a process take one each.
        """
        session = copy(self)
        session._identity = identity or self._identity
        session._tenant = tenant or self._tenant
        return session

    def of(self, tenant: str, reach: Reach = WHOLE) -> Self:
        """This store as ``tenant`` has it, or the part of it within ``reach``."""
        if (tenant, reach) == (self._tenant, self._reach):
            return self
        other = self.session(tenant=tenant)
        other._reach = reach
        return other

    def within(self, scope: Scope) -> Self:
        """The store of the tenant of ``scope`` with the documents that it may be read from."""
        return self.of(scope.tenant, scope.reach)

    @property
    def ef_search(self) -> int:
        """Candidates an index scan keeps at least."""
        return self._ef_search

    async def write(
        self,
        record: DocumentRecord,
        nodes: Sequence[BaseNode],
        reserved_id: int | None = None,
        *,
        expected: bool = False,
        settled: Settled | None = None,
        terms: PackedTerms = NO_TERMS,
    ) -> Written:
        """Replace a document in one transaction, as ``replace_document`` does.

        ``settled`` is called at its end, to write what is to hold if and only if the document does;
        what it raises rolls all back. A node whose embedding is KNOWN, or None, keeps the vector
        that is stored under its embedding key (``known_nodes``). ``terms`` are BM25's that were
        made beforehand; the write makes those that are missing.

        Raises:
            ValueError, StaleChunks, DocumentGone: as replace_document says.
            EmbedderMismatch, StoreUnavailable: nothing was written.
        """
        document = StagedDocument(record, expected, settled, terms)
        with no_full_collection():
            return await asyncio.to_thread(self._write, document, nodes, reserved_id)

    def _write(
        self, document: StagedDocument, nodes: Sequence[BaseNode], reserved_id: int | None
    ) -> Written:
        with self._connections.loading(self._tenant) as connection:
            claim_embedder(connection, self._identity)
            return write_document(connection, self._tenant, document, nodes, reserved_id)

    def known_nodes(self, source_uri: str) -> dict[str, str]:
        """Node id to embedding key of the chunks stored of a source: these need no new vector."""
        return known_nodes(self._connections, self._tenant, source_uri)

    async def fill_terms(self) -> int:
        """Write the BM25 terms of chunks that have none yet, some at a time; how many there were.

        Chunks of an older release have none, and those that other code inserted. Documents that it
        stored without telling their language are told it, and their terms made anew.
        """
        while await asyncio.to_thread(self._with_connection, tell_languages):
            pass
        filled, last = 0, 0
        while ids := await asyncio.to_thread(
            self._with_connection, partial(fill_missing, after=last)
        ):
            filled, last = filled + len(ids), ids[-1]
        return filled

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
        return reserved_id_of(self._connections, self._tenant, source_uri)

    def fingerprints(self, source_uris: Sequence[str]) -> dict[str, tuple[str, str, str]]:
        """(content_hash, recipe, title) of each source that has chunks, by source_uri."""
        with self.transaction() as connection:
            return fingerprints(connection, self._tenant, source_uris)

    def edits(self, source_uri: str) -> dict[str, Any]:
        """People's edits of a stored source: ``documents.edits``, empty where there are none."""
        with self.transaction() as connection:
            return edits_of(connection, self._tenant, source_uri)

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
            await asyncio.gather(
                asyncio.to_thread(self._with_connection, index.build_terms_if_missing),
                asyncio.to_thread(self._with_connection, index.build_vectors_if_missing),
            )

    def _with_connection(self, action: Callable[[Connected], _T]) -> _T:
        with self.connection() as connection:
            return action(connection)

    async def close(self) -> None:
        """Close every pool; the store cannot be used afterwards."""
        await self._connections.close()
