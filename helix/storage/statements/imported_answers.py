"""The citations of imported answers, compared with the documents that are here."""

# By the chunk, which is a slice of its document: no quote is worth reading a whole book.
VERIFIED = """
SELECT d.id AS document_id, c.id AS chunk_id, x.from_char AS start, x.to_char AS end, x.quote,
    'passage' AS kind, d.title, d.content_hash, c.metadata_ -> 'heading_path' AS heading_path,
    c.metadata_ -> 'page' AS page, c.metadata_ ->> 'label' AS label
FROM unnest(%(document_id)s::bigint[], %(chunk_id)s::bigint[], %(start)s::int[], %(end)s::int[],
    %(quote)s::text[]) AS x (document_id, chunk_id, from_char, to_char, quote)
JOIN chunks c ON c.tenant_id = %(tenant)s AND (c.id, c.document_id) = (x.chunk_id, x.document_id)
JOIN documents d ON (d.tenant_id, d.id) = (c.tenant_id, c.document_id)
WHERE c.start_char <= x.from_char AND x.from_char < x.to_char AND x.to_char <= c.end_char
    AND substr(c.content, x.from_char - c.start_char + 1, x.to_char - x.from_char) = x.quote
"""

# Documents that are there, and those that were.
KNOWN = """
SELECT x.id FROM unnest(%(ids)s::bigint[], %(added)s::timestamptz[]) AS x (id, added_at)
WHERE EXISTS (SELECT FROM documents d
        WHERE d.tenant_id = %(tenant)s AND d.id = x.id AND d.created_at = x.added_at)
    OR EXISTS (SELECT FROM removals r
        WHERE r.tenant_id = %(tenant)s AND r.document_id = x.id AND r.added_at = x.added_at)
"""
