"""A search as a value: its statement and bound values, and what its rows are read as."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from psycopg.rows import TupleRow

from helix.contract import DEFAULT_DENSE_WEIGHT
from helix.hybrid_sql import LISTED, Fusion, hybrid_sql, term_values
from helix.records import Candidate, Found, Hit
from helix.scope import Scope
from helix.search_sql import dense_sql, hit_of, narrowing, search_values

DEFAULT_FUSION = Fusion(DEFAULT_DENSE_WEIGHT)

Vector1536 = Sequence[float] | np.ndarray[Any, np.dtype[np.float32]]

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Search(Generic[_Result]):
    """What ChunkStore runs, as ``tenant``, keeping ``ef_search`` candidates of the vector index.

    The last column of every row is the embedder that filled the database.
    """

    statement: str
    values: dict[str, Any]
    tenant: str
    ef_search: int
    read: Callable[[list[TupleRow]], _Result]


def nearest(vector: Vector1536, top_k: int, scope: Scope, ef_search: int) -> Search[list[Hit]]:
    """The ``top_k`` chunks of ``scope`` nearest to ``vector``, nearest first."""
    values = search_values(vector, top_k, top_k, scope)
    statement = dense_sql(narrowing(scope))
    return Search(statement, values, scope.tenant, max(ef_search, top_k), _hits)


def best(
    question: str, vector: Vector1536, top_k: int, scope: Scope, fusion: Fusion, ef_search: int
) -> Search[Found]:
    """The ``top_k`` chunks of ``scope`` best by distance and BM25 together, best first.

    The index keeps half of ``ef_search``: what it misses BM25 mostly brings, with its distance. Of
    the first ten of 100,000 chunks 99.5% are those that comparing all gives, with the whole 100%.
    """
    values = search_values(vector, top_k, LISTED, scope)
    values |= term_values(question, scope.tenant) | {"dense_weight": fusion.dense_weight}
    statement = hybrid_sql(narrowing(scope))
    return Search(statement, values, scope.tenant, max(ef_search // 2, LISTED), _found)


def _hits(rows: list[TupleRow]) -> list[Hit]:
    return [hit_of(row) for row in rows]


def _found(rows: list[TupleRow]) -> Found:
    if not rows:
        return Found([], None)
    candidates = [
        Candidate(hit, fused, near_rank, score, score_rank if score else None, together or 0)
        for hit, (together, _, score, fused, near_rank, score_rank) in zip(
            _hits(rows), (row[-7:-1] for row in rows), strict=True
        )
    ]
    frequencies, chunks, words, identifiers = rows[0][-11:-7]
    return Found(candidates, rows[0][-6], words, identifiers, 1, tuple(frequencies or ()), chunks)
