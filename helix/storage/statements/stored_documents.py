"""Stored documents as an ingestion compares them with what it finds."""

# By the key of what was embedded: a chunk of the same key needs no new vector.
KNOWN = """
SELECT node_id, metadata_ ->> 'embedding_key' AS key
FROM chunks c JOIN documents d ON d.id = document_id
WHERE d.tenant_id = %(tenant)s AND source_uri = %(source_uri)s AND metadata_ ? 'embedding_key'
"""

# Also of sources whose bytes another document has. A title that somebody edited is none of the
# source's.
FINGERPRINTS = """
SELECT source_uri, content_hash, recipe, CASE WHEN edits ? 'title' THEN '' ELSE title END AS title
FROM (
    SELECT id, source_uri, content_hash, recipe, title, edits FROM documents
    WHERE tenant_id = %(tenant)s AND source_uri = ANY(%(uris)s)
    UNION ALL
    SELECT d.id, s.source_uri, s.content_hash, d.recipe, d.title, d.edits FROM document_sources s
    JOIN documents d ON d.tenant_id = s.tenant_id AND d.id = s.document_id
    WHERE s.tenant_id = %(tenant)s AND s.source_uri = ANY(%(uris)s)
) d WHERE EXISTS (SELECT FROM chunks WHERE document_id = d.id)
"""

# Their bytes were not kept when they came.
WITHOUT_FILE = """
SELECT source_uri FROM documents
WHERE tenant_id = %s AND source_uri = ANY(%s) AND file_hash IS NULL
"""

# Only where they are the bytes of the stored version.
KEEP_FILE = """
UPDATE documents SET file_hash = content_hash
WHERE tenant_id = %s AND source_uri = %s AND content_hash = %s AND file_hash IS NULL
"""
