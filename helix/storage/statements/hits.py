"""Chunks as a search finds them: the columns of a hit, and what is joined for them."""

# What ``hit_of`` reads.
COLUMNS = """
c.id AS chunk_id, c.document_id, d.title, d.source_uri, c.ordinal, c.content, c.start_char,
c.end_char, c.node_id, h.distance, m.page, m.heading_path, m.label, d.facts,
d.content_hash AS version_id, (SELECT identity FROM embedding_space) AS identity
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

# Looked up for each chunk: of a table without statistics the planner expects one row, and would
# look through all of the tenant's documents for each chunk. OFFSET 0 keeps it from joining.
_DOCUMENT = """
CROSS JOIN LATERAL (
    SELECT title, source_uri, facts, content_hash FROM documents
    WHERE tenant_id = %(tenant)s AND id = c.document_id OFFSET 0
) d
"""

# The chunk of each row.
CHUNK = "JOIN chunks c ON c.id = h.id AND c.tenant_id = %(tenant)s"

# Of the rows ``h``, which have an id and a distance.
JOIN = f"""
{CHUNK}
{_DOCUMENT} {_METADATA}
"""

# Whether hits are still stored as they were found: a cached answer asks.
STORED_PLACES = f"""
SELECT c.id AS chunk_id, d.title, c.start_char, c.end_char, m.page, m.heading_path, m.label
FROM chunks c {_DOCUMENT} {_METADATA}
WHERE c.tenant_id = %(tenant)s AND c.id = ANY(%(ids)s)
"""
