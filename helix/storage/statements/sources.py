"""Sources: what they are, how they stand, and which of them are due."""

from helix.domain.contract import OPEN_RUN
from helix.storage.statements import compose

# The secrets are told of, never shown. What is counted is what a person acts on.
_COLUMNS = compose(
    """
s.id, s.name, s.kind, s.address, s.options, s.secrets IS NOT NULL AS has_secrets, s.include,
s.exclude, s.max_bytes, s.max_age_days, s.spaces, s.tags, s.metadata, s.folder_keys, s.group_map,
s.every_seconds, s.follow_removals, s.host, s.state, s.next_run_at, s.last_run_at, s.last_whole_at,
s.last_error, s.counts, s.preview, s.created_at,
(SELECT max(r.id) FROM runs r WHERE r.tenant_id = s.tenant_id AND r.kind = 'source'
    AND r.key = 'source ' || s.id AND r.status IN {open}) AS run_id,
(SELECT count(e.document_id) FROM source_entries e
    WHERE (e.tenant_id, e.source_id) = (s.tenant_id, s.id)) AS documents,
(SELECT count(*) FROM source_entries e
    WHERE (e.tenant_id, e.source_id) = (s.tenant_id, s.id) AND e.reason <> '') AS failed,
(SELECT count(e.document_id) FROM source_entries e
    WHERE (e.tenant_id, e.source_id) = (s.tenant_id, s.id) AND e.gone_at IS NOT NULL) AS waiting
""",
    open=str(OPEN_RUN),
)

# By name, as people look for one; the ids are of those alone, where there are any.
LIST = compose(
    """
SELECT row_to_json(x) FROM (SELECT {columns} FROM sources s WHERE s.tenant_id = %(tenant)s
    AND (%(ids)s::bigint[] IS NULL OR s.id = ANY(%(ids)s)) ORDER BY lower(s.name)) x
""",
    columns=_COLUMNS,
)

# By its name, or by its id; a name is no number.
FIND = """
SELECT id FROM sources WHERE tenant_id = %(tenant)s
    AND (lower(name) = lower(%(named)s) OR id::text = %(named)s)
"""

# As a worker opens it.
LOAD = """
SELECT tenant_id AS tenant, id, name, kind, address, options, secrets, include, exclude, max_bytes,
       max_age_days, spaces, tags, metadata, folder_keys, group_map, follow_removals, trusted
FROM sources WHERE tenant_id = %(tenant)s AND id = %(id)s
"""

# A second of its name is told by no row. It is due at once where it is synced by itself.
ADD = """
INSERT INTO sources (tenant_id, name, kind, address, options, secrets, include, exclude, max_bytes,
                     max_age_days, spaces, tags, metadata, folder_keys, group_map, every_seconds,
                     follow_removals, host, trusted, next_run_at)
VALUES (%(tenant)s, %(name)s, %(kind)s, %(address)s, %(options)s, %(secrets)s, %(include)s,
        %(exclude)s, nullif(%(max_bytes)s, 0), nullif(%(max_age_days)s, 0), %(spaces)s::bigint[],
        %(tags)s, %(metadata)s, %(folder_keys)s, %(group_map)s, nullif(%(every_seconds)s, 0),
        %(follow_removals)s, nullif(%(host)s, ''), %(trusted)s,
        now() + make_interval(secs => nullif(%(every_seconds)s, 0)))
ON CONFLICT (tenant_id, lower(name)) DO NOTHING RETURNING id
"""

# What is null stays. Its documents take its spaces and tags at once where these are others.
CHANGE = """
WITH changed AS (
    UPDATE sources SET
        name = coalesce(%(name)s, name), address = coalesce(%(address)s, address),
        options = coalesce(%(options)s, options), secrets = coalesce(%(secrets)s, secrets),
        include = coalesce(%(include)s, include), exclude = coalesce(%(exclude)s, exclude),
        max_bytes = nullif(coalesce(%(max_bytes)s, max_bytes), 0),
        max_age_days = nullif(coalesce(%(max_age_days)s, max_age_days), 0),
        spaces = coalesce(%(spaces)s::bigint[], spaces), tags = coalesce(%(tags)s, tags),
        metadata = coalesce(%(metadata)s, metadata),
        folder_keys = coalesce(%(folder_keys)s, folder_keys),
        group_map = coalesce(%(group_map)s, group_map),
        every_seconds = nullif(coalesce(%(every_seconds)s, every_seconds), 0),
        next_run_at = CASE WHEN %(every_seconds)s IS NULL THEN next_run_at
            ELSE now() + make_interval(secs => nullif(%(every_seconds)s, 0)) END,
        follow_removals = coalesce(%(follow_removals)s, follow_removals),
        host = nullif(coalesce(%(host)s, host), ''), trusted = trusted AND %(trusted)s
    WHERE tenant_id = %(tenant)s AND id = %(id)s
    RETURNING tenant_id, id, spaces, tags, group_map
), followed AS (
    UPDATE documents d SET
        spaces = CASE WHEN %(spaces)s::bigint[] IS NULL OR c.group_map <> '{}' THEN d.spaces
            ELSE c.spaces END,
        tags = CASE WHEN %(tags)s::text[] IS NULL THEN d.tags ELSE c.tags END
    FROM changed c JOIN source_entries e ON (e.tenant_id, e.source_id) = (c.tenant_id, c.id)
    WHERE (d.tenant_id, d.id) = (e.tenant_id, e.document_id)
        AND num_nonnulls(%(spaces)s::bigint[], %(tags)s::text[]) > 0
)
SELECT id FROM changed
"""

# The same secrets under the key that is the first now, or with a token that was renewed; what was
# given meanwhile stays.
RESEAL = """
UPDATE sources SET secrets = %(secrets)s
WHERE tenant_id = %(tenant)s AND id = %(id)s AND secrets = %(before)s
"""

# Paused, it keeps the time that it would have run at.
SET_STATE = """
UPDATE sources SET state = %(state)s WHERE tenant_id = %(tenant)s AND id = %(id)s RETURNING id
"""

# Its entries go with it; its documents stay.
DELETE = "DELETE FROM sources WHERE tenant_id = %(tenant)s AND id = %(id)s RETURNING id"

# The unique index of open syncs decides between two that ask at once.
START = """
INSERT INTO runs (tenant_id, kind, options, key, host)
SELECT tenant_id, 'source', %(options)s, 'source ' || id, host FROM sources
WHERE tenant_id = %(tenant)s AND id = %(id)s
ON CONFLICT DO NOTHING RETURNING id
"""

# The sync that is open, and whether it is being stopped.
OPEN_SYNC = compose(
    """
SELECT id, status, options FROM runs WHERE tenant_id = %(tenant)s AND kind = 'source'
    AND key = 'source ' || %(id)s::bigint AND status IN {open}
""",
    open=str(OPEN_RUN),
)

# Those due of all tenants, each once however many workers look; one that is being synced stays due.
START_DUE = compose(
    """
WITH due AS (
    SELECT tenant_id, id, host, every_seconds FROM sources s
    WHERE state = 'active' AND next_run_at <= now() AND NOT EXISTS (
        SELECT FROM runs r WHERE r.tenant_id = s.tenant_id AND r.kind = 'source'
            AND r.key = 'source ' || s.id AND r.status IN {open})
    ORDER BY next_run_at LIMIT 100 FOR UPDATE SKIP LOCKED
), planned AS (
    UPDATE sources s SET next_run_at = now() + make_interval(secs => due.every_seconds)
    FROM due WHERE (s.tenant_id, s.id) = (due.tenant_id, due.id)
)
INSERT INTO runs (tenant_id, kind, options, key, host)
SELECT tenant_id, 'source', jsonb_build_object('source_id', id), 'source ' || id, host FROM due
ON CONFLICT DO NOTHING RETURNING id
""",
    open=str(OPEN_RUN),
)

# The folders that a worker of this machine looks at for changes.
WATCHED = """
SELECT tenant_id, id, address FROM sources
WHERE kind = 'folder' AND state = 'active' AND options ->> 'watch' = 'true'
    AND (host IS NULL OR host = %(host)s)
ORDER BY tenant_id, id
"""

# Something changed there: it is due now.
DUE_NOW = """
UPDATE sources SET next_run_at = now()
WHERE tenant_id = %(tenant)s AND id = %(id)s AND state = 'active'
    AND next_run_at IS DISTINCT FROM least(next_run_at, now())
"""

# How a sync went, as it is known when it ends; a listing that ended whole has its time.
TELL = """
UPDATE sources SET last_run_at = now(), last_error = %(error)s, counts = %(counts)s,
    last_whole_at = CASE WHEN %(whole)s THEN now() ELSE last_whole_at END, preview = NULL
WHERE tenant_id = %(tenant)s AND id = %(id)s
"""

# Of one that was asked for alone.
TELL_PREVIEW = """
UPDATE sources SET preview = %(preview)s WHERE tenant_id = %(tenant)s AND id = %(id)s
"""

# A source of another worker's sync is waited for; the lock ends with its connection.
HOLD = "SELECT pg_try_advisory_lock(hashtextextended('helix source ' || %s || ' ' || %s, 0))"

# Spaces of a group that are not there any more are passed over.
SPACES = "SELECT coalesce(array_agg(id), '{}') FROM spaces WHERE tenant_id = %s"

# The source that a run syncs, and what was asked of it.
SYNC_OF_RUN = """
SELECT tenant_id, (options ->> 'source_id')::bigint, options FROM runs
WHERE id = %s AND kind = 'source'
"""

# What a sync says of itself while it goes on, as a worker that takes it over finds it.
TOLD = "SELECT last_error, counts FROM sources WHERE tenant_id = %(tenant)s AND id = %(id)s"

# How many documents it removed is known when it ends.
COUNT = """
UPDATE sources SET counts = counts || %(counts)s WHERE tenant_id = %(tenant)s AND id = %(id)s
"""
