"""A learner's values towards badges, as they are at the end of a day of a time zone.

Each only grows from day to day, so a badge is earned on the day at whose end its value is reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from zoneinfo import ZoneInfo

from helix.library.access import Library, Row
from helix.progress.actions import TURNED_ON, Learner

_TOTALS = """
SELECT t.action, t.n - coalesce(later.n, 0) AS n
FROM progress_totals t LEFT JOIN (
    SELECT action, sum(n)::bigint AS n FROM progress_counts
    WHERE tenant_id = %(tenant)s AND learner = %(learner)s
        AND quarter >= (%(until)s::date + 1)::timestamp AT TIME ZONE %(zone)s
    GROUP BY action) later ON later.action = t.action
WHERE t.tenant_id = %(tenant)s AND t.learner = %(learner)s ORDER BY t.action
"""
# A day of UTC is cut where the zone's date changes: the quarters before are one day's, the others
# the next one's.
_DAYS = """
WITH dated AS (
    SELECT active, sessions, lasted, begins, (begins AT TIME ZONE %(zone)s)::date AS first,
        ((begins + interval '24 hours' - interval '1 us') AT TIME ZONE %(zone)s)::date AS last
    FROM progress_days, LATERAL (SELECT day::timestamp AT TIME ZONE 'UTC') AS utc (begins)
    WHERE tenant_id = %(tenant)s AND learner = %(learner)s AND day <= %(until)s::date + 1),
cut AS (
    SELECT active, first, last, CASE WHEN first = last THEN 96 ELSE (extract(
        epoch FROM last::timestamp AT TIME ZONE %(zone)s - begins) / 900)::int END AS quarters
    FROM dated),
halves AS (
    SELECT first AS day FROM cut WHERE position(B'1' IN substring(active FROM 1 FOR quarters)) > 0
    UNION SELECT last FROM cut WHERE position(B'1' IN substring(active FROM quarters + 1)) > 0),
days AS (SELECT day FROM halves WHERE day <= %(until)s),
streaks AS (
    SELECT count(*) AS length, max(day) AS last FROM (
        SELECT day, day - (row_number() OVER (ORDER BY day))::int AS streak FROM days) d
    GROUP BY streak)
SELECT (SELECT coalesce(sum(d.sessions), 0) FROM dated d) AS sessions,
    (SELECT floor(coalesce(extract(epoch FROM sum(d.lasted)), 0) / 60) FROM dated d)::bigint
        AS minutes,
    (SELECT count(*) FROM days) AS days_active,
    (SELECT coalesce(max(s.length), 0) FROM streaks s) AS longest,
    (SELECT coalesce(max(s.length), 0) FROM streaks s
     WHERE s.last >= %(until)s::date - 1) AS current
"""
# Late is from ten in the evening to four, early from four to seven.
_SESSIONS = """
WITH bounds AS (SELECT (%(until)s::date + 1)::timestamp AT TIME ZONE %(zone)s AS ends),
begun AS (
    SELECT least(ended_at, ends) - started_at AS lasted,
        extract(hour FROM started_at AT TIME ZONE %(zone)s) AS hour
    FROM progress_sessions, bounds
    WHERE tenant_id = %(tenant)s AND learner = %(learner)s AND started_at < ends),
asked AS (
    SELECT sum(n)::bigint AS n FROM progress_counts, bounds
    WHERE tenant_id = %(tenant)s AND learner = %(learner)s AND quarter < ends
        AND action = 'question_asked'
    GROUP BY (quarter AT TIME ZONE %(zone)s)::date)
SELECT count(*) AS sessions, count(*) FILTER (WHERE hour >= 22 OR hour < 4) AS late_sessions,
    count(*) FILTER (WHERE hour >= 4 AND hour < 7) AS early_sessions,
    floor(coalesce(extract(epoch FROM sum(lasted)), 0) / 60)::bigint AS minutes,
    floor(coalesce(extract(epoch FROM max(lasted)), 0) / 60)::bigint AS longest_session,
    (SELECT coalesce(max(n), 0) FROM asked) AS questions_in_a_day
FROM begun
"""


@dataclass(frozen=True, slots=True)
class Metrics:
    """The actions of a learner up to the end of a day, and whether progress is turned on.

    ``actions`` are counts by name, ``days`` and ``sessions`` the rows of these queries. The
    sessions of ``sessions`` are cut at the end of the day, and those of ``days`` are whole.
    """

    on: bool
    actions: Mapping[str, int]
    days: Row
    sessions: Row

    @property
    def values(self) -> dict[str, int]:
        """The value of each metric of a badge."""
        return {
            **self.actions, **self.sessions,
            "days_active": self.days["days_active"], "longest_streak": self.days["longest"],
        }  # fmt: skip


async def read_metrics(library: Library, learner: Learner, zone: ZoneInfo, until: date) -> Metrics:
    """The metrics at the end of the day ``until`` of ``zone``.

    Raises:
        StoreUnavailable: the database did not answer.
    """
    values = {"learner": learner.name, "until": until, "zone": zone.key}
    actions = {row["action"]: row["n"] for row in await library.all_data(_TOTALS, values)}
    is_on = actions.pop(TURNED_ON, 0) > 0
    (days,) = await library.all_data(_DAYS, values)
    (sessions,) = await library.all_data(_SESSIONS, values)
    done = {name: n for name, n in actions.items() if n > 0}
    return Metrics(is_on, done, days, sessions)
