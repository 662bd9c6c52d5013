"""What BM25 needs of each chunk: one row of ``chunk_terms``, written with the chunk's own.

``keys`` are what the inverted index has. A term has one 64-bit key, and one more at 2, 4 and 8
occurrences each, so that of a frequent term only the chunks that it matters most in need be read.
``impacts`` holds ``tf / (tf + K)`` of each term, K by the chunk's length at a nominal mean length:
one inner product orders candidates, and tf, which true BM25 needs, can be read back from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from operator import itemgetter
from struct import Struct
from typing import NamedTuple

import numpy as np
from llama_index.core.schema import BaseNode, MetadataMode

from helix.domain.scope import DEFAULT_TENANT
from helix.language.terms import ENGLISH, term_counts
from helix.storage.connections import Connected

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


_IDS = "SELECT document_id, id, node_id FROM chunks WHERE tenant_id = %s AND node_id = ANY(%s)"
_DELETE = """
DELETE FROM chunk_terms WHERE chunk_id IN (
    SELECT id FROM chunks WHERE tenant_id = %s AND node_id = ANY(%s))
"""
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


class TermRow(NamedTuple):
    """What ``chunk_terms`` has of a chunk; ``impacts`` by slot, ascending."""

    length: int
    keys: list[int]
    impacts: dict[int, float]

    def packed(self, tenant: bytes, document_id: int, chunk_id: int) -> bytes:
        """A row of binary COPY into ``_COLUMNS``: the size of each field, and its bytes.

        An array is (dimensions, nulls, type, size, first index) and its fields; a sparsevec
        (dimensions, numbers, 0), their places and the numbers (pgvector's sparsevec_recv).
        """
        keys, slots = len(self.keys), len(self.impacts)
        elements = np.empty(keys, _ELEMENT)
        elements["size"], elements["key"] = 8, self.keys
        return b"".join(
            (
                _FIELDS.pack(6, len(tenant)), tenant,
                _NUMBERS.pack(8, document_id, 8, chunk_id, 4, self.length),
                _ARRAY.pack(20 + 12 * keys, 1, 0, _INT8, keys, 1), elements.tobytes(),
                _SPARSE.pack(12 + 8 * slots, SLOTS, slots, 0),
                np.fromiter(self.impacts, ">i4", slots).tobytes(),
                np.fromiter(self.impacts.values(), ">f4", slots).tobytes(),
            )
        )  # fmt: skip


_INT8 = 20  # the type's number in every Postgres
_ELEMENT = np.dtype([("size", ">i4"), ("key", ">i8")])
_FIELDS, _NUMBERS = Struct(">hi"), Struct(">iqiqii")
_ARRAY, _SPARSE = Struct(">iiiiii"), Struct(">iiii")
_HEAD, _TAIL = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"


def term_row(counts: Mapping[str, int], tenant: str = DEFAULT_TENANT) -> TermRow:
    """The row of a tenant's chunk that has each of these terms so often (``term_counts``)."""
    length = sum(counts.values())
    softening = K1 * (1 - B + B * length / NOMINAL_LENGTH)
    most = sorted(counts.items(), key=itemgetter(1), reverse=True)[:_MOST_TERMS]
    keys: list[int] = []
    impacts: dict[int, float] = {}
    for term, count in most:
        key = key_of(term, tenant)
        keys.append(key)
        if count > 1:
            keys += [key + level for level, least in enumerate(LEVELS[1:], 1) if count >= least]
        impacts[(key >> 2) % SLOTS] = count / (count + softening)
    # numbers alone are sorted several times as quickly as pairs
    return TermRow(length, keys, {slot: impacts[slot] for slot in sorted(impacts)})


def searched_text(title: str | None, context: str | None, content: str) -> str:
    """What a chunk is found by: its text, with the title and headings that it lies under."""
    return "\n".join(str(part) for part in (title, context, content) if part)


def write_terms(
    connection: Connected, nodes: Iterable[BaseNode], tenant: str, language: str = ENGLISH
) -> None:
    """Make the terms of ``nodes`` those of their stored chunks, in the caller's transaction."""
    rows = {node.node_id: node_row(node, tenant, language) for node in nodes}
    if rows:
        connection.execute(_DELETE, (tenant, list(rows)))
        insert_terms(connection, tenant, rows)


def insert_terms(connection: Connected, tenant: str, rows: Mapping[str, TermRow]) -> None:
    """Write the terms of a tenant's stored chunks that have none, by node id."""
    if rows:
        found = connection.execute(_IDS, (tenant, list(rows))).fetchall()
        _copy(connection, ((tenant, *ids, rows[node_id]) for *ids, node_id in found))


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
                (
                    tenant, document, chunk,
                    term_row(term_counts(searched_text(*text), language), tenant),
                )
                for tenant, document, chunk, language, *text in found
            ),
        )  # fmt: skip
    return locked


def node_row(node: BaseNode, tenant: str, language: str) -> TermRow:
    """The terms of a tenant's chunk and of what it lies under."""
    title, context = (node.metadata.get(key) for key in ("title", "context"))
    text = searched_text(title, context, node.get_content(MetadataMode.NONE))
    return term_row(term_counts(text, language), tenant)


def _copy(connection: Connected, rows: Iterable[tuple[str, int, int, TermRow]]) -> None:
    """Insert rows of (tenant, document, chunk, terms).

    psycopg would take each key for an object of its own: half of what a row costs.
    """
    with connection.cursor().copy(_COPY) as copy:
        copy.write(_HEAD)
        for tenant, document_id, chunk_id, row in rows:
            copy.write(row.packed(tenant.encode(), document_id, chunk_id))
        copy.write(_TAIL)
