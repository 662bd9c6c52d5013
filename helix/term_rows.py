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

from helix.terms import ENGLISH, terms

K1 = 0.9
B = 0.4
"""BM25's parameters, those of Anserini for BEIR, which measured best on SciFact too."""
NOMINAL_LENGTH = 200.0
"""Terms of a chunk that ``impacts`` takes for the mean; it is in stored rows: do not change it."""
SLOTS = 10**9
"""Dimensions of ``impacts``: a term's slot is its key modulo this."""
LEVELS = (1, 2, 4, 8)
"""Occurrences at which a term has a further key."""

Connected = Connection[TupleRow]
TermRow = tuple[int, list[int], SparseVector]

_IDS = "SELECT id, node_id FROM chunks WHERE node_id = ANY(%s)"
_DELETE = "DELETE FROM chunk_terms WHERE chunk_id = ANY(%s)"
_COPY = "COPY chunk_terms (chunk_id, length, keys, impacts) FROM STDIN (FORMAT BINARY)"
_LOCK_MISSING = """
SELECT c.id FROM chunks c WHERE NOT EXISTS (SELECT FROM chunk_terms t WHERE t.chunk_id = c.id)
ORDER BY c.id LIMIT %s FOR UPDATE SKIP LOCKED
"""
_MISSING = """
SELECT c.id, c.metadata_ ->> 'title', c.metadata_ ->> 'context', c.content, d.language
FROM chunks c JOIN documents d ON d.id = c.document_id
WHERE c.id = ANY(%s) AND NOT EXISTS (SELECT FROM chunk_terms t WHERE t.chunk_id = c.id)
"""


@lru_cache(maxsize=2**17)
def key_of(term: str) -> int:
    """The key of a term at its first occurrence; its lowest two bits are 0, for its levels'."""
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True) & ~3


def slot_of(key: int) -> int:
    """The dimension of ``impacts``, from 0, that a term's key has."""
    return (key >> 2) % SLOTS


def term_row(found: Sequence[str]) -> TermRow:
    """(length, keys, impacts) of a chunk with these terms, repeats included."""
    softening = K1 * (1 - B + B * len(found) / NOMINAL_LENGTH)
    keys: list[int] = []
    impacts: dict[int, float] = {}
    for term, count in Counter(found).items():
        key = key_of(term)
        keys += [key + level for level, least in enumerate(LEVELS) if count >= least]
        impacts[slot_of(key)] = count / (count + softening)
    return len(found), keys, SparseVector(impacts, SLOTS)


def searched_text(title: str | None, context: str | None, content: str) -> str:
    """What a chunk is found by: its text, with the title and headings that it lies under."""
    return "\n".join(part for part in (title, context, content) if part)


def write_terms(connection: Connected, nodes: Iterable[BaseNode], language: str = ENGLISH) -> None:
    """Make the terms of ``nodes`` those of their stored chunks, in the caller's transaction."""
    rows = {node.node_id: _row(node, language) for node in nodes}
    if not rows:
        return
    found = connection.execute(_IDS, (list(rows),)).fetchall()
    connection.execute(_DELETE, ([chunk_id for chunk_id, _ in found],))
    _copy(connection, ((chunk_id, *rows[node_id]) for chunk_id, node_id in found))


def fill_missing(connection: Connected, batch: int = 500) -> int:
    """Write the terms of at most ``batch`` chunks that have none; how many there were.

    Chunks of an older release have none, nor those that other code wrote. Needs autocommit.
    """
    with connection.transaction():
        locked = [i for (i,) in connection.execute(_LOCK_MISSING, (batch,))]
        # in a statement of its own, which sees what others wrote until the lock was had
        found = connection.execute(_MISSING, (locked,)).fetchall()
        _copy(
            connection,
            ((i, *term_row(terms(searched_text(*text), lang))) for i, *text, lang in found),
        )
    return len(locked)


def _row(node: BaseNode, language: str) -> TermRow:
    title, context = (node.metadata.get(key) for key in ("title", "context"))
    text = searched_text(title, context, node.get_content(MetadataMode.NONE))
    return term_row(terms(text, language))


def _copy(connection: Connected, rows: Iterable[tuple[Any, ...]]) -> None:
    with connection.cursor().copy(_COPY) as copy:
        copy.set_types(["int8", "int4", "int8[]", "sparsevec"])
        for row in rows:
            copy.write_row(row)
