"""The entries of sources: what they had when they were last listed, and their documents."""

from helix.storage.statements import compose

# As helix/library/source_entries.py names a document of a source.
_URI = "'source:' || e.source_id || '/' || e.key"

# All at once, for a listing has no order: thousands an answer, and no statement an entry.
KNOWN = """
SELECT e.key, e.size, e.modified, e.etag, e.content_hash, e.metadata, e.readers, e.coming,
       e.document_id, e.reason, coalesce(e.failed_at > now() - interval '1 day', false) AS tried,
       e.gone_at IS NOT NULL AS was_gone,
       coalesce(d.content_hash = e.content_hash AND d.recipe = %(recipe)s, false) AS is_current,
       d.spaces
FROM source_entries e LEFT JOIN documents d ON (d.tenant_id, d.id) = (e.tenant_id, e.document_id)
WHERE e.tenant_id = %(tenant)s AND e.source_id = %(id)s
"""

# A batch a statement. An entry that is there again waits no more.
PUT = """
INSERT INTO source_entries AS e (tenant_id, source_id, key, size, modified, etag, content_hash, url,
                                 metadata, readers, coming, reason, failed_at)
SELECT %(tenant)s, %(id)s, r.key, r.size, r.modified, coalesce(r.etag, ''), r.content_hash, r.url,
       r.metadata, r.readers, r.coming, r.reason, CASE WHEN r.reason <> '' THEN now() END
FROM jsonb_to_recordset(%(rows)s) AS r (key text, size bigint, modified timestamptz, etag text,
    content_hash text, url text, metadata jsonb, readers text[], coming boolean, reason text)
ON CONFLICT (tenant_id, source_id, key) DO UPDATE SET
    size = excluded.size, modified = excluded.modified, etag = excluded.etag,
    content_hash = excluded.content_hash, url = excluded.url, metadata = excluded.metadata,
    readers = excluded.readers, coming = excluded.coming, reason = excluded.reason,
    failed_at = excluded.failed_at, gone_at = NULL, gone_run = NULL
"""

# What came in, whichever run brought it: also one whose worker was killed before it could say so.
SETTLE = compose(
    """
UPDATE source_entries e SET coming = false, document_id = d.id, reason = '', failed_at = NULL
FROM documents d WHERE e.tenant_id = %(tenant)s AND e.source_id = %(id)s AND e.coming
    AND d.tenant_id = e.tenant_id AND d.source_uri = {uri} AND d.status = 'ready'
    AND d.content_hash = e.content_hash
""",
    uri=_URI,
)

# What the run could not read keeps the version that it has, if any.
SETTLE_FAILED = compose(
    """
UPDATE source_entries e SET coming = false, reason = f.reason, failed_at = now()
FROM run_files f WHERE e.tenant_id = %(tenant)s AND e.source_id = %(id)s AND e.coming
    AND f.run_id = %(run_id)s AND f.status = 'failed' AND f.source_uri = {uri}
""",
    uri=_URI,
)

# Since when, for the page; the run that removes them, where one may.
MARK_GONE = """
UPDATE source_entries SET gone_at = coalesce(gone_at, now()), gone_run = %(run_id)s
WHERE tenant_id = %(tenant)s AND source_id = %(id)s AND key = ANY(%(keys)s)
"""

# A listing has them again.
MARK_BACK = """
UPDATE source_entries SET gone_at = NULL, gone_run = NULL
WHERE tenant_id = %(tenant)s AND source_id = %(id)s AND key = ANY(%(keys)s)
"""

# A source that goes, with all that it has.
MARK_ALL = """
UPDATE source_entries SET gone_at = coalesce(gone_at, now()), gone_run = %(run_id)s
WHERE tenant_id = %(tenant)s AND source_id = %(id)s
"""

# Some at a time, each removed in a transaction of its own; killed, the rest is found again.
REMOVABLE = """
SELECT e.key, e.document_id FROM source_entries e
WHERE e.tenant_id = %(tenant)s AND e.source_id = %(id)s AND e.gone_run = %(run_id)s
ORDER BY e.key LIMIT 200
"""

# Its document went with it, or has none.
DROP = """
DELETE FROM source_entries WHERE tenant_id = %(tenant)s AND source_id = %(id)s AND key = %(key)s
"""

# A document whose bytes came from elsewhere too is from there alone now: it stays.
HAND_OVER = """
WITH other AS (
    DELETE FROM document_sources o USING (
        SELECT s.source_uri FROM document_sources s
        WHERE s.tenant_id = %(tenant)s AND s.document_id = %(document_id)s
        ORDER BY s.created_at, s.source_uri LIMIT 1) first
    WHERE o.tenant_id = %(tenant)s AND o.source_uri = first.source_uri RETURNING o.source_uri
)
UPDATE documents d SET source_uri = other.source_uri FROM other
WHERE d.tenant_id = %(tenant)s AND d.id = %(document_id)s RETURNING d.id
"""

# One writer of a source at a time, as document_sources.LOCK has it; in one order for all.
LOCK = """
SELECT pg_advisory_xact_lock(hashtextextended(uri, hashtextextended(%(tenant)s, 0)))
FROM (SELECT unnest(%(uris)s::text[]) AS uri ORDER BY 1) locked
"""

# Their names change, and where they are opened; text, chunks and vectors stay. One is left as it is
# where another document has the new name.
MOVE_DOCUMENTS = """
UPDATE documents d SET source_uri = m.uri,
    origin = CASE WHEN m.url = '' THEN d.origin
        ELSE d.origin || jsonb_build_object('url', m.url) END,
    file_name = CASE WHEN d.edits ? 'file_name' THEN d.file_name ELSE m.name END
FROM jsonb_to_recordset(%(rows)s) AS m (document_id bigint, uri text, url text, name text)
WHERE d.tenant_id = %(tenant)s AND d.id = m.document_id AND NOT EXISTS (
    SELECT FROM documents o WHERE o.tenant_id = %(tenant)s AND o.source_uri = m.uri)
RETURNING d.id, d.source_uri, d.title, d.file_name, d.facts
"""

# The entries under their new keys are the old ones'.
MOVE = """
WITH pairs AS (
    SELECT * FROM jsonb_to_recordset(%(rows)s) AS m (old text, key text)
), old AS (
    DELETE FROM source_entries e USING pairs
    WHERE e.tenant_id = %(tenant)s AND e.source_id = %(id)s AND e.key = pairs.old
    RETURNING pairs.key, e.document_id
)
UPDATE source_entries e SET document_id = old.document_id, coming = false FROM old
WHERE e.tenant_id = %(tenant)s AND e.source_id = %(id)s AND e.key = old.key
"""

# Who may read it at the source changed: no byte of it did.
PLACE = """
UPDATE documents SET spaces = %(spaces)s::bigint[]
WHERE tenant_id = %(tenant)s AND id = %(document_id)s AND spaces <> %(spaces)s::bigint[]
"""

# For the page: what is gone and waits, and what could not be read.
TOLD = """
SELECT row_to_json(x) FROM (
    SELECT e.key, e.document_id, e.reason, e.url, e.gone_at FROM source_entries e
    WHERE e.tenant_id = %(tenant)s AND e.source_id = %(id)s
        AND (e.gone_at IS NOT NULL OR e.reason <> '')
    ORDER BY e.gone_at IS NULL, e.key LIMIT %(most)s) x
"""
