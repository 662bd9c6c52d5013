"""Searches by what a scope allows: put together of constant texts, with values only bound."""

from __future__ import annotations

from functools import lru_cache

from helix.storage.indexes import HALF
from helix.storage.statements import metadata

# For the search's own transaction. `relaxed_order` makes a filtered scan of the vector index go on
# until it has k rows, or has seen max_scan_tuples, or its memory is full. What it brings is put in
# order afterwards: `strict_order` drops what it comes upon late, finds less and costs twice as much
# of a tenth of the chunks (docs/decisions/0091-spaces.md). The planner knows neither a tenant's
# share nor how few rows come of a CTE, and would read a table whole, sort it or start workers for
# it, where an index finds the rows: without the last five it takes the index.
SEARCH_SETTINGS = """,
set_config('hnsw.ef_search', '{ef_search}', true),
set_config('hnsw.iterative_scan', 'relaxed_order', true),
set_config('hnsw.max_scan_tuples', '20000', true),
set_config('hnsw.scan_mem_multiplier', '8', true),
set_config('enable_seqscan', 'off', true),
set_config('enable_sort', 'off', true),
set_config('enable_hashjoin', 'off', true),
set_config('enable_mergejoin', 'off', true),
set_config('max_parallel_workers_per_gather', '0', true)
"""


# By the document's facts, as names that are folded the same way on both sides.
_NAMED = """EXISTS (
    SELECT FROM document_names n WHERE n.tenant_id = %(tenant)s AND n.document_id = documents.id
    AND n.kind = '{kind}' AND n.name {condition})"""

# By the fields of a scope that narrow it.
_CONDITIONS = {
    "document_ids": "id = ANY(%(document_ids)s::bigint[])",
    "source_prefix": "starts_with(source_uri, %(source_prefix)s::text)",
    "tags": "tags @> %(tags)s::text[]",
    "since": "updated_at >= %(since)s::timestamptz",
    "until": "updated_at <= %(until)s::timestamptz",
    "company": _NAMED.format(kind="company", condition="= ANY(%(company)s::text[])"),
    "kind": _NAMED.format(kind="kind", condition="= %(kind)s::text"),
    # the first by its place in the order of the ids: && goes through all of them for each document
    "spaces": """((%(spaces)s::bigint[])[width_bucket(spaces[1], %(spaces)s::bigint[])] = spaces[1]
        OR cardinality(spaces) > 1 AND spaces && %(spaces)s::bigint[])""",
    "as_of": "true",
}

# `few`: so few chunks that comparing them all costs less than the index may, which has to go past
# those that are not wanted: about 150 N / n tuples of a table of N for n that lie among them at
# random, and far more where what is near to the question is all another's.
LEAST_FEW = 2000

# Asked of the statistics: counting would cost what it is to spare.
_FEW = """
few AS MATERIALIZED (
    SELECT greatest({least}, sqrt(150 * n){far})::bigint AS most
    FROM (SELECT greatest(reltuples, 0) AS n FROM pg_class WHERE oid = 'chunks'::regclass) counted
),
"""

# Where what is near to the question may be all another's. Spaces lie among the others' as documents
# do, and of each question of theirs it would be asked.
_FAR = ", least(n / 10, 10000)"

# The whole library: BM25 has counted its chunks.
_OF_TENANT = """
size AS MATERIALIZED (
    SELECT coalesce(sum(n) BETWEEN 1 AND (SELECT most FROM few), false) AS is_few
    FROM term_statistics WHERE tenant_id = %(tenant)s AND key = 0
),
"""

# Some documents: counted no further than it takes to know that they are not few.
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

# As the library stood at a moment: no index is of that, and all is compared.
_THEN = """
allowed AS MATERIALIZED (
    SELECT id FROM documents WHERE tenant_id = %(tenant)s AND {conditions}
),
size AS MATERIALIZED (SELECT true AS is_few),
"""

# What somebody may read is listed, up to half of the documents: of more, the documents of what is
# found are looked up. By the first space from an index alone, which one search of it gives all of;
# the further spaces of documents have an index of their own. Whether it is few is told by how many
# documents have that many chunks by the statistics.
_READABLE = """
mine AS MATERIALIZED (SELECT current_setting('helix.spaces', true)::bigint[] AS ids),
few_documents AS MATERIALIZED (
    SELECT most, CASE WHEN is_most THEN most
        ELSE greatest(most, least(documents / 2, 3000)) END AS listed
    FROM (
        SELECT d.reltuples AS documents, cardinality(ids) > s.reltuples / 2 AS is_most,
            ceil(most * greatest(d.reltuples, 1) / greatest(c.reltuples, 1))::bigint AS most
        FROM mine, few, pg_class d, pg_class c, pg_class s
        WHERE d.oid = 'documents'::regclass AND c.oid = 'chunks'::regclass
            AND s.oid = 'spaces'::regclass) estimated
),
allowed AS MATERIALIZED (
    SELECT id FROM readable_documents
    WHERE tenant_id = %(tenant)s AND spaces[1] = ANY((SELECT ids FROM mine)::bigint[])
    UNION ALL
    SELECT id FROM readable_documents
    WHERE tenant_id = %(tenant)s AND cardinality(spaces) > 1 AND spaces && (SELECT ids FROM mine)
        AND NOT coalesce(spaces[1] = ANY((SELECT ids FROM mine)::bigint[]), false)
    LIMIT (SELECT listed + 1 FROM few_documents)
),
size AS MATERIALIZED (
    SELECT n <= listed AS is_listed, n <= least(listed, most) AS is_few
    FROM few_documents, (SELECT count(*) AS n FROM allowed) counted
),
"""

# Of the allowed documents, without a join: of a moment all would be gone through for each document.
THEIRS = """(
    SELECT * FROM {table} WHERE coalesce(document_id IN (SELECT id FROM allowed), false)) {name}"""

# All that may be read, few or many. OFFSET 0: the documents first.
_ALL_READABLE = """(
        SELECT id FROM allowed WHERE (SELECT is_listed FROM size)
        UNION ALL
        SELECT id FROM readable_documents
        WHERE tenant_id = %(tenant)s AND NOT (SELECT is_listed FROM size)
        OFFSET 0) a
     JOIN chunks c ON c.document_id = a.id"""

# The index is of the vectors at half precision: it chooses what is listed, and the distance of each
# is that of the vectors as they are. Without its own SELECT the question's vector would be halved
# for every row.
_INDEXED = """
    SELECT id, embedding <=> %(vector)b AS distance FROM chunks
    WHERE tenant_id = %(tenant)s AND NOT (SELECT is_few FROM size) {among}
    ORDER BY embedding::{half} <=> (SELECT %(vector)b::{half}) LIMIT %(listed)s
"""

# With the owner's rights (db/schema.sql), for its policy would be asked of all that it comes upon.
_INDEXED_READABLE = """
    SELECT id, distance FROM readable_chunks_near(%(vector)b::vector, %(listed)s::integer,
        CASE WHEN (SELECT is_listed FROM size) THEN ARRAY(SELECT id FROM allowed) END)
    WHERE NOT (SELECT is_few FROM size)
"""

# Where the index has not brought as many as were asked for, all are compared after all. `+ 0` keeps
# the vector index out, `coalesce` the join that would.
_NEAR = """
indexed AS MATERIALIZED ({indexed}),
near AS MATERIALIZED (
    (SELECT id, distance FROM indexed WHERE (SELECT count(*) FROM indexed) = %(listed)s)
    UNION ALL
    (SELECT c.id, c.embedding <=> %(vector)b AS distance FROM {exactly}
     WHERE c.tenant_id = %(tenant)s AND (SELECT count(*) FROM indexed) < %(listed)s
     ORDER BY (c.embedding <=> %(vector)b) + 0, c.id LIMIT %(listed)s)
)
"""


@lru_cache
def scope_ctes(narrowed_by: tuple[str, ...]) -> str:
    """CTEs of what may be searched: ``size`` (is_few), and ``allowed`` (id) of a narrowed scope."""
    far = "" if is_readable_alone(narrowed_by) else _FAR
    few = _FEW.format(least=LEAST_FEW, far=far)
    if not narrowed_by:
        return few + _OF_TENANT
    if "as_of" in narrowed_by:
        return _THEN.format(conditions=scope_condition(narrowed_by))
    if is_readable_alone(narrowed_by):
        return few + _READABLE
    return few + _ALLOWED.format(conditions=scope_condition(narrowed_by))


def is_readable_alone(narrowed_by: tuple[str, ...]) -> bool:
    """True if a scope is narrowed by what may be read, and by nothing else."""
    return narrowed_by == ("spaces",)


def scope_condition(narrowed_by: tuple[str, ...]) -> str:
    """The condition on ``documents`` of a scope that is narrowed by these."""
    return " AND ".join(map(_condition, narrowed_by)) or "true"


def _condition(name: str) -> str:
    return metadata.condition(name) if metadata.is_condition(name) else _CONDITIONS[name]


def near_ctes(narrowed_by: tuple[str, ...]) -> str:
    """CTEs after ``scope_ctes``: ``near`` (id, distance), the nearest chunks of what they allow."""
    if not narrowed_by:
        return _near(exactly="chunks c")
    if "as_of" in narrowed_by:
        return _near(exactly=THEIRS.format(table="chunks", name="c"))
    if is_readable_alone(narrowed_by):
        return _NEAR.format(indexed=_INDEXED_READABLE, exactly=_ALL_READABLE)
    return _near(
        among="AND coalesce(document_id IN (SELECT id FROM allowed), false)",
        exactly="allowed a JOIN chunks c ON c.document_id = a.id",
    )


def _near(exactly: str, among: str = "") -> str:
    return _NEAR.format(indexed=_INDEXED.format(half=HALF, among=among), exactly=exactly)
