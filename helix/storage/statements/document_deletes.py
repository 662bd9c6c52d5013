"""Deletions of documents."""

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
