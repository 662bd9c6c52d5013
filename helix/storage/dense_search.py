"""Search by distance alone: the chunks of a scope nearest to a vector, in one statement."""

from __future__ import annotations

from typing import Any

from helix.domain.records import Hit
from helix.domain.scope import Scope
from helix.domain.search_space import LISTED
from helix.storage.connections import Row
from helix.storage.search_scope import Search, Vector1536, hit_of, search_values
from helix.storage.statements.dense_search import dense_statement

FEWER = 20
"""Chunks that are listed at first: the 30 more of LISTED take a tenth of the search."""
_MARGIN = 0.004
"""The most that two distances of unit vectors differ by at half precision, and not in full: each of
the vectors' numbers is off by 2**-11 of itself at most, and so is each of their lengths."""


def dense_search(vector: Vector1536, top_k: int, scope: Scope, ef_search: int) -> Search[list[Hit]]:
    """The ``top_k`` chunks of ``scope`` nearest to ``vector``, nearest first.

    Of chunks that are equally near the lower id comes first, so that a deeper search begins with
    the same chunks: for that it lists some more than it returns, as many as the index has in hand.
    The index lists by half precision. Where what it has not listed might be as near as what is
    returned, LISTED are listed in a second look.
    """
    most = max(top_k, min(LISTED, ef_search))
    listed = min(most, max(top_k, FEWER))
    values = search_values(vector, top_k, listed, scope)

    def widened(rows: list[Row]) -> dict[str, Any] | None:
        if listed == most or len(rows) < top_k:
            return None
        if rows[-1]["border"] - rows[-1]["distance"] >= _MARGIN:
            return None
        return {**values, "listed": most}

    statement = dense_statement(scope.narrowed_by)
    return Search(statement, values, scope, max(ef_search, top_k), _hits, widened)


def _hits(rows: list[Row]) -> list[Hit]:
    return [hit_of(row) for row in rows]
