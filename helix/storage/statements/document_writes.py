"""Documents as they are written and deleted."""

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


# All of a document at once, or the cascade would count each chunk in a statement of its own.
DROP_TERMS = """
DELETE FROM chunk_terms WHERE tenant_id = %(tenant)s AND chunk_id IN (
    SELECT id FROM chunks WHERE tenant_id = %(tenant)s AND document_id = %(id)s)
"""

# LlamaIndex names a document by either. In order: two deletions lock in the same one.
REFERRED = """
SELECT id, source_uri FROM documents WHERE tenant_id = %(tenant)s
    AND (source_uri = %(reference)s OR id::text = %(reference)s) ORDER BY source_uri
"""

# The document's row first, as a write does, or the two would deadlock.
HOLD_ALL = "SELECT FROM documents WHERE tenant_id = %(tenant)s ORDER BY id FOR UPDATE"

# As DROP_TERMS: the cascade would count each chunk in a statement of its own.
DROP_ALL_TERMS = "DELETE FROM chunk_terms WHERE tenant_id = %(tenant)s"

# Their vectors may be in the cache, for nobody.
DELETE_ALL_CHUNKS = (
    "DELETE FROM chunks WHERE tenant_id = %(tenant)s RETURNING metadata_ ->> 'embedding_key'"
)

# Their files may be nobody's now.
DELETE_ALL = "DELETE FROM documents WHERE tenant_id = %(tenant)s RETURNING tenant_id, file_hash"

# The same of one document.
DELETE_CHUNKS = """
DELETE FROM chunks WHERE tenant_id = %(tenant)s AND document_id = %(id)s
RETURNING metadata_ ->> 'embedding_key'
"""

# Before anything goes: how many rows of which table.
COUNTS = "SELECT document_counts(%(tenant)s, %(id)s)"

# The row that the deletion's trigger wrote.
KEEP_COUNTS = """
UPDATE removals SET counts = %(counts)s WHERE tenant_id = %(tenant)s AND document_id = %(id)s
"""

# Pages, tables, names and suggestions go with it, by foreign keys.
DELETE = "DELETE FROM documents WHERE tenant_id = %(tenant)s AND id = %(id)s RETURNING file_hash"
