"""The one-transaction write of a document and its chunks, over binary COPY.

Synchronous on purpose: the async path runs it in a thread, so that a large document cannot hold
the event loop (LlamaIndex's own async_add held it for up to two seconds).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from llama_index.core.schema import BaseNode, MetadataMode
from llama_index.core.vector_stores.utils import node_to_metadata_dict
from pgvector import Vector
from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from helix.contract import EMBEDDING_DIMENSIONS
from helix.errors import EmbedderMismatch
from helix.records import END_CHAR, ORDINAL, START_CHAR, DocumentRecord

Connected = Connection[TupleRow]
ChunkRow = tuple[str, str, Vector, Jsonb]

_COPY = "COPY chunks (node_id, content, embedding, metadata_) FROM STDIN (FORMAT BINARY)"
_CLAIM = "INSERT INTO embedding_space (identity) VALUES (%s) ON CONFLICT DO NOTHING"
_SHARE_CLAIM = "SELECT 1 FROM embedding_space WHERE identity = %s FOR SHARE"
_LOCK_CLAIM = "SELECT identity FROM embedding_space FOR UPDATE"
_RECLAIM = "UPDATE embedding_space SET identity = %s, claimed_at = now()"
_UPSERT_DOCUMENT = """
INSERT INTO documents (id, source_uri, title, content_hash, recipe, text)
VALUES (coalesce(%(id)s, nextval(pg_get_serial_sequence('documents', 'id'))),
        %(source_uri)s, %(title)s, %(content_hash)s, %(recipe)s, %(text)s)
ON CONFLICT (source_uri) DO UPDATE
SET title = excluded.title, content_hash = excluded.content_hash, recipe = excluded.recipe,
    text = excluded.text, updated_at = now()
RETURNING id
"""
_ADOPT_DOCUMENT = """
INSERT INTO documents (source_uri, title, content_hash) VALUES (%(source_uri)s, %(title)s, '')
ON CONFLICT (source_uri) DO UPDATE SET updated_at = now()
RETURNING id
"""


def mismatch_message(stored: str, configured: str) -> str:
    """The one line for a database filled by another embedder."""
    kind = stored.partition(":")[0]
    return (
        f"this database was filled by the embedder {stored}, but {configured} is configured:"
        f" set HELIX_EMBEDDER={kind} (and its model) to use it as it is, or point DATABASE_URL at"
        " an empty database and ingest again"
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
    if connection.execute("SELECT 1 FROM chunks LIMIT 1").fetchone():
        raise EmbedderMismatch(mismatch_message(row[0], identity))
    connection.execute(_RECLAIM, (identity,))


def replace_document(
    connection: Connected,
    record: DocumentRecord,
    nodes: Sequence[BaseNode],
    reserved_id: int | None = None,
) -> int:
    """Write ``record`` with exactly ``nodes`` as its chunks, inside the caller's transaction.

    ``reserved_id`` is used when the source is new; a source already stored keeps its id. Each
    node's metadata carries ordinal, start_char and end_char.

    Returns:
        documents.id.

    Raises:
        ValueError: a node is not the slice of the text that it says it is.
    """
    for node in nodes:
        start, end = node.metadata[START_CHAR], node.metadata[END_CHAR]
        if record.text[start:end] != node.get_content(MetadataMode.NONE):
            raise ValueError(f"chunk {node.metadata[ORDINAL]} is not a slice of its document")
    _lock(connection, record.source_uri)
    values = {**record.__dict__, "id": reserved_id}
    document_id = _returned_id(connection, _UPSERT_DOCUMENT, values)
    connection.execute("DELETE FROM chunks WHERE document_id = %s", (document_id,))
    _copy(connection, (_row(node, document_id) for node in nodes))
    return document_id


def delete_document(connection: Connected, reference: str) -> None:
    """Delete the document of this documents.id or source_uri inside the caller's transaction."""
    rows = connection.execute(
        "SELECT id, source_uri FROM documents"
        " WHERE source_uri = %(reference)s OR id::text = %(reference)s ORDER BY source_uri",
        {"reference": reference},
    ).fetchall()
    for document_id, source_uri in rows:
        _lock(connection, source_uri)
        connection.execute("DELETE FROM documents WHERE id = %s", (document_id,))


def _lock(connection: Connected, source_uri: str) -> None:
    """One writer a source at a time: two that race a delete would both insert its old id."""
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (source_uri,))


def adopt_nodes(connection: Connected, reference: str, nodes: Sequence[BaseNode]) -> int:
    """Write nodes of LlamaIndex code that knows nothing of ``documents``; a node id is upserted.

    ``reference`` is the nodes' ref_doc_id: a stored documents.id, else the source_uri of a document
    made here, whose text is its chunks, so that every citation still resolves.
    """
    document_id = _known_document(connection, reference) or _returned_id(
        connection, _ADOPT_DOCUMENT, {"source_uri": reference, "title": _title(nodes, reference)}
    )
    # The lock comes first, in a statement of its own: what follows sees what others have added.
    connection.execute("SELECT 1 FROM documents WHERE id = %s FOR UPDATE", (document_id,))
    ids = [node.node_id for node in nodes]
    connection.execute("DELETE FROM chunks WHERE node_id = ANY(%s)", (ids,))
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
        marked.append(_row(node, document_id, marks))
    connection.execute("UPDATE documents SET text = %s WHERE id = %s", (text, document_id))
    _copy(connection, marked)
    return document_id


def _known_document(connection: Connected, reference: str) -> int | None:
    if not (reference.isascii() and reference.isdigit() and len(reference) < 19):
        return None
    row = connection.execute("SELECT id FROM documents WHERE id = %s", (int(reference),)).fetchone()
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


def _row(node: BaseNode, document_id: int, marks: dict[str, int] | None = None) -> ChunkRow:
    """One row of COPY: (node_id, content, embedding, metadata)."""
    vector = np.asarray(node.embedding, dtype=np.float32)
    if vector.shape != (EMBEDDING_DIMENSIONS,):
        raise ValueError(f"an embedding has shape {vector.shape}, not ({EMBEDDING_DIMENSIONS},)")
    # without its vector, or 1,536 numbers would be turned into JSON and thrown away
    bare = node.model_copy(update={"embedding": None})
    metadata = node_to_metadata_dict(bare, remove_text=True)
    metadata.update(marks or {}, document_id=str(document_id))
    content = node.get_content(MetadataMode.NONE)
    return node.node_id, content, Vector(vector), Jsonb(metadata)


def _copy(connection: Connected, rows: Iterable[ChunkRow]) -> None:
    with connection.cursor().copy(_COPY) as copy:
        copy.set_types(["text", "text", "vector", "jsonb"])
        for row in rows:
            copy.write_row(row)
