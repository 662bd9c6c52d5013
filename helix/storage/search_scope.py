"""The common part of searches: how a scope narrows a statement, its settings, its rows as hits.

A statement is put together of constant texts, by what its scope narrows; values are only bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

import numpy as np
from pgvector import Vector

from helix.domain.records import Hit, Place
from helix.domain.scope import Scope
from helix.storage.connections import Row
from helix.storage.indexes import HALF

_Result = TypeVar("_Result")

Vector1536 = Sequence[float] | np.ndarray[Any, np.dtype[np.float32]]

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

_NAMED = """EXISTS (
    SELECT FROM document_names n WHERE n.tenant_id = %(tenant)s AND n.document_id = documents.id
    AND n.kind = '{kind}' AND n.name {condition})"""
_CONDITIONS = {
    "document_ids": "id = ANY(%(document_ids)s::bigint[])",
    "source_prefix": "starts_with(source_uri, %(source_prefix)s::text)",
    "tags": "tags @> %(tags)s::text[]",
    "since": "updated_at >= %(since)s::timestamptz",
    "until": "updated_at <= %(until)s::timestamptz",
    "company": _NAMED.format(kind="company", condition="= ANY(%(company)s::text[])"),
    "kind": _NAMED.format(kind="kind", condition="= %(kind)s::text"),
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
size AS MATERIALIZED (
    SELECT coalesce(sum(n) BETWEEN 1 AND (SELECT most FROM few), false) AS is_few
    FROM term_statistics WHERE tenant_id = %(tenant)s AND key = 0
),
"""
_ALLOWED = """
allowed AS MATERIALIZED (
    SELECT id FROM documents WHERE tenant_id = %(tenant)s AND {conditions}
),
size AS MATERIALIZED (
    SELECT count(*) <= (SELECT most FROM few) AS is_few FROM (
        SELECT FROM allowed a JOIN chunks c ON c.document_id = a.id
        LIMIT (SELECT most FROM few) + 1) counted
),
"""
# The index is of the vectors at half precision: it chooses what is listed, and the distance of each
# is that of the vectors as they are.
# Where the index has not brought as many as were asked for, all are compared after all. `+ 0` keeps
# the vector index out, `coalesce` the join that would. Without its own SELECT the question's vector
# would be halved for every row.
_NEAR = """
indexed AS MATERIALIZED (
    SELECT id, embedding <=> %(vector)b AS distance FROM chunks
    WHERE tenant_id = %(tenant)s AND NOT (SELECT is_few FROM size) {among}
    ORDER BY embedding::{half} <=> (SELECT %(vector)b::{half}) LIMIT %(listed)s
),
near AS MATERIALIZED (
    (SELECT id, distance FROM indexed WHERE (SELECT count(*) FROM indexed) = %(listed)s)
    UNION ALL
    (SELECT c.id, c.embedding <=> %(vector)b AS distance FROM {exactly}
     WHERE c.tenant_id = %(tenant)s AND (SELECT count(*) FROM indexed) < %(listed)s
     ORDER BY (c.embedding <=> %(vector)b) + 0, c.id LIMIT %(listed)s)
)
"""
# The metadata is fetched and unpacked once a row, of the k rows only: `- '{}'` takes nothing away
# and gives it unpacked, and OFFSET 0 keeps the planner from doing so for each key. It comes as
# jsonb, for code that is not ours may have put anything under our keys.
_METADATA = """
CROSS JOIN LATERAL (
    SELECT u.m -> 'page' AS page, u.m -> 'heading_path' AS heading_path, u.m -> 'label' AS label
    FROM (SELECT c.metadata_ - '{}'::text[] AS m OFFSET 0) u
) m
"""
HIT_COLUMNS = """
c.id AS chunk_id, c.document_id, d.title, d.source_uri, c.ordinal, c.content, c.start_char,
c.end_char, c.node_id, h.distance, m.page, m.heading_path, m.label, d.facts,
d.content_hash AS version_id, (SELECT identity FROM embedding_space) AS identity
"""
_COLUMNS_AS_STORED = (
    "chunk_id", "document_id", "title", "source_uri", "ordinal", "content", "start_char",
    "end_char", "node_id", "distance", "version_id",
)  # fmt: skip
# Looked up for each chunk: of a table without statistics the planner expects one row, and would
# look through all of the tenant's documents for each chunk. OFFSET 0 keeps it from joining.
_DOCUMENT = """
CROSS JOIN LATERAL (
    SELECT title, source_uri, facts, content_hash FROM documents
    WHERE tenant_id = %(tenant)s AND id = c.document_id OFFSET 0
) d
"""
JOIN_HITS = f"""
JOIN chunks c ON c.id = h.id AND c.tenant_id = %(tenant)s
{_DOCUMENT} {_METADATA}
"""
STORED_PLACES = f"""
SELECT c.id AS chunk_id, d.title, c.start_char, c.end_char, m.page, m.heading_path, m.label
FROM chunks c {_DOCUMENT} {_METADATA}
WHERE c.tenant_id = %(tenant)s AND c.id = ANY(%(ids)s)
"""


@dataclass(frozen=True)
class Search(Generic[_Result]):
    """A search that ChunkStore runs as ``tenant``, with ``ef_search`` candidates of the index.

    The column ``identity`` of every row is the embedder that filled the database. Where ``widened``
    gives values for its rows, the rows of the same statement with these are the search's.
    """

    statement: str
    values: dict[str, Any]
    tenant: str
    ef_search: int
    read: Callable[[list[Row]], _Result]
    widened: Callable[[list[Row]], dict[str, Any] | None] | None = None


@lru_cache
def scope_ctes(narrowed_by: tuple[str, ...]) -> str:
    """CTEs of what may be searched: ``size`` (is_few), and ``allowed`` (id) of a narrowed scope."""
    few = _FEW.format(least=LEAST_FEW)
    if not narrowed_by:
        return few + _OF_TENANT
    return few + _ALLOWED.format(conditions=" AND ".join(_CONDITIONS[n] for n in narrowed_by))


def scope_condition(narrowed_by: tuple[str, ...]) -> str:
    """The condition on ``documents`` of a scope that these fields narrow."""
    return " AND ".join(_CONDITIONS[name] for name in narrowed_by) or "true"


def near_ctes(narrowed_by: tuple[str, ...]) -> str:
    """CTEs after ``scope_ctes``: ``near`` (id, distance), the nearest chunks of what they allow."""
    if not narrowed_by:
        return _NEAR.format(half=HALF, among="", exactly="chunks c")
    return _NEAR.format(
        half=HALF,
        among="AND coalesce(document_id IN (SELECT id FROM allowed), false)",
        exactly="allowed a JOIN chunks c ON c.document_id = a.id",
    )


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
    """A row with HIT_COLUMNS; of its place, what is not of the kind that Hit says is left out."""
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
