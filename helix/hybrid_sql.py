"""Hybrid search: nearest vectors and BM25, fused, in one statement and so one round trip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from helix.search_sql import FOUND, PLACE, SETTINGS
from helix.term_rows import K1, NOMINAL_LENGTH, SLOTS, B, key_of, slot_of
from helix.terms import question_terms

LISTED = 50
"""How many each of the two rankings brings; what either does is scored by both."""
RRF_K = 60
_RESCORED = 100  # by exact BM25, of those that the nominal mean length puts first
_READ = 8000
"""Rows of the inverted index that a question may cost, about: shared by its terms. A term in more
chunks than its share is looked up where it is frequent. With 1,000 a term, of 100,000 chunks 99% of
the first ten and 96% of the first fifty are found; with 2,000, 100% and 98%."""
_MOST_TERMS = 64


@dataclass(frozen=True)
class Fusion:
    """How two rankings become one.

    ``dense_weight``, from 0 to 1, is the share of the cosine in a convex sum with the BM25 score,
    which is scaled by the best one; None is reciprocal rank fusion (Cormack et al. 2009, k 60).
    The cosine stays as it is: scaled over the candidates too, a question that nothing is near to
    would weigh the nearest as much as any.
    """

    dense_weight: float | None = None


# The terms with how many chunks have them; those that no chunk has find nothing. `chosen` are the
# keys to look up: for each term the one of fewest occurrences that is not in too many chunks.
# `imp` is tf / (tf + K), so tf is imp * K / (1 - imp), with K by the nominal mean length.
_HYBRID = """
WITH <settings>,
total AS MATERIALIZED (
    SELECT chunks, terms / greatest(chunks, 1) AS mean FROM (
        SELECT coalesce(sum(n) FILTER (WHERE key = 0), 0)::float8 AS chunks,
               coalesce(sum(n) FILTER (WHERE key = 1), 0)::float8 AS terms
        FROM term_statistics WHERE key IN (0, 1)
    ) counted
),
term AS MATERIALIZED (
    SELECT key, slot, f.n, ln(1 + (t.chunks - f.n + 0.5) / (f.n + 0.5)) AS idf,
           ('{' || slot || ':1}/<slots>')::sparsevec AS axis
    FROM total t CROSS JOIN unnest(%(keys)s::bigint[], %(slots)s::integer[]) AS q (key, slot)
    CROSS JOIN LATERAL (
        SELECT sum(x.n)::float8 AS n FROM term_statistics x WHERE x.key = q.key
    ) f
    WHERE f.n > 0 AND f.n <= t.chunks
),
question AS MATERIALIZED (
    SELECT ('{' || string_agg(slot || ':' || idf::real, ',' ORDER BY slot) || '}/<slots>'
           )::sparsevec AS weights
    FROM (SELECT slot, sum(idf) AS idf FROM term GROUP BY slot) slots
),
near AS MATERIALIZED (
    SELECT id, embedding <=> %(vector)b AS distance
    FROM s CROSS JOIN LATERAL (
        SELECT id, embedding FROM chunks
        WHERE s.ef_search IS NOT NULL <condition>
        ORDER BY <order> LIMIT <listed>
    ) c
),
lexical AS MATERIALIZED (
    SELECT chunk_id AS id FROM chunk_terms
    WHERE keys && ARRAY(<chosen>) <within>
    ORDER BY impacts <#> (SELECT weights FROM question) LIMIT <rescored>
),
scored AS (
    SELECT c.id, c.embedding <=> %(vector)b AS distance, coalesce(b.score, 0) AS score
    FROM (SELECT id FROM near UNION SELECT id FROM lexical) u JOIN chunks c ON c.id = u.id
    LEFT JOIN chunk_terms t ON t.chunk_id = c.id CROSS JOIN total
    CROSS JOIN LATERAL (
        SELECT sum(idf * tf / (tf + <k1>::float8
                               * (<rest>::float8 + <b>::float8 * t.length / total.mean))) AS score
        FROM (
            SELECT idf, round(imp / (1 - imp) * <k1>::float8
                              * (<rest>::float8 + <slope>::float8 * t.length)) AS tf
            FROM (SELECT idf, -(t.impacts <#> axis) AS imp FROM term) i WHERE imp > 0
        ) f
    ) b
),
ranked AS (
    SELECT id, distance, score,
           row_number() OVER (ORDER BY distance, id) AS near_rank,
           row_number() OVER (ORDER BY score DESC, id) AS score_rank,
           min(distance) OVER () AS nearest, max(score) OVER () AS best
    FROM scored
),
fused AS (
    SELECT id, distance, score, nearest, CASE
        WHEN %(dense_weight)s::float8 IS NULL THEN
            CASE WHEN near_rank <= <listed> THEN 1.0::float8 / (<rrf_k> + near_rank) ELSE 0 END
            + CASE WHEN score > 0 AND score_rank <= <listed>
                   THEN 1.0::float8 / (<rrf_k> + score_rank) ELSE 0 END
        ELSE
            %(dense_weight)s::float8 * coalesce(1 - nullif(distance, 'NaN'), 0)
            + (1 - %(dense_weight)s::float8) * coalesce(score / nullif(best, 0), 0)
        END AS fused
    FROM ranked ORDER BY fused DESC, distance, id LIMIT %(top_k)s
)
SELECT <found>, h.nearest, h.score, h.fused,
       (SELECT identity FROM embedding_space) AS identity
FROM (SELECT f.nearest, f.score, f.fused, f.distance, c.* FROM (
        SELECT id AS chunk, distance, score, nearest, fused FROM fused
     ) f JOIN chunks c ON c.id = f.chunk) h
JOIN documents d ON d.id = h.document_id
CROSS JOIN LATERAL <place>
ORDER BY h.fused DESC, h.distance, h.id
"""
_CHOSEN = """
SELECT (
    SELECT l.key FROM (
        SELECT term.key + level AS key, level, (
            SELECT sum(x.n) FROM term_statistics x WHERE x.key = term.key + level) AS n
        FROM generate_series(0, 3) AS level OFFSET 0
    ) l
    WHERE l.n > 0
    ORDER BY l.n > share, CASE WHEN l.n > share THEN l.n ELSE level END
    LIMIT 1
) FROM term CROSS JOIN (SELECT <read> / greatest(count(*), 1) AS share FROM term) shared
"""
_CONSTANTS = {
    "settings": SETTINGS,
    "found": FOUND,
    "place": PLACE,
    "slots": SLOTS,
    "listed": LISTED,
    "rescored": _RESCORED,
    "read": _READ,
    "rrf_k": RRF_K,
    "k1": K1,
    "b": B,
    "rest": 1 - B,
    "slope": B / NOMINAL_LENGTH,
}


def _statement(**parts: str) -> str:
    """The statement with what stands for each ``<name>`` in it: our own texts and numbers only."""
    statement = _HYBRID
    for name, value in {**parts, **_CONSTANTS}.items():
        statement = statement.replace(f"<{name}>", str(value))
    return statement


HYBRID_ALL = _statement(condition="", order="embedding <=> %(vector)b", chosen=_CHOSEN, within="")
# One document's chunks are few: all are compared, and all that have any of the terms are scored.
HYBRID_DOCUMENT = _statement(
    condition="AND document_id = %(document_id)s",
    order="(embedding <=> %(vector)b) + 0",
    chosen="SELECT key FROM term",
    within="AND chunk_id = ANY(ARRAY(SELECT id FROM chunks WHERE document_id = %(document_id)s))",
)


def term_values(question: str) -> dict[str, Any]:
    """The bound ``keys`` and ``slots`` of a question: of its first 64 distinct terms."""
    keys = [key_of(term) for term in question_terms(question)[:_MOST_TERMS]]
    return {"keys": keys, "slots": [slot_of(key) + 1 for key in keys]}
