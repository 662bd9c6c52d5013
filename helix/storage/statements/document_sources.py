"""Sources whose bytes another source's document has."""

# One writer of a source at a time: two that race a delete would both insert its old id.
LOCK = """
SELECT pg_advisory_xact_lock(hashtextextended(%(source_uri)s, hashtextextended(%(tenant)s, 0)))
"""

# A source that has a document of its own is told of nothing else.
OWN = "SELECT FROM documents WHERE tenant_id = %(tenant)s AND source_uri = %(source_uri)s"

# The document of an upload, or the one that this source was given before.
OF_SAME_BYTES = """
SELECT d.id, d.source_uri FROM documents d
WHERE d.tenant_id = %(tenant)s AND d.content_hash = %(content_hash)s AND d.status = 'ready'
    AND (starts_with(d.source_uri, %(uploaded)s) OR EXISTS (
        SELECT FROM document_sources s WHERE s.tenant_id = d.tenant_id AND s.document_id = d.id
            AND s.source_uri = %(source_uri)s))
ORDER BY d.id LIMIT 1
"""

# A source that comes again with other bytes belongs to their document.
ADD = """
INSERT INTO document_sources (tenant_id, source_uri, document_id, content_hash)
VALUES (%(tenant)s, %(source_uri)s, %(document_id)s, %(content_hash)s)
ON CONFLICT (tenant_id, source_uri) DO UPDATE
SET document_id = excluded.document_id, content_hash = excluded.content_hash
"""

# A source that has a document now, and sources of bytes that the document has no more.
SETTLE = """
DELETE FROM document_sources WHERE tenant_id = %(tenant)s AND (source_uri = %(source_uri)s
    OR (content_hash <> %(content_hash)s AND document_id = (
        SELECT id FROM documents WHERE tenant_id = %(tenant)s AND source_uri = %(source_uri)s)))
"""
