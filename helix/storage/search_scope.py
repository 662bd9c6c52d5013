"""The common part of searches: their values, and their rows as hits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from pgvector import Vector

from helix.domain.records import Hit, Place
from helix.domain.scope import Scope
from helix.storage.connections import Row

_Result = TypeVar("_Result")

Vector1536 = Sequence[float] | np.ndarray[Any, np.dtype[np.float32]]

_COLUMNS_AS_STORED = (
    "chunk_id", "document_id", "title", "source_uri", "ordinal", "content", "start_char",
    "end_char", "node_id", "distance", "version_id",
)  # fmt: skip


@dataclass(frozen=True)
class Search(Generic[_Result]):
    """A search in ``scope`` that ChunkStore runs, with ``ef_search`` candidates of the index.

    The column ``identity`` of every row is the embedder that filled the database. Where ``widened``
    gives values for its rows, the rows of the same statement with these are the search's.
    """

    statement: str
    values: dict[str, Any]
    scope: Scope
    ef_search: int
    read: Callable[[list[Row]], _Result]
    widened: Callable[[list[Row]], dict[str, Any] | None] | None = None


def search_values(vector: Vector1536, top_k: int, listed: int, scope: Scope) -> dict[str, Any]:
    """The bound values of either search; ``listed`` is how many ``near`` brings."""
    return {
        "vector": vector_of(vector),
        "top_k": top_k,
        "listed": listed,
        "tenant": scope.tenant,
        **scope.filters(),
    }


def vector_of(numbers: Vector1536) -> Vector:
    """``numbers`` as they are bound; a list is packed as it is, an array costs a copy less."""
    if isinstance(numbers, list):
        return Vector(numbers)
    return Vector(np.asarray(numbers, dtype=np.float32))


def hit_of(row: Row) -> Hit:
    """A row with ``hits.COLUMNS``; what is not of the kind that Hit says is left out."""
    page, heading_path, label = _section_of(row)
    known = {column: row[column] for column in _COLUMNS_AS_STORED}
    facts = {name: fact for name, fact in row["facts"].items() if isinstance(fact, str)}
    return Hit(**known, page=page, heading_path=heading_path, label=label, facts=facts)


def place_of(row: Row) -> Place:
    """A row of STORED_PLACES as ``Hit.place`` has it."""
    return row["title"], row["start_char"], row["end_char"], *_section_of(row)


def _section_of(row: Row) -> tuple[int | None, tuple[str, ...], str]:
    page, path, label = row["page"], row["heading_path"], row["label"]
    return (
        page if type(page) is int else None,
        tuple(map(str, path)) if isinstance(path, list) else (),
        label if isinstance(label, str) else "",
    )
