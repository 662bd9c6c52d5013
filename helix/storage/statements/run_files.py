"""Files of a run, from the plan to how each ended."""

from helix.domain.contract import OPEN_FILE
from helix.storage.statements import compose

# A source once in a run; its tenant is the run's.
ADD = """
INSERT INTO run_files (tenant_id, run_id, n, source_uri, title, media, size, content_hash,
                       file_hash, keep_file, document_id, origin, tags, metadata, spaces)
SELECT tenant_id, id, %(n)s, %(source_uri)s, %(title)s, %(media)s, %(size)s, %(content_hash)s,
       %(file_hash)s, %(keep_file)s, %(document_id)s, %(origin)s, %(tags)s,
       %(metadata)s, %(spaces)s
FROM runs WHERE id = %(run_id)s
ON CONFLICT (run_id, source_uri) DO NOTHING
"""

# With the run's wish to read what has not changed.
LOAD = """
SELECT tenant_id AS tenant, source_uri, title, media, size, content_hash, file_hash, keep_file,
       document_id, origin, tags, metadata, spaces, status, (
           SELECT coalesce((options ->> 'force')::boolean, false) FROM runs WHERE id = run_id
       ) AS force
FROM run_files WHERE run_id = %s AND n = %s
"""

# Some at a time: a run may have millions.
OPEN = compose(
    "SELECT n FROM run_files WHERE run_id = %s AND n > %s AND status IN {open} ORDER BY n LIMIT %s",
    open=str(OPEN_FILE),
)

# Whether all before a number have ended.
COUNT_OPEN = compose(
    "SELECT count(*) FROM run_files WHERE run_id = %s AND n <= %s AND status IN {open}",
    open=str(OPEN_FILE),
)

# The document of a file that did not change: its name is to go with it.
_UNCHANGED = """
CASE WHEN %(status)s = 'unchanged' THEN coalesce(
    (SELECT d.id FROM documents d WHERE d.tenant_id = f.tenant_id AND d.source_uri = f.source_uri),
    (SELECT s.document_id FROM document_sources s
     WHERE s.tenant_id = f.tenant_id AND s.source_uri = f.source_uri)) END
"""

# A file that has ended needs its bytes no more: a document that keeps them refers to them itself.
SET = compose(
    """
WITH before AS (
    SELECT run_id, n, file_hash FROM run_files
    WHERE run_id = %(run_id)s AND n = %(n)s AND status = ANY(%(open)s) FOR UPDATE
)
UPDATE run_files f
SET status = %(status)s, done = %(done)s, total = %(total)s,
    chunks = coalesce(%(chunks)s, chunks), warnings = coalesce(%(warnings)s, warnings),
    document_id = coalesce(%(document_id)s, document_id, {unchanged}),
    file_hash = CASE WHEN %(status)s = ANY(%(open)s) THEN f.file_hash END,
    changed_at = now(), version = nextval('run_changes')
FROM before b WHERE f.run_id = b.run_id AND f.n = b.n
RETURNING f.tenant_id, b.file_hash
""",
    unchanged=_UNCHANGED,
)

# Of a run, some or all.
_OF_RUN = "run_id = %(run_id)s AND (%(numbers)s::int[] IS NULL OR n = ANY(%(numbers)s))"

# Of a document, in any run.
_OF_DOCUMENT = "tenant_id = %(tenant)s AND document_id = %(document_id)s"

# Documents are locked before files, as a deletion and a write do.
LOCK_DOCUMENTS = compose(
    """
SELECT id FROM documents WHERE status = 'processing' AND id IN (
    SELECT document_id FROM run_files WHERE {of_run} AND status = ANY(%(open)s))
ORDER BY id FOR UPDATE
""",
    of_run=_OF_RUN,
)

# A document that no other open file will bring in, and that was never readable, has failed.
_END = """
WITH ending AS (
    SELECT run_id, n, document_id, file_hash FROM run_files
    WHERE {which} AND status = ANY(%(open)s) ORDER BY run_id, n FOR UPDATE
), never_readable AS (
    UPDATE documents d SET status = 'failed', error = %(reason)s, updated_at = now()
    WHERE %(fails_documents)s AND status = 'processing' AND id IN (SELECT document_id FROM ending)
        AND NOT EXISTS (SELECT FROM run_files f WHERE f.document_id = d.id
            AND f.status = ANY(%(open)s) AND (f.run_id, f.n) NOT IN (SELECT run_id, n FROM ending))
)
UPDATE run_files f
SET status = %(status)s, reason = %(reason)s, file_hash = NULL, changed_at = now(),
    document_id = coalesce(f.document_id, {unchanged}), version = nextval('run_changes')
FROM ending e WHERE f.run_id = e.run_id AND f.n = e.n
RETURNING f.tenant_id, e.file_hash
"""

# Where the run ends before them.
END_OF_RUN = compose(_END, which=_OF_RUN, unchanged=_UNCHANGED)

# Where the document is deleted, or comes from elsewhere.
END_OF_DOCUMENT = compose(_END, which=_OF_DOCUMENT, unchanged=_UNCHANGED)

# What a file was called, and said of itself, goes with its document. A number keeps its row apart.
FORGET_REMOVED = compose(
    """
UPDATE run_files f SET source_uri = 'removed:' || f.n, title = NULL, origin = '{{}}', tags = NULL,
    warnings = '[]', metadata = NULL, version = nextval('run_changes')
FROM removals r
WHERE r.removed_at > now() - interval '1 hour' AND f.document_id = r.document_id
    AND f.tenant_id = r.tenant_id AND f.status NOT IN {open}
    AND NOT starts_with(f.source_uri, 'removed:')
    AND NOT EXISTS (SELECT FROM documents d
        WHERE d.tenant_id = r.tenant_id AND d.id = r.document_id)
""",
    open=str(OPEN_FILE),
)

# Files are numbered in the order they are found in.
NEXT_NUMBER = "SELECT coalesce(max(n) + 1, 0) FROM run_files WHERE run_id = %s"
