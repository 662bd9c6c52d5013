"""The search of serving: one statement, one round trip."""

from __future__ import annotations

from psycopg.rows import TupleRow

from helix.records import Hit

# One statement, so one round trip: the settings are transaction-local (`true`), and the implicit
# transaction of an autocommitted statement is as long as the statement. `s` is materialised and
# the condition on it is a one-time filter, so they are set before the index scan begins.
# `strict_order` makes a filtered scan go on until it has k rows instead of stopping short, at
# 20,000 tuples by default. The metadata is unpacked once a row, of the k rows only, and comes as
# jsonb, for code that is not ours may have put anything under our keys.
SETTINGS = """
s AS MATERIALIZED (
    SELECT set_config('hnsw.ef_search', %(ef_search)s, true) AS ef_search,
           set_config('hnsw.iterative_scan', 'strict_order', true) AS iterative_scan,
           set_config('hnsw.max_scan_tuples', '2147483647', true) AS max_scan_tuples
)
"""
FOUND = """
h.id, h.document_id, d.title, d.source_uri, h.ordinal, h.content, h.start_char, h.end_char,
h.node_id, h.distance, m.page, m.heading_path, m.label
"""
PLACE = "jsonb_to_record(h.metadata_) AS m (page jsonb, heading_path jsonb, label jsonb)"
_SEARCH = """
WITH {settings}
SELECT {found}, (SELECT identity FROM embedding_space) AS identity
FROM s CROSS JOIN LATERAL (
    SELECT id, document_id, ordinal, content, start_char, end_char, node_id, metadata_,
           embedding <=> %(vector)b AS distance
    FROM chunks
    WHERE s.ef_search IS NOT NULL {condition}
    ORDER BY {order}
    LIMIT %(top_k)s
) h JOIN documents d ON d.id = h.document_id
CROSS JOIN LATERAL {place}
ORDER BY h.distance, h.id
"""
_PARTS = {"settings": SETTINGS, "found": FOUND, "place": PLACE}
SEARCH_ALL = _SEARCH.format(**_PARTS, condition="", order="embedding <=> %(vector)b")
# `+ 0` keeps the vector index out: one document's chunks are found by its id and compared one by
# one, which is exact and always complete, where a filtered index scan may give up before k.
SEARCH_DOCUMENT = _SEARCH.format(
    **_PARTS, condition="AND document_id = %(document_id)s", order="(embedding <=> %(vector)b) + 0"
)


def hit_of(row: TupleRow) -> Hit:
    """A row of any search; of its place, what is not of the kind that Hit says is left out."""
    page, heading_path, label = row[10:13]
    values: TupleRow = (
        *row[:10],
        page if type(page) is int else None,
        tuple(map(str, heading_path)) if isinstance(heading_path, list) else (),
        label if isinstance(label, str) else "",
    )
    return Hit(*values)
