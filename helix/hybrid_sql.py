"""Hybrid search: nearest vectors and BM25, fused, in one statement and so one round trip."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from helix.gate import RARE_CHUNKS, RARE_SHARE, is_identifier
from helix.search_sql import FOUND, FROM_FOUND, candidates_sql
from helix.term_rows import K1, NOMINAL_LENGTH, SLOTS, B, key_of, slot_of
from helix.terms import question_words

LISTED = 50
"""How many each of the two rankings brings; what either does is scored by both."""
RRF_K = 60
_RESCORED = 100  # by exact BM25, of those that the nominal mean length puts first
SCORED = 2 * LISTED
"""The most that a search scores."""
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
# `imp` is tf / (tf + K), so tf is imp * K / (1 - imp), with K by the nominal mean length. `scored`
# is materialized, or each distance and score would be looked for twice: to rank, and for the best.
# What only the distance listed is scored by the nominal mean length, a third of the work, and never
# above what BM25 itself listed.
_HYBRID = """
WITH <within>
total AS MATERIALIZED (
    SELECT chunks, terms / greatest(chunks, 1) AS mean FROM (
        SELECT coalesce(sum(n) FILTER (WHERE key = 0), 0)::float8 AS chunks,
               coalesce(sum(n) FILTER (WHERE key = 1), 0)::float8 AS terms
        FROM term_statistics WHERE tenant_id = %(tenant)s AND key IN (0, 1)
    ) counted
),
term AS MATERIALIZED (
    SELECT key, slot, f.n, ln(1 + (t.chunks - f.n + 0.5) / (f.n + 0.5)) AS idf,
           ('{' || slot || ':1}/<slots>')::sparsevec AS axis
    FROM total t CROSS JOIN unnest(%(keys)s::bigint[], %(slots)s::integer[]) AS q (key, slot)
    CROSS JOIN LATERAL (
        SELECT sum(x.n)::float8 AS n FROM term_statistics x
        WHERE x.tenant_id = %(tenant)s AND x.key = q.key
    ) f
    WHERE f.n > 0 AND f.n <= t.chunks
),
word AS MATERIALIZED (
    SELECT q.word, array_agg(q.key) AS keys, max(coalesce(term.n, 0)) AS n,
           bool_or(q.named) AND max(coalesce(term.n, 0))
               <= greatest(<rare_chunks>, <rare_share>::float8 * t.chunks) AS named
    FROM total t CROSS JOIN unnest(
        %(keys)s::bigint[], %(words)s::integer[], %(named)s::boolean[]) AS q (key, word, named)
    LEFT JOIN term USING (key)
    GROUP BY q.word, t.chunks
),
question AS MATERIALIZED (
    SELECT ('{' || string_agg(slot || ':' || idf::real, ',' ORDER BY slot) || '}/<slots>'
           )::sparsevec AS weights
    FROM (SELECT slot, sum(idf) AS idf FROM term GROUP BY slot) slots
),
<near>,
lexical AS MATERIALIZED (<lexical>),
listed AS MATERIALIZED (
    SELECT l.id, <bm25> AS score
    FROM lexical l JOIN chunk_terms t ON t.chunk_id = l.id AND t.tenant_id = %(tenant)s
    CROSS JOIN total ORDER BY score DESC, l.id LIMIT <listed>
),
scored AS MATERIALIZED (
    SELECT id, <distance> AS distance, coalesce(l.score, (
        SELECT least(-(t.impacts <#> <weights>), (SELECT min(score) FROM listed))
        FROM chunk_terms t
        WHERE t.chunk_id = n.id AND t.tenant_id = %(tenant)s), 0) AS score
    FROM near n FULL JOIN listed l USING (id)
),
ranked AS (
    SELECT id, distance, score,
           (row_number() OVER (ORDER BY distance, id))::int AS near_rank,
           (row_number() OVER (ORDER BY score DESC, id))::int AS score_rank,
           min(distance) OVER () AS nearest, max(score) OVER () AS best
    FROM scored
),
fused AS (
    SELECT id, distance, score, nearest, near_rank, score_rank, CASE
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
SELECT <found>, (SELECT array_agg(n::int ORDER BY word) FROM word) AS frequencies,
       (SELECT chunks::int FROM total) AS chunks, (SELECT count(*)::int FROM word) AS words,
       (SELECT count(*)::int FROM word WHERE named) AS identifiers,
       (SELECT (SELECT count(*)::int FROM word w WHERE t.keys && w.keys) FROM chunk_terms t
        WHERE t.chunk_id = h.id AND t.tenant_id = %(tenant)s) AS together,
       h.nearest, h.score, h.fused, h.near_rank, h.score_rank,
       (SELECT identity FROM embedding_space) AS identity
FROM fused h <from_found>
ORDER BY h.fused DESC, h.distance, h.id
"""
# OFFSET 0: the levels of a term that is in few chunks are not looked up at all
_CHOSEN = """
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
) END FROM term CROSS JOIN (SELECT <read> / greatest(count(*), 1) AS share FROM term) shared
"""
# tf is read back from the impact, and weighed by the mean length of the moment
_BM25 = """(
        SELECT sum(idf * tf / (tf + <k1>::float8
                               * (<rest>::float8 + <b>::float8 * t.length / total.mean)))
        FROM (
            SELECT idf, round(imp / (1 - imp) * <k1>::float8
                              * (<rest>::float8 + <slope>::float8 * t.length)) AS tf
            FROM (SELECT idf, -(t.impacts <#> axis) AS imp FROM term) i WHERE imp > 0
        ) f
    )"""
# of what BM25 alone has listed too, for the sum takes both
_DISTANCE = """coalesce(n.distance, (
        SELECT c.embedding <=> %(vector)b FROM chunks c
        WHERE c.id = l.id AND c.tenant_id = %(tenant)s))"""
_NO_NEAR = "near AS (SELECT NULL::bigint AS id, NULL::float8 AS distance WHERE false)"
_WEIGHTS = "(SELECT weights FROM question)"
_LEXICAL = """
    SELECT id FROM lexical_chunks(ARRAY(<chosen>), <weights>, <rescored>) AS id
"""
_LEXICAL_NARROWED = """
    (SELECT t.chunk_id AS id FROM allowed a JOIN chunk_terms t ON t.document_id = a.id
     WHERE (SELECT is_few FROM size) AND t.tenant_id = %(tenant)s AND t.impacts <#> <weights> < 0
     ORDER BY t.impacts <#> <weights> LIMIT <rescored>)
    UNION ALL
    (SELECT id
     FROM lexical_chunks(
         ARRAY(<chosen>), <weights>, <rescored>, ARRAY(SELECT id FROM allowed)) AS id
     WHERE NOT (SELECT is_few FROM size))
"""
_CONSTANTS = {
    "bm25": _BM25,
    "chosen": _CHOSEN,
    "weights": _WEIGHTS,
    "found": FOUND,
    "from_found": FROM_FOUND,
    "slots": SLOTS,
    "listed": LISTED,
    "rescored": _RESCORED,
    "read": _READ,
    "rare_chunks": RARE_CHUNKS,
    "rare_share": RARE_SHARE,
    "rrf_k": RRF_K,
    "k1": K1,
    "b": B,
    "rest": 1 - B,
    "slope": B / NOMINAL_LENGTH,
}


@lru_cache
def hybrid_sql(narrowed_by: tuple[str, ...], dense: bool = True) -> str:
    """The search by distance and BM25, of a scope narrowed by these (helix.search_sql).

    Without ``dense`` it is BM25 alone: its candidates, without distances.
    """
    within, near = candidates_sql(narrowed_by)
    near, distance = (near, _DISTANCE) if dense else (_NO_NEAR, "n.distance")
    lexical = _LEXICAL_NARROWED if narrowed_by else _LEXICAL
    statement = _HYBRID
    parts = {"within": within, "near": near, "distance": distance, "lexical": lexical}
    for name, text in {**parts, **_CONSTANTS}.items():
        statement = statement.replace(f"<{name}>", str(text))
    return statement


def term_values(question: str, tenant: str) -> dict[str, Any]:
    """The bound values of a question's terms: of its first 64 distinct ones.

    ``words`` numbers the word that each is a form of, and ``named`` says whether that word is an
    identifier; of a question of more terms none is, for the others could not be met.
    """
    found = question_words(question)
    keys = [key_of(term, tenant) for term in list(found)[:_MOST_TERMS]]
    words = list(found.values())[:_MOST_TERMS]
    names = {word for term, word in found.items() if is_identifier(term)}
    return {
        "keys": keys,
        "slots": [slot_of(key) + 1 for key in keys],
        "words": words,
        "named": [len(found) <= _MOST_TERMS and word in names for word in words],
    }
