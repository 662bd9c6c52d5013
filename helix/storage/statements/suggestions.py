"""Questions that a library suggests."""

# Tenants whose library is another than the one that their questions were made of, and at rest.
CHANGED = """
SELECT tenant_id, library FROM (
    SELECT tenant_id, count(*) || ' ' || max(updated_at) AS library
    FROM documents WHERE status = 'ready' GROUP BY tenant_id) now
WHERE NOT EXISTS (SELECT FROM suggested_questions
                  WHERE tenant_id = now.tenant_id AND library = now.library)
    AND NOT EXISTS (SELECT FROM runs WHERE tenant_id = now.tenant_id AND status = ANY(%s))
"""

# Documents spread evenly over the library; of each no more than questions are made of.
MATERIALS = """
SELECT d.id, d.title, left(d.text, %(characters)s) AS text, d.facts,
       (SELECT coalesce(jsonb_agg(DISTINCT section -> 'heading_path' ->> -1), '[]')
        FROM jsonb_array_elements(d.outline) section
        WHERE jsonb_array_length(section -> 'heading_path') > 0) AS headings,
       (SELECT coalesce(jsonb_agg(to_jsonb(t) ORDER BY t.ordinal), '[]') FROM (
            SELECT ordinal, start_char, end_char, row_paths, column_paths, cells
            FROM document_tables WHERE tenant_id = %(tenant)s AND document_id = d.id
                AND end_char < %(characters)s AND jsonb_array_length(cells) <= %(cells)s
            ORDER BY ordinal LIMIT %(tables)s) t) AS tables
FROM documents d JOIN (
    SELECT id, row_number() OVER (ORDER BY updated_at DESC, id DESC) - 1 AS place,
        (count(*) OVER () - 1) / %(documents)s + 1 AS step
    FROM documents WHERE tenant_id = %(tenant)s AND status = 'ready') spread USING (id)
WHERE d.tenant_id = %(tenant)s AND spread.place %% spread.step = 0
ORDER BY spread.place
"""

# Those that a fitting answer was found for, of documents that are still there.
SHOWN = """
SELECT s.question, s.document_id, d.title FROM suggested_questions s
JOIN documents d ON d.tenant_id = s.tenant_id AND d.id = s.document_id
WHERE s.tenant_id = %(tenant)s AND s.is_supported
    AND (%(ids)s::bigint[] IS NULL OR s.document_id = ANY(%(ids)s))
    AND (%(tags)s::text[] IS NULL OR d.tags @> %(tags)s)
ORDER BY s.id
"""

# Before the new ones are stored.
FORGET = "DELETE FROM suggested_questions WHERE tenant_id = %s"

# A document that was deleted meanwhile suggests nothing.
STORE = """
INSERT INTO suggested_questions (tenant_id, document_id, question, is_supported, library)
SELECT %(tenant)s, id, %(question)s, %(is_supported)s, %(library)s FROM documents
WHERE tenant_id = %(tenant)s AND id = %(document_id)s ON CONFLICT DO NOTHING
"""
