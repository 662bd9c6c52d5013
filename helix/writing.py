"""The one-transaction write of a document and its chunks, over binary COPY.

Synchronous on purpose: the async path runs it in a thread, so that a large document cannot hold
the event loop (LlamaIndex's own async_add held it for up to two seconds).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.schema import BaseNode, MetadataMode
from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from helix.cache_rows import purge_unused
from helix.chunk_rows import ChunkChanges, ChunkRow, chunk_row, copy_chunks, replace_chunks
from helix.errors import DocumentGone, EmbedderMismatch
from helix.records import END_CHAR, ORDINAL, START_CHAR, DocumentRecord
from helix.term_rows import write_terms
from helix.terms import language_of

Connected = Connection[TupleRow]

_CLAIM = "INSERT INTO embedding_space (identity) VALUES (%s) ON CONFLICT DO NOTHING"
_SHARE_CLAIM = "SELECT 1 FROM embedding_space WHERE identity = %s FOR SHARE"
_LOCK_CLAIM = "SELECT identity FROM embedding_space FOR UPDATE"
_RECLAIM = "UPDATE embedding_space SET identity = %s, claimed_at = now()"
_STORED = """
SELECT id, file_hash, language FROM documents WHERE tenant_id = %s AND source_uri = %s FOR UPDATE
"""
_UPSERT_DOCUMENT = """
INSERT INTO documents (tenant_id, id, source_uri, title, content_hash, recipe, text, media, size,
                       outline, warnings, origin, file_hash, language, tags)
VALUES (%(tenant)s, coalesce(%(id)s, nextval(pg_get_serial_sequence('documents', 'id'))),
        %(source_uri)s, %(title)s, %(content_hash)s, %(recipe)s, %(text)s, %(media)s, %(size)s,
        %(outline)s, %(warnings)s, %(origin)s, %(file_hash)s, %(language)s,
        coalesce(%(tags)s::text[], '{}'))
ON CONFLICT (tenant_id, source_uri) DO UPDATE
SET title = excluded.title, content_hash = excluded.content_hash, recipe = excluded.recipe,
    text = excluded.text, media = excluded.media, size = excluded.size,
    outline = excluded.outline, warnings = excluded.warnings, origin = excluded.origin,
    file_hash = excluded.file_hash, language = excluded.language,
    tags = coalesce(%(tags)s, documents.tags), status = 'ready', error = '', updated_at = now()
RETURNING id
"""
_LOCK_FILE = "SELECT 1 FROM files WHERE tenant_id = %s AND content_hash = %s FOR UPDATE"
_DROP_FILE = """
DELETE FROM files f WHERE tenant_id = %s AND content_hash = %s
AND NOT EXISTS (SELECT FROM documents d
    WHERE d.file_hash = f.content_hash AND d.tenant_id = f.tenant_id)
AND NOT EXISTS (SELECT FROM run_files r
    WHERE r.file_hash = f.content_hash AND r.tenant_id = f.tenant_id)
"""
# All of a document at once, or the cascade would count each chunk in a statement of its own.
_DROP_TERMS = """
DELETE FROM chunk_terms WHERE tenant_id = %(tenant)s AND chunk_id IN (
    SELECT id FROM chunks WHERE tenant_id = %(tenant)s AND document_id = %(id)s)
"""
_ADOPT_DOCUMENT = """
INSERT INTO documents (tenant_id, source_uri, title, content_hash)
VALUES (%(tenant)s, %(source_uri)s, %(title)s, '')
ON CONFLICT (tenant_id, source_uri) DO UPDATE SET updated_at = now()
RETURNING id
"""


@dataclass(frozen=True)
class Written(ChunkChanges):
    """What a write did: ``document_id`` is documents.id."""

    document_id: int


def mismatch_message(stored: str, configured: str) -> str:
    """The one line for a database filled by another embedder."""
    kind = stored.partition(":")[0]
    return (
        f"this database was filled by the embedder {stored}, but {configured} is configured:"
        f" set HELIX_EMBEDDER={kind} (and its model) to use it as it is, run"
        " `python -m pipelines.reembed` to change it, or point DATABASE_URL at an empty database"
    )


def claim_embedder(connection: Connected, identity: str) -> None:
    """Record the embedder with the first document; an emptied database may be claimed anew.

    Raises:
        EmbedderMismatch: chunks of another embedder are stored.
    """
    # Locked only where it is ours: two that share a lock and each want it alone would deadlock.
    if connection.execute(_SHARE_CLAIM, (identity,)).fetchone():
        return
    connection.execute(_CLAIM, (identity,))
    row = connection.execute(_LOCK_CLAIM).fetchone()
    assert row is not None
    if row[0] == identity:
        return
    if connection.execute("SELECT 1 WHERE any_chunks()").fetchone():
        raise EmbedderMismatch(mismatch_message(row[0], identity))
    connection.execute(_RECLAIM, (identity,))


def replace_document(
    connection: Connected,
    tenant: str,
    record: DocumentRecord,
    nodes: Sequence[BaseNode],
    reserved_id: int | None = None,
    expected: bool = False,
) -> Written:
    """Write a tenant's ``record`` with exactly ``nodes`` as chunks, in the caller's transaction.

    ``reserved_id`` is used when the source is new; a source already stored keeps its id, and a
    chunk whose node id and text are stored keeps its row and id too. A node needs no vector where
    ``known_nodes`` says that the stored one is of its embedding key. Each node's metadata carries
    ordinal, start_char and end_char. With ``expected`` the document must be there already, under
    ``reserved_id`` if that is given.

    Raises:
        ValueError: a node is not the slice of the text that it says it is, or has no vector.
        StaleChunks: a node without vector is not stored any more, or under another key.
        DocumentGone: it was expected and somebody has deleted it.
    """
    for node in nodes:
        start, end = node.metadata[START_CHAR], node.metadata[END_CHAR]
        if record.text[start:end] != node.get_content(MetadataMode.NONE):
            raise ValueError(f"chunk {node.metadata[ORDINAL]} is not a slice of its document")
    _lock(connection, tenant, record.source_uri)
    stored = connection.execute(_STORED, (tenant, record.source_uri)).fetchone()
    if expected and (stored is None or reserved_id not in (None, stored[0])):
        raise DocumentGone("the document was deleted while it was being read")
    columns = _columns(record, tenant, reserved_id)
    document_id = _returned_id(connection, _UPSERT_DOCUMENT, columns)
    counts = replace_chunks(connection, tenant, document_id, nodes, columns["language"])
    if stored and stored[2] != columns["language"]:
        write_terms(connection, nodes, tenant, columns["language"])
    if stored and stored[1] not in (None, record.file_hash):
        _drop_file(connection, tenant, stored[1])
    return Written(**counts.__dict__, document_id=document_id)


def delete_document(connection: Connected, tenant: str, reference: str) -> int:
    """Delete a tenant's document by documents.id or source_uri inside the caller's transaction.

    With it go its chunks and their vectors, the cached vectors that no other chunk has, and the
    stored file that no other document and no run needs.

    Returns:
        how many documents there were: 0 or 1 (2 where a source is named as another's id).
    """
    rows = connection.execute(
        "SELECT id, source_uri FROM documents"
        " WHERE tenant_id = %(tenant)s"
        " AND (source_uri = %(reference)s OR id::text = %(reference)s) ORDER BY source_uri",
        {"tenant": tenant, "reference": reference},
    ).fetchall()
    return sum(delete_one(connection, tenant, number, source) for number, source in rows)


def delete_everything(connection: Connected, tenant: str) -> None:
    """Delete every document of a tenant inside the caller's transaction, unneeded files too."""
    whose = {"tenant": tenant}
    # the document's row first, as a write does, or the two would deadlock
    connection.execute(
        "SELECT FROM documents WHERE tenant_id = %(tenant)s ORDER BY id FOR UPDATE", whose
    )
    connection.execute("DELETE FROM chunk_terms WHERE tenant_id = %(tenant)s", whose)
    chunks = connection.execute(
        "DELETE FROM chunks WHERE tenant_id = %(tenant)s RETURNING metadata_ ->> 'embedding_key'",
        whose,
    ).fetchall()
    connection.execute("DELETE FROM documents WHERE tenant_id = %(tenant)s", whose)
    purge_unused(connection, [key for (key,) in chunks if key])
    connection.execute(
        "DELETE FROM files f WHERE tenant_id = %(tenant)s AND NOT EXISTS (SELECT FROM run_files r"
        " WHERE r.file_hash = f.content_hash AND r.tenant_id = f.tenant_id)",
        whose,
    )


def delete_one(connection: Connected, tenant: str, document_id: int, source_uri: str) -> int:
    """``delete_document`` of one that is known by both; how many there were, 0 or 1."""
    _lock(connection, tenant, source_uri)
    which = {"tenant": tenant, "id": document_id}
    connection.execute(_DROP_TERMS, which)
    chunks = connection.execute(
        "DELETE FROM chunks WHERE tenant_id = %(tenant)s AND document_id = %(id)s"
        " RETURNING metadata_ ->> 'embedding_key'",
        which,
    ).fetchall()
    row = connection.execute(
        "DELETE FROM documents WHERE tenant_id = %(tenant)s AND id = %(id)s RETURNING file_hash",
        which,
    ).fetchone()
    purge_unused(connection, [key for (key,) in chunks if key])
    if row and row[0]:
        _drop_file(connection, tenant, row[0])
    return int(row is not None)


def _drop_file(connection: Connected, tenant: str, content_hash: str) -> None:
    """Delete stored bytes that nothing needs; the lock first, or a new need could go unseen."""
    connection.execute(_LOCK_FILE, (tenant, content_hash))
    connection.execute(_DROP_FILE, (tenant, content_hash))


def _columns(record: DocumentRecord, tenant: str, reserved_id: int | None) -> dict[str, Any]:
    return {
        **record.__dict__,
        "tenant": tenant,
        "id": reserved_id,
        "tags": None if record.tags is None else list(record.tags),
        "outline": Jsonb([section.outline() for section in record.sections]),
        "warnings": Jsonb(list(record.warnings)),
        "origin": Jsonb(dict(record.origin)),
        "language": language_of(record.text),
    }


def _lock(connection: Connected, tenant: str, source_uri: str) -> None:
    """One writer a source at a time: two that race a delete would both insert its old id."""
    connection.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended(%s, hashtextextended(%s, 0)))",
        (source_uri, tenant),
    )


def adopt_nodes(
    connection: Connected, tenant: str, reference: str, nodes: Sequence[BaseNode]
) -> int:
    """Write a tenant's nodes from LlamaIndex code that knows no ``documents``; ids are upserted.

    ``reference`` is the nodes' ref_doc_id: a stored documents.id, else the source_uri of a document
    made here, whose text is its chunks, so that every citation still resolves.
    """
    document_id = _known_document(connection, tenant, reference) or _returned_id(
        connection,
        _ADOPT_DOCUMENT,
        {"tenant": tenant, "source_uri": reference, "title": _title(nodes, reference)},
    )
    # The lock comes first, in a statement of its own: what follows sees what others have added.
    connection.execute("SELECT 1 FROM documents WHERE id = %s FOR UPDATE", (document_id,))
    ids = [node.node_id for node in nodes]
    connection.execute(
        "DELETE FROM chunks WHERE tenant_id = %s AND node_id = ANY(%s)", (tenant, ids)
    )
    row = connection.execute(
        "SELECT text, (SELECT coalesce(max(ordinal) + 1, 0) FROM chunks WHERE document_id = d.id)"
        " FROM documents d WHERE id = %s",
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
    connection.execute("UPDATE documents SET text = %s WHERE id = %s", (text, document_id))
    copy_chunks(connection, marked)
    write_terms(connection, nodes, tenant)
    return document_id


def _known_document(connection: Connected, tenant: str, reference: str) -> int | None:
    if not (reference.isascii() and reference.isdigit() and len(reference) < 19):
        return None
    row = connection.execute(
        "SELECT id FROM documents WHERE tenant_id = %s AND id = %s", (tenant, int(reference))
    ).fetchone()
    return int(row[0]) if row else None


def _title(nodes: Sequence[BaseNode], reference: str) -> str:
    for key in ("title", "file_name"):
        if title := str(nodes[0].metadata.get(key) or "").strip():
            return title
    return reference


def _returned_id(connection: Connected, statement: str, values: dict[str, Any]) -> int:
    row = connection.execute(statement, values).fetchone()
    assert row is not None
    return int(row[0])
