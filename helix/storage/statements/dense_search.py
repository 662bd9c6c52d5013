"""The search by distance alone."""

from __future__ import annotations

from functools import lru_cache

from helix.storage.statements.hits import COLUMNS, JOIN
from helix.storage.statements.scopes import near_ctes, scope_ctes


@lru_cache
def dense_statement(narrowed_by: tuple[str, ...]) -> str:
    """The search of a scope that these fields narrow.

    ``border`` is the distance of the last chunk that the index listed: it tells the caller whether
    one that was not listed, by its half precision, could be nearer than the last hit.
    """
    return f"""
WITH {scope_ctes(narrowed_by)} {near_ctes(narrowed_by)}
SELECT {COLUMNS}, (SELECT max(distance) FROM near) AS border
FROM (SELECT * FROM near ORDER BY distance, id LIMIT %(top_k)s) h {JOIN}
ORDER BY h.distance, h.id
"""
