"""Runs as workers take, tell and end them."""

from helix.domain.contract import ENDED_RUN, GOING_RUN, OPEN_RUN
from helix.storage.statements import compose

# Its status is queued: a worker takes it.
CREATE = """
INSERT INTO runs (tenant_id, kind, options, key, host)
VALUES (%(tenant)s, %(kind)s, %(options)s, %(key)s, %(host)s)
RETURNING id
"""

# The reply is whether to go on: a worker asks as often as it tells.
SET_STAGE = """
UPDATE runs SET stage = %(stage)s, ignored = coalesce(%(ignored)s, ignored),
                version = nextval('run_changes')
WHERE id = %(run_id)s
RETURNING status = 'running'
"""

# Once: whoever comes second changes nothing.
FINISH = """
UPDATE runs SET status = %(status)s, error = %(error)s, finished_at = now(), stage = '',
                version = nextval('run_changes')
WHERE id = %(run_id)s AND status = ANY(%(open)s)
RETURNING id
"""

# Not one that is about to be cancelled: it would not do what is asked for.
FIND_OPEN = compose(
    "SELECT max(id) FROM runs WHERE tenant_id = %s AND key = %s AND status IN {going}",
    going=str(GOING_RUN),
)

# A run that was being carried out begins again; its first start stays.
BEGIN = compose(
    """
UPDATE runs SET status = 'running', stage = 'scan', started_at = coalesce(started_at, now()),
                version = nextval('run_changes')
WHERE id = %s AND status IN {going}
RETURNING id, kind, options, tenant_id AS tenant
""",
    going=str(GOING_RUN),
)

# A run has as many rows as files, so the batches are small.
DELETE_ENDED = compose(
    """
DELETE FROM runs WHERE id IN (
    SELECT id FROM runs
    WHERE status IN {ended} AND finished_at <= now() - make_interval(days => %(days)s)
    ORDER BY id LIMIT %(most)s FOR UPDATE SKIP LOCKED)
""",
    ended=str(ENDED_RUN),
)

# Whether a worker has a use; one of paths is its own machine's.
ANY_OPEN = compose(
    "SELECT 1 FROM runs WHERE status IN {open}"
    " AND (%(host)s::text IS NULL OR host IS NULL OR host = %(host)s) LIMIT 1",
    open=str(OPEN_RUN),
)

# Oldest first, for fairness to choose from.
QUEUED = """
SELECT id, host FROM runs WHERE status = 'queued' AND (host IS NULL OR host = %s) ORDER BY id
"""

# Only of a run that is being carried out: one that has ended stays as it is.
SET_STATUS = """
UPDATE runs SET status = %(status)s, error = coalesce(%(error)s, error),
                version = nextval('run_changes')
WHERE id = %(run_id)s AND status = 'running'
"""

# An error says that a fault stops it, and not a person.
STOPPING = "SELECT id, error FROM runs WHERE status = 'cancelling' ORDER BY id"

# Whether anybody still carries them out, their workers' locks say.
RUNNING = "SELECT id FROM runs WHERE status = 'running' ORDER BY id"

# Asked by workers, who serve every tenant.
TENANT_OF = "SELECT tenant_id FROM runs WHERE id = %s"

# Held until it is cancelled: it may end meanwhile.
HOLD = "SELECT status, error FROM runs WHERE tenant_id = %s AND id = %s FOR UPDATE"

# A living worker holds a lock; the locks of all databases of a server stand in one table.
ANY_WORKER = """
SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1
"""

# No row: the run is gone, and is to stop.
STATUS_OF = "SELECT status FROM runs WHERE id = %s"

# NOTIFY itself takes no bound value.
NOTIFY = "SELECT pg_notify(%s, %s)"
