"""Read replicas: whose they are, and how far behind."""

# Asked of the primary: the end of every acknowledged commit. That is the flushed position, because
# a replica gets nothing beyond it; but without synchronous commits that position may be too early.
POSITION = """
SELECT (CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn()
        ELSE pg_current_wal_flush_lsn() END)::text AS position
"""

# The same of a primary and its replicas, and of no other two; replays says which it is.
IDENTITY = """
SELECT system_identifier::text AS cluster, current_database()::text AS name,
       pg_is_in_recovery() AS replays, pg_backend_pid() AS backend
FROM pg_control_system()
"""

# Asked of a replica: the bytes that it has still to replay up to a position.
LAG = """
SELECT greatest(pg_wal_lsn_diff(%(position)s::pg_lsn, pg_last_wal_replay_lsn()), 0)::bigint AS bytes
"""

# Asked with the read itself, as a part of its first statement.
CAUGHT_UP = """
SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= %(position)s::pg_lsn AS caught_up
"""
