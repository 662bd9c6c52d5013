"""The rows of ``chunk_terms``: what BM25 needs of each chunk, written with the chunk's own."""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import Any

from llama_index.core.schema import BaseNode, MetadataMode
from llama_index.core.vector_stores.utils import metadata_dict_to_node

from helix.domain.records import EMBEDDING_KEY
from helix.language.identification import ENGLISH
from helix.language.terms import language_of
from helix.storage.connections import Connected
from helix.storage.packed_terms import NO_TERMS, PackedTerms, digest_of, packed_terms, searched_text
from helix.storage.statements import terms as sql


def embedded_text(content: str, metadata: dict[str, Any]) -> str:
    """The text that ingest embedded of a chunk: title, headings and context before its content.

    A row that LlamaIndex did not write was embedded as it is.
    """
    if "_node_content" not in metadata:
        return content
    node = metadata_dict_to_node(metadata, content)
    node.metadata.pop(EMBEDDING_KEY, None)  # known only once the text has been put together
    return str(node.get_content(MetadataMode.EMBED))


_FIELDS, _NUMBERS = Struct(">hi"), Struct(">iqiq")
_HEAD, _TAIL = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"


def write_terms(
    connection: Connected, nodes: Iterable[BaseNode], tenant: str, language: str = ENGLISH
) -> None:
    """Make the terms of ``nodes`` those of their stored chunks, in the caller's transaction."""
    rows = {node.node_id: node_row(node, tenant, language) for node in nodes}
    if rows:
        connection.execute(sql.DELETE, (tenant, list(rows)))
        found = connection.execute(sql.IDS, (tenant, list(rows))).fetchall()
        copy_terms(connection, ((tenant, *ids, rows[node_id]) for *ids, node_id in found))


def fill_missing(connection: Connected, after: int = 0, batch: int = 500) -> list[int]:
    """Write the terms of ``batch`` chunks at most beyond the id ``after`` that have none: the ids.

    Chunks of an older release have none, nor those that other code wrote. Needs autocommit.
    """
    with connection.transaction():
        locked = [i for (i,) in connection.execute(sql.LOCK_MISSING, (after, batch))]
        # in a statement of its own, which sees what others wrote until the lock was had
        _fill(connection, locked)
    return locked


def tell_languages(connection: Connected, batch: int = 20) -> int:
    """Tell the language of ``batch`` documents at most that have none, with their terms: how many.

    Those have none that an older release stored as not English. Needs autocommit.
    """
    with connection.transaction():
        untold = connection.execute(sql.UNTOLD, (batch,)).fetchall()
        for document, text in untold:
            connection.execute(sql.TELL, (language_of(text), document))
        dropped = connection.execute(sql.DROP, ([document for document, _ in untold],)).fetchall()
        _fill(connection, [chunk for (chunk,) in dropped])
    return len(untold)


def _fill(connection: Connected, chunks: list[int]) -> None:
    """Write the terms of those of ``chunks``, by id, that have none."""
    found = connection.execute(sql.MISSING, (chunks,)).fetchall()
    copy_terms(
        connection,
        (
            (tenant, document, chunk, packed_terms(searched_text(*text), language, tenant))
            for tenant, document, chunk, language, *text in found
        ),
    )


def node_row(node: BaseNode, tenant: str, language: str, made: PackedTerms = NO_TERMS) -> bytes:
    """The packed terms of a tenant's chunk and of what it lies under: of ``made``, or made here."""
    text = text_of(node)
    found = made.get(digest_of(text, language, tenant)) if made else None
    return found or packed_terms(text, language, tenant)


def text_of(node: BaseNode) -> str:
    """The text that a chunk is found by."""
    title, context = (node.metadata.get(key) for key in ("title", "context"))
    return searched_text(title, context, node.get_content(MetadataMode.NONE))


def copy_terms(connection: Connected, rows: Iterable[tuple[str, int, int, bytes]]) -> None:
    """Insert rows of (tenant, document, chunk, packed terms), of chunks that have none.

    psycopg would take each key for an object of its own: half of what a row costs.
    """
    with connection.cursor().copy(sql.COPY) as copy:
        copy.write(_HEAD)
        for tenant, document_id, chunk_id, terms in rows:
            whose = tenant.encode()
            numbers = _NUMBERS.pack(8, document_id, 8, chunk_id)
            copy.write(b"".join((_FIELDS.pack(6, len(whose)), whose, numbers, terms)))
        copy.write(_TAIL)
