"""ChunkStore: LlamaIndex's PGVectorStore over Helix's schema, and all SQL of serving.

Any LlamaIndex code can use it as a vector store. It differs from its base where the base loses
data, leaks or is slow: writes are one transaction a document over binary COPY, filters are bound,
index settings last one transaction, and serving has a search of its own, one round trip long.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Self

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import BaseNode, MetadataMode

from helix.domain.records import END_CHAR, ORDINAL, START_CHAR, DocumentRecord
from helix.storage.chunk_rows import ChunkRow, chunk_row, copy_chunks, reserve_ids
from helix.storage.connections import Connected, Connections
from helix.storage.document_writes import Settled, StagedDocument, claim_embedder
from helix.storage.garbage_collection import no_full_collection
from helix.storage.packed_terms import NO_TERMS, PackedTerms
from helix.storage.pgvector_store import SafePGVectorStore
from helix.storage.statements import llama_index_nodes as sql
from helix.storage.tenant_store import TenantStore
from helix.storage.term_rows import write_terms


class ChunkStore(TenantStore, SafePGVectorStore):
    """A TenantStore, with its arguments, that LlamaIndex can search and write too."""

    _identity: str = PrivateAttr()
    _connections: Connections = PrivateAttr()
    _staged: dict[str, StagedDocument] = PrivateAttr(default_factory=dict)

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
        SafePGVectorStore.__init__(self, database_url, ef_search)
        TenantStore.__init__(
            self, database_url, identity, ef_search=ef_search, pool_size=pool_size,
            replica_urls=replica_urls, pooler_url=pooler_url,
        )  # fmt: skip

    @classmethod
    def class_name(cls) -> str:
        return "ChunkStore"

    def session(self, identity: str | None = None, tenant: str | None = None) -> Self:
        """This store with nothing staged, of another ``identity`` or ``tenant`` if given.

        They share the connections. Writers that share a process take one each.
        """
        session = super().session(identity, tenant)
        session._staged = {}
        session._bind_sessions()
        return session

    def stage(
        self,
        reference: str,
        record: DocumentRecord,
        *,
        expected: bool = False,
        settled: Settled | None = None,
        terms: PackedTerms = NO_TERMS,
    ) -> None:
        """Announce the document that nodes with ref_doc_id ``reference`` are the chunks of.

        The next ``add`` of such nodes is then ``write`` of them, in one transaction; ``reference``
        is an id from ``reserve`` as text. A failed ``add`` leaves the document staged, so adding
        the nodes again tries again. Nodes of a document that was not staged are adopted.

        ``terms`` are BM25's that another process makes: they may come until the write, which makes
        those that are missing.
        """
        self._staged[reference] = StagedDocument(record, expected, settled, terms)

    async def write_staged(self, reference: str) -> None:
        """Write the document staged as ``reference`` without chunks, if no ``add`` has written it.

        For the end of an IngestionPipeline's run: a pipeline whose splitter made no node adds
        nothing to its vector store. Raises as ``write`` does.
        """
        if reference in self._staged:
            with no_full_collection():
                await asyncio.to_thread(self._write_staged, reference, [])

    def add(self, nodes: Sequence[BaseNode], **_: Any) -> list[str]:
        """Write nodes with embeddings, one transaction a document; returns their node ids.

        A node whose embedding is KNOWN (helix.domain.records) keeps the vector that is stored.
        """
        documents: dict[str, list[BaseNode]] = {}
        for node in nodes:
            documents.setdefault(node.ref_doc_id or node.node_id, []).append(node)
        for reference, its_nodes in documents.items():
            if reference in self._staged:
                self._write_staged(reference, its_nodes)
            else:
                with self._connections.loading(self._tenant) as connection:
                    claim_embedder(connection, self._identity)
                    adopt_nodes(connection, self._tenant, reference, its_nodes)
        return [node.node_id for node in nodes]

    def _write_staged(self, reference: str, nodes: Sequence[BaseNode]) -> None:
        self._write(self._staged[reference], nodes, int(reference))
        del self._staged[reference]

    async def async_add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        """``add`` in a thread, so that the event loop goes on."""
        with no_full_collection():
            return await asyncio.to_thread(self.add, nodes, **kwargs)

    async def close(self) -> None:
        """Close every pool; the store cannot be used afterwards."""
        await TenantStore.close(self)
        await SafePGVectorStore.close(self)


def adopt_nodes(
    connection: Connected, tenant: str, reference: str, nodes: Sequence[BaseNode]
) -> int:
    """Write a tenant's nodes from LlamaIndex code that knows no ``documents``; ids are upserted.

    ``reference`` is the nodes' ref_doc_id: a stored documents.id, else the source_uri of a document
    made here, whose text is its chunks, so that every citation still resolves.
    """
    named = (str(nodes[0].metadata.get(key) or "").strip() for key in ("title", "file_name"))
    title = next(filter(None, named), reference)
    document_id = _known_document(connection, tenant, reference) or _returned_id(
        connection, sql.ADOPT_DOCUMENT, {"tenant": tenant, "source_uri": reference, "title": title}
    )
    connection.execute(sql.HOLD_DOCUMENT, (document_id,))
    ids = [node.node_id for node in nodes]
    connection.execute(sql.DELETE_NODES, (tenant, ids))
    row = connection.execute(
        sql.TEXT,
        (document_id,),
    ).fetchone()
    assert row is not None
    text, ordinal = row
    marked: list[ChunkRow] = []
    for offset, node in enumerate(nodes):
        content = node.get_content(MetadataMode.NONE)
        start = text.find(content)
        if start < 0:
            text = f"{text}\n\n{content}" if text else content
            start = len(text) - len(content)
        marks = {ORDINAL: ordinal + offset, START_CHAR: start, END_CHAR: start + len(content)}
        marked.append(chunk_row(node, tenant, document_id, marks))
    connection.execute(sql.SET_TEXT, (text, document_id))
    copy_chunks(connection, reserve_ids(connection, len(marked)), marked)
    write_terms(connection, nodes, tenant)
    return document_id


def _known_document(connection: Connected, tenant: str, reference: str) -> int | None:
    if not (reference.isascii() and reference.isdigit() and len(reference) < 19):
        return None
    row = connection.execute(sql.OWN_DOCUMENT, (tenant, int(reference))).fetchone()
    return int(row[0]) if row else None


def _returned_id(connection: Connected, statement: str, values: dict[str, Any]) -> int:
    row = connection.execute(statement, values).fetchone()
    assert row is not None
    return int(row[0])
