"""The searches of serving as SQL: what may be searched, how, and what a row of the answer holds.

A statement is put together of constant texts, by what its scope narrows; values are only bound.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from pgvector import Vector
from psycopg.rows import TupleRow

from helix.records import Hit, Place
from helix.scope import Scope

# For the search's own transaction. `strict_order` makes a filtered scan of the vector index go on
# until it has k rows, or has seen max_scan_tuples, or its memory is full. The planner knows neither
# a tenant's share nor how few rows come of a CTE, and would read a table whole, sort it or start
# workers for it, where an index finds the rows: without the last five it takes the index.
SEARCH_SETTINGS = """,
set_config('hnsw.ef_search', '{ef_search}', true),
set_config('hnsw.iterative_scan', 'strict_order', true),
set_config('hnsw.max_scan_tuples', '20000', true),
set_config('hnsw.scan_mem_multiplier', '8', true),
set_config('enable_seqscan', 'off', true),
set_config('enable_sort', 'off', true),
set_config('enable_hashjoin', 'off', true),
set_config('enable_mergejoin', 'off', true),
set_config('max_parallel_workers_per_gather', '0', true)
"""

_CONDITIONS = {
    "document_ids": "id = ANY(%(document_ids)s::bigint[])",
    "source_prefix": "starts_with(source_uri, %(source_prefix)s::text)",
    "tags": "tags @> %(tags)s::text[]",
    "since": "updated_at >= %(since)s::timestamptz",
    "until": "updated_at <= %(until)s::timestamptz",
}
# `few`: so few chunks that comparing them all costs less than the index may, which has to go past
# those that are not wanted: about 150 N / n tuples of a table of N for n that lie among them at
# random, and far more where what is near to the question is all another's.
LEAST_FEW = 2000
_FEW = """
few AS MATERIALIZED (
    SELECT greatest({least}, sqrt(150 * n), least(n / 10, 10000))::bigint AS most
    FROM (SELECT greatest(reltuples, 0) AS n FROM pg_class WHERE oid = 'chunks'::regclass) counted
),
"""
_OF_TENANT = """
{few}
size AS MATERIALIZED (
    SELECT coalesce(sum(n) BETWEEN 1 AND (SELECT most FROM few), false) AS is_few
    FROM term_statistics WHERE tenant_id = %(tenant)s AND key = 0
),
"""
_ALLOWED = """
allowed AS MATERIALIZED (
    SELECT id FROM documents WHERE tenant_id = %(tenant)s AND {conditions}
),
{few}
size AS MATERIALIZED (
    SELECT count(*) <= (SELECT most FROM few) AS is_few FROM (
        SELECT FROM allowed a JOIN chunks c ON c.document_id = a.id
        LIMIT (SELECT most FROM few) + 1) counted
),
"""
# Where the index has not brought as many as were asked for, all are compared after all. `+ 0` keeps
# the vector index out, `coalesce` the join that would.
_NEAR = """
indexed AS MATERIALIZED (
    SELECT id, embedding <=> %(vector)b AS distance FROM chunks
    WHERE tenant_id = %(tenant)s AND NOT (SELECT is_few FROM size) {among}
    ORDER BY embedding <=> %(vector)b LIMIT %(listed)s
),
near AS MATERIALIZED (
    (SELECT id, distance FROM indexed WHERE (SELECT count(*) FROM indexed) = %(listed)s)
    UNION ALL
    (SELECT c.id, c.embedding <=> %(vector)b AS distance FROM {exactly}
     WHERE c.tenant_id = %(tenant)s AND (SELECT count(*) FROM indexed) < %(listed)s
     ORDER BY (c.embedding <=> %(vector)b) + 0, c.id LIMIT %(listed)s)
)
"""
ALL_OF_TENANT = {"among": "", "exactly": "chunks c"}
OF_ALLOWED = {
    "among": "AND coalesce(document_id IN (SELECT id FROM allowed), false)",
    "exactly": "allowed a JOIN chunks c ON c.document_id = a.id",
}
# The metadata is unpacked once a row, of the k rows only, and comes as jsonb, for code that is not
# ours may have put anything under our keys.
FOUND = """
c.id, c.document_id, d.title, d.source_uri, c.ordinal, c.content, c.start_char, c.end_char,
c.node_id, h.distance, m.page, m.heading_path, m.label
"""
FROM_FOUND = """
JOIN chunks c ON c.id = h.id AND c.tenant_id = %(tenant)s
JOIN documents d ON d.id = c.document_id AND d.tenant_id = %(tenant)s
CROSS JOIN LATERAL
    jsonb_to_record(c.metadata_) AS m (page jsonb, heading_path jsonb, label jsonb)
"""
_DENSE = """
WITH {within} {near}
SELECT {found}, (SELECT identity FROM embedding_space) AS identity
FROM (SELECT * FROM near ORDER BY distance, id LIMIT %(top_k)s) h {from_found}
ORDER BY h.distance, h.id
"""


STORED_PLACES = """
SELECT c.id, d.title, c.start_char, c.end_char, m.page, m.heading_path, m.label
FROM chunks c JOIN documents d ON d.id = c.document_id AND d.tenant_id = %(tenant)s
CROSS JOIN LATERAL
    jsonb_to_record(c.metadata_) AS m (page jsonb, heading_path jsonb, label jsonb)
WHERE c.tenant_id = %(tenant)s AND c.id = ANY(%(ids)s)
"""


def narrowing(scope: Scope) -> tuple[str, ...]:
    """The names of the fields that narrow ``scope``: what a statement is put together by."""
    return tuple(name for name, value in scope.filters().items() if value is not None)


@lru_cache
def candidates_sql(narrowed_by: tuple[str, ...]) -> tuple[str, str]:
    """(what may be searched, its ``near``est chunks) as CTEs, for a scope narrowed by these."""
    few = _FEW.format(least=LEAST_FEW)
    if not narrowed_by:
        return _OF_TENANT.format(few=few), _NEAR.format(**ALL_OF_TENANT)
    conditions = " AND ".join(_CONDITIONS[name] for name in narrowed_by)
    return _ALLOWED.format(few=few, conditions=conditions), _NEAR.format(**OF_ALLOWED)


@lru_cache
def dense_sql(narrowed_by: tuple[str, ...]) -> str:
    """The search by distance alone."""
    within, near = candidates_sql(narrowed_by)
    return _DENSE.format(within=within, near=near, found=FOUND, from_found=FROM_FOUND)


def search_values(vector: Any, top_k: int, listed: int, scope: Scope) -> dict[str, Any]:
    """The bound values of either search; ``listed`` is how many ``near`` brings."""
    narrowed = {name: value for name, value in scope.filters().items() if value is not None}
    return {
        "vector": Vector(np.asarray(vector, dtype=np.float32)),
        "top_k": top_k,
        "listed": listed,
        "tenant": scope.tenant,
        **narrowed,
    }


def hit_of(row: TupleRow) -> Hit:
    """A row of any search; of its place, what is not of the kind that Hit says is left out."""
    values: TupleRow = (*row[:10], *_marks(*row[10:13]))
    return Hit(*values)


def place_of(row: TupleRow) -> Place:
    """A row of STORED_PLACES as ``Hit.place`` has it."""
    _, title, start, end, *marks = row
    return (title, start, end, *_marks(*marks))


def _marks(page: Any, heading_path: Any, label: Any) -> tuple[int | None, tuple[str, ...], str]:
    return (
        page if type(page) is int else None,
        tuple(map(str, heading_path)) if isinstance(heading_path, list) else (),
        label if isinstance(label, str) else "",
    )
