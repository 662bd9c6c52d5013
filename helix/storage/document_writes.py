"""The one-transaction write of a document and its chunks, over binary COPY.

Synchronous on purpose: the async path runs it in a thread, so that a large document cannot hold
the event loop (LlamaIndex's own async_add held it for up to two seconds).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.schema import BaseNode, MetadataMode
from psycopg.types.json import Jsonb

from helix.domain.file_kinds import name_of_source
from helix.domain.metadata import with_layers
from helix.domain.names import FACTS, FILE_NAME, TITLE, with_edits
from helix.domain.records import END_CHAR, ORDINAL, START_CHAR, DocumentRecord
from helix.errors import DocumentGone, EmbedderMismatch
from helix.language.identification import ENGLISH, OTHERS, SIMPLE
from helix.language.terms import language_of
from helix.storage.chunk_rows import (
    ChunkChanges,
    replace_chunks,
    reserving,
)
from helix.storage.connections import Connected, Connections, WritingConnection
from helix.storage.packed_terms import NO_TERMS, PackedTerms, digest_of
from helix.storage.statements import document_sources
from helix.storage.statements import document_writes as sql
from helix.storage.statements import embedding_space as spaces
from helix.storage.stored_bytes import drop_bytes, replace_layout
from helix.storage.stored_documents import naming, settling
from helix.storage.term_rows import text_of, write_terms


@dataclass(frozen=True)
class Written(ChunkChanges):
    """The result of a write: ``document_id`` is documents.id."""

    document_id: int


Settled = Callable[[Connected, Written], None]
"""Writes, at the end of a document's transaction, what is to hold if and only if that does."""


@dataclass(frozen=True)
class StagedDocument:
    """A document whose chunks an ``add`` will bring; its fields are those of ``write``."""

    record: DocumentRecord
    expected: bool = False
    settled: Settled | None = None
    terms: PackedTerms = field(default_factory=dict)


def mismatch_message(stored: str, configured: str) -> str:
    """The one line for a database filled by another embedder."""
    kind = stored.partition(":")[0]
    (model, _, width), (other, _, now) = stored.rpartition("/"), configured.rpartition("/")
    if model == other and width.isdecimal() and now.isdecimal():
        return (
            f"this database was filled by the embedder {stored}, whose model gives another width"
            f" now ({configured}): serve the one of before, or run `helix reembed` to change it"
        )
    return (
        f"this database was filled by the embedder {stored}, but {configured} is configured:"
        f" set HELIX_EMBEDDER={kind} (and its model) to use it as it is, run"
        " `helix reembed` to change it, or point DATABASE_URL at an empty database"
    )


def claim_embedder(connection: Connected, identity: str) -> None:
    """Record the embedder with the first document; an emptied database may be claimed anew.

    Raises:
        EmbedderMismatch: chunks of another embedder are stored.
    """
    if connection.execute(spaces.SHARE, (identity,)).fetchone():
        return
    connection.execute(spaces.CLAIM, (identity,))
    row = connection.execute(spaces.HOLD).fetchone()
    assert row is not None
    if row[0] == identity:
        return
    if connection.execute(spaces.IS_USED).fetchone():
        raise EmbedderMismatch(mismatch_message(row[0], identity))
    connection.execute(spaces.RECLAIM, (identity,))


def reserved_id_of(connections: Connections, tenant: str, source_uri: str) -> int:
    """The id of the tenant's document from ``source_uri``: the stored one, or a fresh one."""
    values = {"tenant": tenant, "source_uri": source_uri}
    return int(connections.ask(tenant, sql.RESERVE, values)[0]["id"])


def write_document(
    connection: WritingConnection,
    tenant: str,
    document: StagedDocument,
    nodes: Sequence[BaseNode],
    reserved_id: int | None,
) -> Written:
    """``replace_document`` of a staged document, and then what is to be settled with it."""
    written = replace_document(
        connection, tenant, document.record, nodes, reserved_id, document.expected, document.terms
    )
    if document.settled:
        document.settled(connection, written)
    return written


def replace_document(
    connection: WritingConnection,
    tenant: str,
    record: DocumentRecord,
    nodes: Sequence[BaseNode],
    reserved_id: int | None = None,
    expected: bool = False,
    terms: PackedTerms = NO_TERMS,
) -> Written:
    """Write a tenant's ``record`` with exactly ``nodes`` as chunks, in the caller's transaction.

    ``reserved_id`` is used when the source is new; a source already stored keeps its id, and a
    chunk whose node id and text are stored keeps its row and id too. A node needs no vector where
    ``known_nodes`` says that the stored one is of its embedding key. Each node's metadata carries
    ordinal, start_char and end_char. With ``expected`` the document must be there already, under
    ``reserved_id`` if that is given. Of ``terms`` are BM25's that were made beforehand.

    Raises:
        ValueError: a node is not the slice of the text that it says it is, or has no vector.
        StaleChunks: a node without vector is not stored any more, or under another key.
        DocumentGone: it was expected and somebody has deleted it.
    """
    _check_slices(record.text, nodes)
    source = {"tenant": tenant, "source_uri": record.source_uri}
    _, found = connection.read((document_sources.LOCK, source), (sql.STORED, source))
    stored = found[0] if found else None
    if expected and (stored is None or reserved_id not in (None, stored["id"])):
        raise DocumentGone("the document was deleted while it was being read")
    edits = stored["edits"] if stored else {}
    kept = edited(record, edits)
    language = _language(record.text, nodes, tenant, terms)
    metadata, edits = with_layers(record.metadata, record.given, edits)
    columns = _columns(record, kept) | {
        "tenant": tenant, "id": reserved_id, "language": language, "metadata": Jsonb(metadata),
        "edits": Jsonb(edits),
    }  # fmt: skip
    (written,), *_, ids = connection.read(
        (sql.UPSERT, columns),
        *naming(tenant, record.source_uri, **kept),
        settling(tenant, record.source_uri, record.content_hash),
        reserving(0 if stored else len(nodes)),
    )
    document_id, is_new = int(written["id"]), bool(written["is_new"])
    replace_layout(connection, tenant, document_id, record.pages, record.tables, is_new=is_new)
    reserved = [row["id"] for row in ids] if is_new else None
    counts = replace_chunks(
        connection, tenant, document_id, nodes, language, terms, reserved=reserved
    )
    if stored and stored["language"] != language:
        write_terms(connection, nodes, tenant, language)
    if stored and stored["file_hash"] not in (None, record.file_hash):
        drop_bytes(connection, [(tenant, stored["file_hash"])])
    return Written(**counts.__dict__, document_id=document_id)


def _check_slices(text: str, nodes: Sequence[BaseNode]) -> None:
    for node in nodes:
        start, end = node.metadata[START_CHAR], node.metadata[END_CHAR]
        if text[start:end] != node.get_content(MetadataMode.NONE):
            raise ValueError(f"chunk {node.metadata[ORDINAL]} is not a slice of its document")


def _columns(record: DocumentRecord, kept: Mapping[str, Any]) -> dict[str, Any]:
    """The values of ``UPSERT`` that come from ``record``, with ``kept`` of ``edited``."""
    return {
        **vars(record),
        **kept,
        FACTS: Jsonb(kept[FACTS]),
        "tags": None if record.tags is None else list(record.tags),
        "spaces": None if record.spaces is None else list(record.spaces),
        "outline": Jsonb([section.outline() for section in record.sections]),
        "warnings": Jsonb(list(record.warnings)),
        "origin": Jsonb(dict(record.origin)),
    }


def _language(text: str, nodes: Sequence[BaseNode], tenant: str, terms: PackedTerms) -> str:
    """The language of a document: that of its terms where they were made beforehand."""
    if terms and nodes:
        first = text_of(nodes[0])
        for language in (ENGLISH, SIMPLE, *OTHERS):
            if digest_of(first, language, tenant) in terms:
                return language
    return language_of(text)


def edited(record: DocumentRecord, edits: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of ``record`` that people may have changed, with their ``documents.edits``."""
    return {
        TITLE: edits.get(TITLE) or record.title,
        FILE_NAME: edits.get(FILE_NAME) or record.file_name or name_of_source(record.source_uri),
        FACTS: with_edits(record.facts, edits),
    }


def edits_of(connection: Connected, tenant: str, source_uri: str) -> dict[str, Any]:
    """People's edits of a tenant's stored source; nothing where it is not stored."""
    found = connection.execute(sql.EDITS, (tenant, source_uri)).fetchone()
    return dict(found[0]) if found else {}
