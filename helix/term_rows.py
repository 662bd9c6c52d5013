"""What BM25 needs of each chunk: one row of ``chunk_terms``, written with the chunk's own.

``keys`` are what the inverted index has. A term has one 64-bit key, and one more at 2, 4 and 8
occurrences each, so that of a frequent term only the chunks that it matters most in need be read.
``impacts`` holds ``tf / (tf + K)`` of each term, K by the chunk's length at a nominal mean length:
one inner product orders candidates, and tf, which true BM25 needs, can be read back from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from llama_index.core.schema import BaseNode, MetadataMode
from pgvector import SparseVector
from psycopg import Connection
from psycopg.rows import TupleRow

from helix.scope import DEFAULT_TENANT
from helix.terms import ENGLISH, terms

K1 = 0.9
B = 0.4
"""BM25's parameters, those of Anserini for BEIR, which measured best on SciFact too."""
NOMINAL_LENGTH = 200.0
"""Terms of a chunk that ``impacts`` takes for the mean; it is in stored rows: do not change it."""
_MOST_TERMS = 15_000  # a sparsevec holds 16,000 numbers; no chunk that Helix makes has as many
SLOTS = 10**9
"""Dimensions of ``impacts``: a term's slot is its key modulo this."""
LEVELS = (1, 2, 4, 8)
"""Occurrences at which a term has a further key."""

Connected = Connection[TupleRow]
TermRow = tuple[int, list[int], SparseVector]

_IDS = "SELECT document_id, id, node_id FROM chunks WHERE tenant_id = %s AND node_id = ANY(%s)"
_DELETE = "DELETE FROM chunk_terms WHERE chunk_id = ANY(%s)"
_COPY = (
    "COPY chunk_terms (tenant_id, document_id, chunk_id, length, keys, impacts)"
    " FROM STDIN (FORMAT BINARY)"
)
_LOCK_MISSING = """
SELECT c.id FROM chunks c
WHERE c.id > %s AND NOT EXISTS (SELECT FROM chunk_terms t WHERE t.chunk_id = c.id)
ORDER BY c.id LIMIT %s FOR UPDATE SKIP LOCKED
"""
_MISSING = """
SELECT c.tenant_id, c.document_id, c.id, d.language,
       c.metadata_ ->> 'title', c.metadata_ ->> 'context', c.content
FROM chunks c JOIN documents d ON d.id = c.document_id
WHERE c.id = ANY(%s) AND NOT EXISTS (SELECT FROM chunk_terms t WHERE t.chunk_id = c.id)
"""


@lru_cache(maxsize=2**17)
def key_of(term: str, tenant: str = DEFAULT_TENANT) -> int:
    """The key of a tenant's term at its first occurrence; its lowest two bits are 0, for levels'.

    Each tenant has keys of its own, so that looking one up reads nobody else's chunks.
    """
    salt = b"" if tenant == DEFAULT_TENANT else blake2b(tenant.encode(), digest_size=16).digest()
    encoded = term.encode("utf-8", "surrogatepass")
    digest = blake2b(encoded, digest_size=8, key=salt).digest()
    return int.from_bytes(digest, "big", signed=True) & ~3


def slot_of(key: int) -> int:
    """The dimension of ``impacts``, from 0, that a term's key has."""
    return (key >> 2) % SLOTS


def term_row(found: Sequence[str], tenant: str = DEFAULT_TENANT) -> TermRow:
    """(length, keys, impacts) of a tenant's chunk with these terms, repeats included."""
    softening = K1 * (1 - B + B * len(found) / NOMINAL_LENGTH)
    keys: list[int] = []
    impacts: dict[int, float] = {}
    for term, count in Counter(found).most_common(_MOST_TERMS):
        key = key_of(term, tenant)
        keys.append(key)
        if count > 1:
            keys += [key + level for level, least in enumerate(LEVELS[1:], 1) if count >= least]
        impacts[slot_of(key)] = count / (count + softening)
    return len(found), keys, SparseVector(impacts, SLOTS)


def searched_text(title: str | None, context: str | None, content: str) -> str:
    """What a chunk is found by: its text, with the title and headings that it lies under."""
    return "\n".join(str(part) for part in (title, context, content) if part)


def write_terms(
    connection: Connected, nodes: Iterable[BaseNode], tenant: str, language: str = ENGLISH
) -> None:
    """Make the terms of ``nodes`` those of their stored chunks, in the caller's transaction."""
    rows = {node.node_id: _row(node, tenant, language) for node in nodes}
    if not rows:
        return
    found = connection.execute(_IDS, (tenant, list(rows))).fetchall()
    connection.execute(_DELETE, ([chunk_id for _, chunk_id, _ in found],))
    _copy(connection, ((tenant, *ids, *rows[node_id]) for *ids, node_id in found))


def fill_missing(connection: Connected, after: int = 0, batch: int = 500) -> list[int]:
    """Write the terms of ``batch`` chunks at most beyond the id ``after`` that have none: the ids.

    Chunks of an older release have none, nor those that other code wrote. Needs autocommit.
    """
    with connection.transaction():
        locked = [i for (i,) in connection.execute(_LOCK_MISSING, (after, batch))]
        # in a statement of its own, which sees what others wrote until the lock was had
        found = connection.execute(_MISSING, (locked,)).fetchall()
        _copy(
            connection,
            (
                (tenant, document, chunk, *term_row(terms(searched_text(*text), language), tenant))
                for tenant, document, chunk, language, *text in found
            ),
        )
    return locked


def _row(node: BaseNode, tenant: str, language: str) -> TermRow:
    title, context = (node.metadata.get(key) for key in ("title", "context"))
    text = searched_text(title, context, node.get_content(MetadataMode.NONE))
    return term_row(terms(text, language), tenant)


def _copy(connection: Connected, rows: Iterable[tuple[Any, ...]]) -> None:
    with connection.cursor().copy(_COPY) as copy:
        copy.set_types(["text", "int8", "int8", "int4", "int8[]", "sparsevec"])
        for row in rows:
            copy.write_row(row)
