"""Passages that study items are made of."""

from helix.storage.statements import compose
from helix.storage.statements.hits import COLUMNS, JOIN

# What a scope is at present: a set keeps the ids it was made of.
DOCUMENTS = """
SELECT array_agg(id ORDER BY id) AS ids FROM documents
WHERE tenant_id = %(tenant)s AND status = 'ready' AND {condition}
"""

# Of a large scope every second or third chunk: Python chooses among those.
PLACES = """
SELECT id, document_id, title, heading_path, characters FROM (
    SELECT c.id, c.document_id, d.title, c.ordinal, c.metadata_ -> 'heading_path' AS heading_path,
        c.end_char - c.start_char AS characters,
        row_number() OVER (ORDER BY c.document_id, c.ordinal) AS place, count(*) OVER () AS total
    FROM chunks c JOIN documents d ON d.tenant_id = c.tenant_id AND d.id = c.document_id
    WHERE c.tenant_id = %(tenant)s AND d.status = 'ready' AND c.end_char IS NOT NULL
        AND (%(ids)s::bigint[] IS NULL OR c.document_id = ANY(%(ids)s))) placed
WHERE place %% greatest(total / %(most)s::bigint, 1) = 0
ORDER BY document_id, ordinal
"""

# Passages that were chosen by their ids, as a search finds them.
HITS = compose(
    "SELECT {columns} FROM (SELECT id, 'NaN'::float8 AS distance"
    " FROM unnest(%(chunks)s::bigint[]) AS id) h {joined}",
    columns=COLUMNS, joined=JOIN,
)  # fmt: skip

# Each term has the same weight: a passage with most of them may state the text, rare or not.
STATING = compose(
    "SELECT {columns} FROM (SELECT id, 'NaN'::float8 AS distance FROM lexical_chunks("
    "%(keys)s::bigint[], %(weights)s::text::sparsevec, %(most)s, %(ids)s::bigint[])) h"
    " {joined}",
    columns=COLUMNS, joined=JOIN,
)  # fmt: skip
