"""The search by distance and BM25 together, in one statement and so one round trip."""

from __future__ import annotations

from functools import lru_cache

from helix.domain.gate import RARE_CHUNKS, RARE_SHARE
from helix.storage.packed_terms import K1, NOMINAL_LENGTH, SLOTS, B
from helix.storage.statements.hits import COLUMNS, JOIN
from helix.storage.statements.scopes import THEIRS, is_readable_alone, near_ctes, scope_ctes

# By exact BM25, of those that the nominal mean length puts first
_RESCORED = "greatest(100, %(by_words)s::integer)"

# Rows of the inverted index that a question may cost, about: shared by its terms. A term in more
# chunks than its share is looked up where it is frequent. With 1,000 a term, of 100,000 chunks 99%
# of the first ten and 96% of the first fifty are found; with 2,000, 100% and 98%.
_READ = 8000

# tf is read back from the impact, and weighed by the mean length of the moment
_BM25 = f"""(
        SELECT sum(idf * tf / (tf + {K1}::float8
                               * ({1 - B}::float8 + {B}::float8 * l.length / total.mean)))
        FROM (
            SELECT idf, round(imp / (1 - imp) * {K1}::float8
                              * ({1 - B}::float8 + {B / NOMINAL_LENGTH}::float8 * l.length)) AS tf
            FROM (SELECT idf, -(l.impacts <#> axis) AS imp FROM term) i WHERE imp > 0
        ) f
    )"""

# The terms of the question as one sparse vector.
_WEIGHTS = "(SELECT weights FROM question)"

# For each term the key of fewest occurrences that is not in too many chunks: `key` is of all chunks
# that have it, `key + level` of those that have it 2, 4 and 8 times at least (packed_terms.LEVELS).
# OFFSET 0: the levels of a term that is in few chunks are not looked up at all.
_CHOSEN = f"""
SELECT CASE WHEN term.n <= share THEN term.key ELSE (
    SELECT l.key FROM (
        SELECT term.key + level AS key, (
            SELECT sum(x.n) FROM term_statistics x
            WHERE x.tenant_id = %(tenant)s AND x.key = term.key + level) AS n, level
        FROM generate_series(1, 3) AS level OFFSET 0
    ) l
    WHERE l.n > 0
    ORDER BY l.n > share, CASE WHEN l.n > share THEN l.n ELSE level END
    LIMIT 1
) END FROM term CROSS JOIN (SELECT {_READ} / greatest(count(*), 1) AS share FROM term) shared
"""

# The whole library.
_LEXICAL = f"""
    SELECT id, impacts, length FROM lexical_chunks(ARRAY({_CHOSEN}), {_WEIGHTS}, {_RESCORED})
"""

# Of few documents every chunk is compared: the index would go past those that are not wanted.
_LEXICAL_NARROWED = f"""
    (SELECT t.chunk_id AS id, t.impacts, t.length FROM {{theirs}}
     WHERE (SELECT is_few FROM size) AND t.tenant_id = %(tenant)s AND t.impacts <#> {_WEIGHTS} < 0
     ORDER BY t.impacts <#> {_WEIGHTS} LIMIT {_RESCORED})
    UNION ALL
    (SELECT id, impacts, length
     FROM lexical_chunks(ARRAY({_CHOSEN}), {_WEIGHTS}, {_RESCORED}, {{documents}})
     WHERE NOT (SELECT is_few FROM size))
"""

# Some documents, all of them.
_LISTED = "ARRAY(SELECT id FROM allowed)"

# Without a list of documents lexical_chunks looks for those of the transaction's spaces.
_READABLE = f"CASE WHEN (SELECT is_listed FROM size) THEN {_LISTED} END"

# Of what BM25 alone has listed too, for the sum takes both
_DISTANCE = """coalesce(n.distance, (
        SELECT c.embedding <=> %(vector)b FROM chunks c
        WHERE c.id = l.id AND c.tenant_id = %(tenant)s))"""

# BM25 alone.
_NO_NEAR = "near AS (SELECT NULL::bigint AS id, NULL::float8 AS distance WHERE false)"


# The terms with how many chunks have them; those that no chunk has find nothing. Forms of languages
# that the tenant has no chunk in are left out, or they would meet other words of the same letters.
# In the statistics key 0 counts the tenant's chunks, and key 1 their terms.
_TERMS = f"""
total AS MATERIALIZED (
    SELECT chunks, terms / greatest(chunks, 1) AS mean FROM (
        SELECT coalesce(sum(n) FILTER (WHERE key = 0), 0)::float8 AS chunks,
               coalesce(sum(n) FILTER (WHERE key = 1), 0)::float8 AS terms
        FROM term_statistics WHERE tenant_id = %(tenant)s AND key IN (0, 1)
    ) counted
),
asked AS MATERIALIZED (
    SELECT DISTINCT key, slot, weight, word, named FROM unnest(
        %(keys)s::bigint[], %(slots)s::integer[], %(weights)s::float8[], %(words)s::integer[],
        %(named)s::boolean[], %(languages)s::bigint[]
    ) AS q (key, slot, weight, word, named, language)
    WHERE language = 0 OR language IN (
        SELECT x.key FROM term_statistics x
        WHERE x.tenant_id = %(tenant)s AND x.key = ANY(%(languages)s::bigint[]) AND x.key <> 0
        GROUP BY x.key HAVING sum(x.n) > 0)
),
term AS MATERIALIZED (
    SELECT key, slot, f.n, q.weight * ln(1 + (t.chunks - f.n + 0.5) / (f.n + 0.5)) AS idf,
           ('{{' || slot || ':1}}/{SLOTS}')::sparsevec AS axis
    FROM total t CROSS JOIN asked q CROSS JOIN LATERAL (
        SELECT sum(x.n)::float8 AS n FROM term_statistics x
        WHERE x.tenant_id = %(tenant)s AND x.key = q.key
    ) f
    WHERE f.n > 0 AND f.n <= t.chunks
),
word AS MATERIALIZED (
    SELECT q.word, array_agg(q.key) AS keys, max(coalesce(term.n, 0)) AS n,
           bool_or(q.named) AND max(coalesce(term.n, 0))
               <= greatest({RARE_CHUNKS}, {RARE_SHARE}::float8 * t.chunks) AS named
    FROM total t CROSS JOIN asked q LEFT JOIN term USING (key)
    WHERE q.word >= 0
    GROUP BY q.word, t.chunks
),
question AS MATERIALIZED (
    SELECT ('{{' || string_agg(slot || ':' || idf::real, ',' ORDER BY slot) || '}}/{SLOTS}'
           )::sparsevec AS weights
    FROM (SELECT slot, sum(idf) AS idf FROM term GROUP BY slot) slots
)
"""

# The ranks count from 1 among all that was scored.
_RANKED = f"""
ranked AS (
    SELECT id, distance, score,
           (row_number() OVER (ORDER BY distance, id))::int AS near_rank,
           (row_number() OVER (ORDER BY score DESC, id))::int AS score_rank,
           min(distance) OVER () AS nearest, max(score) OVER () AS best
    FROM scored
),
fused AS (
    SELECT id, distance, score, nearest, best, near_rank, score_rank, CASE
        WHEN %(dense_weight)s::float8 IS NULL THEN
            CASE WHEN near_rank <= %(listed)s THEN 1.0::float8 / (%(rrf_k)s + near_rank) ELSE 0 END
            + CASE WHEN score > 0 AND score_rank <= %(by_words)s
                   THEN 1.0::float8 / (%(rrf_k)s + score_rank) ELSE 0 END
        ELSE
            %(dense_weight)s::float8 * coalesce(1 - nullif(distance, 'NaN'), 0)
            + (1 - %(dense_weight)s::float8) * coalesce(score / nullif(best, 0), 0)
        END AS fused
    FROM ranked ORDER BY fused DESC, distance, id LIMIT %(top_k)s
)
SELECT {COLUMNS},
       (SELECT array_agg(n::int ORDER BY word) FROM word) AS frequencies,
       (SELECT chunks::int FROM total) AS chunks, (SELECT count(*)::int FROM word) AS words,
       (SELECT count(*)::int FROM word WHERE named) AS identifiers,
       (SELECT (SELECT count(*)::int FROM word w WHERE t.keys && w.keys) FROM chunk_terms t
        WHERE t.chunk_id = h.id AND t.tenant_id = %(tenant)s) AS together,
       h.nearest, h.best, h.score, h.fused, h.near_rank, h.score_rank
FROM fused h {JOIN}
ORDER BY h.fused DESC, h.distance, h.id
"""


@lru_cache
def hybrid_statement(narrowed_by: tuple[str, ...], *, dense: bool = True) -> str:
    """The search by distance and BM25, of a scope that these fields narrow.

    Without ``dense`` it is BM25 alone: its candidates, without distances.

    ``imp`` is tf / (tf + K), so tf is imp * K / (1 - imp), with K by the nominal mean length.
    ``scored`` is materialized, or each distance and score would be looked for twice: to rank, and
    for the best. What only the distance listed is scored by the nominal mean length, a third of the
    work, and never above what BM25 itself listed. OFFSET 0 has the terms of each candidate looked
    up: the planner expects a thousand candidates, and would read all of a table of some thousands.
    """
    near, distance = (near_ctes(narrowed_by), _DISTANCE) if dense else (_NO_NEAR, "n.distance")
    documents = _READABLE if is_readable_alone(narrowed_by) else _LISTED
    theirs = "allowed a JOIN chunk_terms t ON t.document_id = a.id"
    if "as_of" in narrowed_by:
        theirs = THEIRS.format(table="chunk_terms", name="t")
    lexical = _LEXICAL
    if narrowed_by:
        lexical = _LEXICAL_NARROWED.format(documents=documents, theirs=theirs)
    return f"""
WITH {scope_ctes(narrowed_by)} {_TERMS},
{near},
lexical AS MATERIALIZED ({lexical}),
listed AS MATERIALIZED (
    SELECT l.id, {_BM25} AS score
    FROM lexical l CROSS JOIN total ORDER BY score DESC, l.id LIMIT %(by_words)s
),
scored AS MATERIALIZED (
    SELECT id, {distance} AS distance, coalesce(l.score, (
        SELECT least(-(t.impacts <#> {_WEIGHTS}), (SELECT min(score) FROM listed))
        FROM chunk_terms t
        WHERE t.chunk_id = n.id AND t.tenant_id = %(tenant)s), 0) AS score
    FROM near n FULL JOIN listed l USING (id)
),
{_RANKED}"""
