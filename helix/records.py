"""What travels between the database and the rest of Helix: a document to write, a chunk found."""

from __future__ import annotations

from dataclasses import dataclass

ORDINAL = "ordinal"
START_CHAR = "start_char"
END_CHAR = "end_char"
"""Metadata keys of a node that its chunk's generated columns are read from."""

STORED_KEYS = (ORDINAL, START_CHAR, END_CHAR)
"""Keys that describe where a chunk lies: neither embedded nor shown to a model."""


@dataclass(frozen=True)
class DocumentRecord:
    """A document as it is written: one row, replaced with its chunks in one transaction.

    ``content_hash`` is the SHA-256 of the source's bytes in hex; ``recipe`` names the versions of
    reader and splitter. A source is unchanged when hash, recipe and title are.
    """

    source_uri: str
    title: str
    content_hash: str
    recipe: str
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk found by a search. ``distance`` is the cosine distance, 0 to 2, smaller nearer.

    ``content`` is ``documents.text[start_char:end_char]``; both are None for chunks written by
    other LlamaIndex code that did not mark them.
    """

    chunk_id: int
    document_id: int
    title: str
    source_uri: str
    ordinal: int
    content: str
    start_char: int | None
    end_char: int | None
    node_id: str
    distance: float
