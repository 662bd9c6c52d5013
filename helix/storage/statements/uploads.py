"""Uploads and imports as they are announced, and uploads that are read again."""

from helix.domain.contract import GOING_RUN, OPEN_FILE
from helix.storage.statements import compose

# Held in the order of their ids, as every other lock of documents; with the run that reads them
# already.
AGAIN = compose(
    """
SELECT d.id, d.source_uri, d.title, d.media, d.size, d.file_hash, d.status, d.spaces, d.origin,
       (SELECT f.run_id FROM run_files f JOIN runs r ON r.id = f.run_id
        WHERE f.document_id = d.id AND f.status IN {open} AND r.status IN {going}
        ORDER BY f.run_id DESC LIMIT 1) AS run_id,
       coalesce((SELECT f.title IS NOT NULL FROM run_files f WHERE f.document_id = d.id
                 ORDER BY f.run_id DESC LIMIT 1), true) AS titled
FROM documents d WHERE d.tenant_id = %(tenant)s AND d.id = ANY(%(ids)s)
ORDER BY d.id FOR UPDATE OF d
""",
    going=str(GOING_RUN),
    open=str(OPEN_FILE),
)

# A document that can be read stays readable meanwhile.
ANEW = """
UPDATE documents SET status = 'processing', error = ''
WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s) AND status <> 'ready'
"""

# By name, for the lock of a source itself is held for as long as its document is written.
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('helix upload ' || %s, 0))"

# Where it stands in another space too, labels and metadata are not for this one alone to change.
_OWN = "(%(sees)s::bigint[] IS NULL OR d.spaces <@ %(sees)s::bigint[])"

# The same bytes sent again are the document that they become.
UNDER_WAY = compose(
    """
SELECT d.id, d.title, d.source_uri, d.status, f.run_id, {own} AS own
FROM run_files f JOIN documents d ON d.id = f.document_id
    JOIN runs r ON r.id = f.run_id AND r.status IN {going}
WHERE f.tenant_id = %(tenant)s AND f.content_hash = %(content_hash)s AND f.keep_file
    AND f.status IN {open}
    AND (%(asked)s::text IS NULL OR d.source_uri = %(asked)s)
    AND (%(sees)s::bigint[] IS NULL OR d.spaces && %(sees)s::bigint[])
ORDER BY coalesce(d.spaces && %(spaces)s::bigint[], false) DESC, f.run_id DESC LIMIT 1
""",
    going=str(GOING_RUN),
    open=str(OPEN_FILE),
    own=_OWN,
)

# The same bytes are stored: of several documents, one that can be read, with its file.
STORED = compose(
    """
SELECT id, title, source_uri, status, file_hash IS NULL AS unkept, {own} AS own FROM documents d
WHERE tenant_id = %(tenant)s AND content_hash = %(content_hash)s
    AND (%(asked)s::text IS NULL OR source_uri = %(asked)s)
    AND (%(sees)s::bigint[] IS NULL OR spaces && %(sees)s::bigint[])
ORDER BY coalesce(spaces && %(spaces)s::bigint[], false) DESC, status = 'ready' DESC,
    file_hash IS NULL, id LIMIT 1
""",
    own=_OWN,
)

# Documents are locked before files, as a deletion and a write do.
LOCK_DOCUMENT = "SELECT FROM documents WHERE tenant_id = %s AND id = %s FOR UPDATE"

# Whose file may be nobody's once the new one is announced.
BEFORE = compose(
    """
SELECT id, file_hash, {own} AS own FROM documents d
WHERE tenant_id = %(tenant)s AND source_uri = %(source_uri)s FOR UPDATE
""",
    own=_OWN,
)

# A document that can be read stays as it is until its new version is written.
ANNOUNCE = """
INSERT INTO documents AS d (tenant_id, title, source_uri, content_hash, media, size, file_hash,
                            origin, tags, spaces, status)
VALUES (%(tenant)s, %(title)s, %(source_uri)s, %(content_hash)s, %(media)s, %(size)s,
        %(content_hash)s, %(origin)s, coalesce(%(tags)s::text[], '{}'),
        coalesce(%(spaces)s::bigint[], '{0}'), 'processing')
ON CONFLICT (tenant_id, source_uri) DO UPDATE SET
    status = CASE WHEN d.status = 'ready' THEN d.status ELSE 'processing' END,
    error = CASE WHEN d.status = 'ready' THEN d.error ELSE '' END,
    title = CASE WHEN d.status = 'ready' THEN d.title ELSE excluded.title END,
    content_hash = CASE WHEN d.status = 'ready' THEN d.content_hash ELSE excluded.content_hash END,
    media = CASE WHEN d.status = 'ready' THEN d.media ELSE excluded.media END,
    size = CASE WHEN d.status = 'ready' THEN d.size ELSE excluded.size END,
    file_hash = CASE WHEN d.status = 'ready' THEN d.file_hash ELSE excluded.file_hash END,
    origin = CASE WHEN d.status = 'ready' THEN d.origin ELSE excluded.origin END
RETURNING id, title, source_uri, status
"""

# Two imports of the same address at once are one run.
LOCK_IMPORT = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
