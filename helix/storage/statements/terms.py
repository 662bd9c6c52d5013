"""BM25's terms of chunks."""

# Node ids are the caller's; terms name the chunk's own.
IDS = "SELECT document_id, id, node_id FROM chunks WHERE tenant_id = %s AND node_id = ANY(%s)"

# Of chunks whose text is another now.
DELETE = """
DELETE FROM chunk_terms WHERE chunk_id IN (
    SELECT id FROM chunks WHERE tenant_id = %s AND node_id = ANY(%s))
"""

# Binary, as chunks are.
COPY = (
    "COPY chunk_terms (tenant_id, document_id, chunk_id, length, keys, impacts)"
    " FROM STDIN (FORMAT BINARY)"
)

# Those that another process fills are left to it.
LOCK_MISSING = """
SELECT c.id FROM chunks c
WHERE c.id > %s AND NOT EXISTS (SELECT FROM chunk_terms t WHERE t.chunk_id = c.id)
ORDER BY c.id LIMIT %s FOR UPDATE SKIP LOCKED
"""

# Looked at again under the lock: another may have filled them just before.
MISSING = """
SELECT c.tenant_id, c.document_id, c.id, d.language,
       c.metadata_ ->> 'title', c.metadata_ ->> 'context', c.content
FROM chunks c JOIN documents d ON d.id = c.document_id
WHERE c.id = ANY(%s) AND NOT EXISTS (SELECT FROM chunk_terms t WHERE t.chunk_id = c.id)
"""

# Documents of a release that told no language.
UNTOLD = """
SELECT id, text FROM documents WHERE language = '' ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED
"""

# Their terms are made anew with it.
TELL = "UPDATE documents SET language = %s WHERE id = %s"

# The filling of what is missing makes them again.
DROP = "DELETE FROM chunk_terms WHERE document_id = ANY(%s) RETURNING chunk_id"
