"""Runs as their readers follow them."""

from helix.storage.statements import compose

# The columns of a run that a client is told.
_RUN = """
r.id, r.kind, r.status, r.stage, r.error, r.ignored, r.options ->> 'url' AS url,
coalesce(r.options -> 'paths', '[]') AS paths,
(SELECT coalesce(json_agg(source_uri ORDER BY n), '[]') FROM run_files
 WHERE run_id = r.id AND n < 3) AS first_files,
r.created_at, r.started_at, r.finished_at,
(SELECT count(*) FROM run_files WHERE run_id = r.id) AS total,
(SELECT coalesce(sum(chunks), 0) FROM run_files WHERE run_id = r.id) AS chunks,
(SELECT coalesce(json_object_agg(status, n), '{}') FROM (
    SELECT status, count(*) AS n FROM run_files WHERE run_id = r.id GROUP BY status) c) AS counts
"""

# The columns of one of its files.
_FILE = """
f.n, f.source_uri, f.title, f.media, f.size, f.document_id, f.status, f.done, f.total, f.chunks,
f.reason, f.warnings
"""

# The page first: files are counted for its rows alone.
LIST = compose(
    """
SELECT row_to_json(x) FROM (
    SELECT {run} FROM (
        SELECT * FROM runs
        WHERE tenant_id = %(tenant)s AND (%(status)s::text IS NULL OR status = %(status)s)
            AND (%(last)s::bigint IS NULL OR id < %(last)s)
        ORDER BY id DESC LIMIT %(limit)s
    ) r ORDER BY r.id DESC) x
""",
    run=_RUN,
)

# The same columns of one.
GET = compose(
    "SELECT row_to_json(x) FROM"
    " (SELECT {run} FROM runs r WHERE tenant_id = %(tenant)s AND id = %(id)s) x",
    run=_RUN,
)

# Failed ones first: they are what somebody looks for.
FILES = compose(
    """
SELECT row_to_json(x) FROM (
    SELECT {file} FROM run_files f
    WHERE tenant_id = %(tenant)s AND run_id = %(id)s
        AND ((status <> 'failed')::int, n) > (%(last_rank)s::int, %(last_n)s::int)
    ORDER BY (status <> 'failed')::int, n LIMIT %(limit)s) x
""",
    file=_FILE,
)

# One statement, so one snapshot: when it says that the run has ended, its files are the last.
CHANGES = compose(
    """
SELECT json_build_object(
    'xmin', pg_snapshot_xmin(s)::text::bigint, 'xmax', pg_snapshot_xmax(s)::text::bigint,
    'version', r.version, 'ended', r.status = ANY(%(ended)s),
    'run', CASE WHEN r.version > %(after)s OR EXISTS (
            SELECT FROM run_files WHERE run_id = r.id AND version > %(after)s)
        THEN (SELECT row_to_json(x) FROM (SELECT {run}) x) END,
    'files', (SELECT coalesce(json_agg(row_to_json(y) ORDER BY y.version), '[]') FROM (
        SELECT f.version, {file} FROM run_files f
        WHERE run_id = r.id AND version > %(position)s ORDER BY version LIMIT %(limit)s) y))
FROM runs r, pg_current_snapshot() s WHERE r.tenant_id = %(tenant)s AND r.id = %(id)s
""",
    run=_RUN, file=_FILE,
)  # fmt: skip
