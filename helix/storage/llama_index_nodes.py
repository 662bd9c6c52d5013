"""Nodes from LlamaIndex code that knows no documents: each is given one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.schema import BaseNode, MetadataMode

from helix.domain.records import END_CHAR, ORDINAL, START_CHAR
from helix.storage.chunk_rows import ChunkRow, chunk_row, copy_chunks, reserve_ids
from helix.storage.connections import Connected
from helix.storage.statements import llama_index_nodes as sql
from helix.storage.term_rows import write_terms


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
