"""Documents as they are written."""

# Locked until the new version is written: two writers of one source go one after the other.
STORED = """
SELECT id, file_hash, language, edits FROM documents
WHERE tenant_id = %(tenant)s AND source_uri = %(source_uri)s FOR UPDATE
"""

# Its id stays: citations of the earlier version name it. xmax is 0 of a row that was inserted.
UPSERT = """
INSERT INTO documents (tenant_id, id, source_uri, title, content_hash, recipe, text, media, size,
                       outline, warnings, origin, file_hash, language, tags, file_name, facts,
                       metadata, edits, spaces)
VALUES (%(tenant)s, coalesce(%(id)s, nextval(pg_get_serial_sequence('documents', 'id'))),
        %(source_uri)s, %(title)s, %(content_hash)s, %(recipe)s, %(text)s, %(media)s, %(size)s,
        %(outline)s, %(warnings)s, %(origin)s, %(file_hash)s, %(language)s,
        coalesce(%(tags)s::text[], '{}'), %(file_name)s, %(facts)s, %(metadata)s, %(edits)s,
        coalesce(%(spaces)s::bigint[], '{0}'))
ON CONFLICT (tenant_id, source_uri) DO UPDATE
SET title = excluded.title, content_hash = excluded.content_hash, recipe = excluded.recipe,
    text = excluded.text, media = excluded.media, size = excluded.size,
    outline = excluded.outline, warnings = excluded.warnings, origin = excluded.origin,
    file_hash = excluded.file_hash, language = excluded.language,
    file_name = excluded.file_name, facts = excluded.facts, metadata = excluded.metadata,
    edits = excluded.edits, tags = coalesce(%(tags)s, documents.tags),
    spaces = coalesce(%(spaces)s::bigint[], documents.spaces), status = 'ready', error = '',
    updated_at = now()
RETURNING id, xmax = 0 AS is_new
"""

# The id is needed before the row is written: the chunks name it.
RESERVE = """
SELECT coalesce(
    (SELECT id FROM documents WHERE tenant_id = %(tenant)s AND source_uri = %(source_uri)s),
    nextval(pg_get_serial_sequence('documents', 'id'))) AS id
"""

# What people have edited stands over what the reader finds.
EDITS = "SELECT edits FROM documents WHERE tenant_id = %s AND source_uri = %s"
