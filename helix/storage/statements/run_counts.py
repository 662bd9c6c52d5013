"""Runs and files by status, of all tenants, for metrics."""

from helix.domain.contract import ENDED_FILE, ENDED_RUN, OPEN_FILE, OPEN_RUN
from helix.storage.statements import compose

# Each part uses the index of open rows alone.
OPEN = compose(
    """
SELECT 'run' AS kind, status AS label, count(*)::float8 AS count,
       coalesce(extract(epoch FROM now() - min(created_at) FILTER (WHERE status = 'queued')),
                0)::float8 AS queued_seconds
FROM runs WHERE status IN {runs} GROUP BY status
UNION ALL
SELECT 'file', status, count(*)::float8,
       coalesce(extract(epoch FROM now() - min(changed_at) FILTER (WHERE status = 'queued')),
                0)::float8
FROM run_files WHERE status IN {files} GROUP BY status
""",
    runs=str(OPEN_RUN), files=str(OPEN_FILE),
)  # fmt: skip

# Counting these reads whole tables, so they are counted seldom; rows of documents as Postgres
# estimates them.
ENDED = compose(
    """
SELECT 'run' AS kind, status AS label, count(*)::float8 AS count, 0::float8 AS queued_seconds
FROM runs WHERE status IN {runs} GROUP BY status
UNION ALL
SELECT 'file', status, count(*)::float8, 0::float8
FROM run_files WHERE status IN {files} GROUP BY status
UNION ALL
SELECT 'rows', relname, greatest(reltuples, 0)::float8, 0::float8
FROM pg_class WHERE oid IN ('documents'::regclass, 'chunks'::regclass)
""",
    runs=str(ENDED_RUN), files=str(ENDED_FILE),
)  # fmt: skip
