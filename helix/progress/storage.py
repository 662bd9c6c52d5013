"""Progress in the database: sessions that grow together, counts by the quarter of an hour, totals.

What is stored depends on the actions and not on their order: several servers write what each of
them noted, a second late, of one learner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from helix.progress.actions import TURNED_ON, Learner, RecordedAction, quarter_of, sessions_of
from helix.storage.connections import Connected

_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%(key)s, 0))"
# Sessions lie apart by more than the idle time: those that a new one touches begin at the last one
# that began before it.
_MERGE = """
WITH touched AS (
    DELETE FROM progress_sessions
    WHERE tenant_id = %(tenant)s AND learner = %(learner)s
        AND started_at <= %(ended)s::timestamptz + %(idle)s
        AND ended_at >= %(started)s::timestamptz - %(idle)s
        AND started_at >= coalesce((
            SELECT max(started_at) FROM progress_sessions
            WHERE tenant_id = %(tenant)s AND learner = %(learner)s
                AND started_at <= %(started)s), '-infinity')
    RETURNING started_at, ended_at)
INSERT INTO progress_sessions (tenant_id, learner, started_at, ended_at)
SELECT %(tenant)s, %(learner)s, least(min(started_at), %(started)s::timestamptz),
    greatest(max(ended_at), %(ended)s::timestamptz) FROM touched
"""
_COUNT = """
INSERT INTO progress_counts AS c (tenant_id, learner, quarter, action, n)
SELECT %(tenant)s, %(learner)s, * FROM unnest(
    %(quarters)s::timestamptz[], %(actions)s::text[], %(counts)s::bigint[])
ON CONFLICT (tenant_id, learner, quarter, action) DO UPDATE SET n = c.n + excluded.n
"""
_TOTAL = """
INSERT INTO progress_totals AS t (tenant_id, learner, action, n)
SELECT %(tenant)s, %(learner)s, * FROM unnest(%(actions)s::text[], %(counts)s::bigint[])
ON CONFLICT (tenant_id, learner, action) DO UPDATE SET n = t.n + excluded.n
"""
# That a learner wants it stands among the totals, so that it is exported, erased and forgotten
# with them.
_IS_ON = """
SELECT FROM progress_totals
WHERE tenant_id = %(tenant)s AND learner = %(learner)s AND action = %(wanted)s
"""
_TURN_ON = """
INSERT INTO progress_totals (tenant_id, learner, action, n)
VALUES (%(tenant)s, %(learner)s, %(wanted)s, 1) ON CONFLICT DO NOTHING
"""
_TURN_OFF = """
DELETE FROM progress_totals
WHERE tenant_id = %(tenant)s AND learner = %(learner)s AND action = %(wanted)s
"""
_FORGET = (
    "DELETE FROM progress_sessions WHERE tenant_id = %(tenant)s AND learner = %(learner)s",
    "DELETE FROM progress_days WHERE tenant_id = %(tenant)s AND learner = %(learner)s",
    "DELETE FROM progress_counts WHERE tenant_id = %(tenant)s AND learner = %(learner)s",
    "DELETE FROM progress_totals WHERE tenant_id = %(tenant)s AND learner = %(learner)s",
)
_FORGET_ALL = (
    "DELETE FROM progress_sessions",
    "DELETE FROM progress_days",
    "DELETE FROM progress_counts",
    "DELETE FROM progress_totals",
)


def store(
    connection: Connected, learner: Learner, actions: Sequence[RecordedAction], idle: timedelta,
    *, if_turned_on: bool = False,
) -> None:  # fmt: skip
    """Add what was noted of ``learner``, inside the caller's transaction.

    ``if_turned_on``: only where the learner wants it, and otherwise nothing is kept.
    """
    whose = {"tenant": learner.tenant, "learner": learner.name}
    wanted = whose | {"wanted": TURNED_ON}
    if if_turned_on and connection.execute(_IS_ON, wanted).fetchone() is None:
        return
    connection.execute(_LOCK, {"key": f"progress {learner.tenant} {learner.name}"})
    for session in sessions_of((one.at for one in actions), idle):
        values = {"started": session.started_at, "ended": session.ended_at, "idle": idle}
        connection.execute(_MERGE, whose | values)
    quarters: Counter[tuple[object, str]] = Counter()
    totals: Counter[str] = Counter()
    for one in actions:
        quarters[quarter_of(one.at), one.action] += one.n
        totals[one.action] += one.n
    values = {
        "quarters": [quarter for quarter, _ in quarters],
        "actions": [action for _, action in quarters],
        "counts": list(quarters.values()),
    }
    connection.execute(_COUNT, whose | values)
    values = {"actions": list(totals), "counts": list(totals.values())}
    connection.execute(_TOTAL, whose | values)


def turn(connection: Connected, learner: Learner, *, on: bool) -> None:
    """Keep the progress of ``learner`` from now on, or no more of it; what is kept stays."""
    values = {"tenant": learner.tenant, "learner": learner.name, "wanted": TURNED_ON}
    connection.execute(_TURN_ON if on else _TURN_OFF, values)


def forget(connection: Connected, learner: Learner) -> None:
    """Delete all progress of ``learner``, inside the caller's transaction."""
    for statement in _FORGET:
        connection.execute(statement, {"tenant": learner.tenant, "learner": learner.name})


def forget_everybody(connection: Connected) -> int:
    """Delete the progress of all tenants; how many rows."""
    return sum(connection.execute(statement).rowcount for statement in _FORGET_ALL)
