"""Progress for its reader: totals, streaks, ninety days, one day's detail, badges.

A day is a calendar day of the requested time zone: 23 or 25 hours long where the clocks change.
Stored times have no zone.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from helix.errors import BadRequest
from helix.library.access import Library, Row
from helix.progress.actions import Learner
from helix.progress.badges import badges

DAYS = 90
"""Days of the heatmap, today the last."""
_LEVELS = (15, 60, 180)
"""Levels of a day, in minutes: level 2 from the first, 3 and 4 above the others; else level 1."""

# The sessions since the first day begin at the last one that began before it: they do not overlap.
_RECENT = """
WITH span AS (
    SELECT (%(now)s::timestamptz AT TIME ZONE %(zone)s)::date - %(days)s + 1 AS first,
        (%(now)s::timestamptz AT TIME ZONE %(zone)s)::date AS today),
recent AS (
    SELECT s.started_at, s.ended_at FROM progress_sessions s, span
    WHERE tenant_id = %(tenant)s AND learner = %(learner)s AND started_at >= coalesce((
        SELECT max(started_at) FROM progress_sessions
        WHERE tenant_id = %(tenant)s AND learner = %(learner)s
            AND started_at <= span.first::timestamp AT TIME ZONE %(zone)s), '-infinity')),
parts AS (
    SELECT d::date AS day,
        least(ended_at, (d + interval '1 day') AT TIME ZONE %(zone)s)
            - greatest(started_at, d AT TIME ZONE %(zone)s) AS length
    FROM recent, generate_series(
        date_trunc('day', started_at AT TIME ZONE %(zone)s),
        ended_at AT TIME ZONE %(zone)s, interval '1 day') d)
SELECT d::date AS day, count(p.day) AS sessions,
    coalesce(extract(epoch FROM sum(p.length)), 0)::float8 AS seconds
FROM span, generate_series(first::timestamp, today::timestamp, interval '1 day') d
LEFT JOIN parts p ON p.day = d::date
GROUP BY d ORDER BY d
"""
# A day of UTC is cut where the zone's date changes: the quarters before are one day's, the others
# the next one's.
_EVER = """
WITH own AS (
    SELECT day, active, sessions, lasted FROM progress_days
    WHERE tenant_id = %(tenant)s AND learner = %(learner)s),
dated AS (
    SELECT active, begins, (begins AT TIME ZONE %(zone)s)::date AS first,
        ((begins + interval '24 hours' - interval '1 us') AT TIME ZONE %(zone)s)::date AS last
    FROM own, LATERAL (SELECT day::timestamp AT TIME ZONE 'UTC') AS utc (begins)),
cut AS (
    SELECT active, first, last, CASE WHEN first = last THEN 96 ELSE (extract(
        epoch FROM last::timestamp AT TIME ZONE %(zone)s - begins) / 900)::int END AS quarters
    FROM dated),
days AS (
    SELECT first AS day FROM cut WHERE position(B'1' IN substring(active FROM 1 FOR quarters)) > 0
    UNION SELECT last FROM cut WHERE position(B'1' IN substring(active FROM quarters + 1)) > 0),
streaks AS (
    SELECT count(*) AS length, max(day) AS last FROM (
        SELECT day, day - (row_number() OVER (ORDER BY day))::int AS streak FROM days) d
    GROUP BY streak)
SELECT coalesce(sum(sessions), 0) AS sessions,
    coalesce(extract(epoch FROM sum(lasted)), 0)::float8 AS seconds,
    (SELECT count(*) FROM days) AS days_active,
    (SELECT coalesce(max(s.length), 0) FROM streaks s) AS longest,
    (SELECT coalesce(max(s.length), 0) FROM streaks s
     WHERE s.last >= (%(now)s::timestamptz AT TIME ZONE %(zone)s)::date - 1) AS current
FROM own
"""
_TOTALS = """
SELECT action, n FROM progress_totals
WHERE tenant_id = %(tenant)s AND learner = %(learner)s ORDER BY action
"""
# A session that goes on from the day before, or into the next, is cut at midnight.
_SESSIONS = """
WITH bounds AS (
    SELECT %(day)s::date::timestamp AT TIME ZONE %(zone)s AS begins,
        (%(day)s::date + 1)::timestamp AT TIME ZONE %(zone)s AS ends)
SELECT greatest(started_at, begins) AS started_at, least(ended_at, ends) AS ended_at
FROM progress_sessions, bounds
WHERE tenant_id = %(tenant)s AND learner = %(learner)s AND started_at < ends
    AND ended_at >= begins ORDER BY started_at
"""
_ACTIONS = """
SELECT action, sum(n)::bigint AS n FROM progress_counts
WHERE tenant_id = %(tenant)s AND learner = %(learner)s
    AND quarter >= %(day)s::date::timestamp AT TIME ZONE %(zone)s
    AND quarter < (%(day)s::date + 1)::timestamp AT TIME ZONE %(zone)s
GROUP BY action ORDER BY action
"""


def time_zone(name: str) -> ZoneInfo:
    """The IANA time zone of this name.

    Raises:
        BadRequest: there is none.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadRequest("time_zone is no time zone's name, such as Europe/Berlin") from None


def level_of(minutes: float, sessions: int) -> int:
    """0 nothing was done; 1 under 15 minutes; 2 up to an hour; 3 up to three hours; 4 more."""
    if sessions == 0:
        return 0
    quarter, hour, most = _LEVELS
    return 1 + (minutes >= quarter) + (minutes > hour) + (minutes > most)


async def read_progress(
    library: Library, learner: Learner, zone: str, now: datetime | None = None
) -> Row:
    """The JSON of GET /v1/progress, with days of the time zone ``zone``.

    Raises:
        BadRequest: there is no such time zone.
        StoreUnavailable: the database did not answer.
    """
    now = now or datetime.now(UTC)
    values = {"learner": learner.name, "now": now, "zone": time_zone(zone).key, "days": DAYS}
    days = [_day(row) for row in await library.all_data(_RECENT, values)]
    (ever,) = await library.all_data(_EVER, values)
    actions = {row["action"]: row["n"] for row in await library.all_data(_TOTALS, values)}
    minutes = int(ever["seconds"] // 60)
    metrics: Mapping[str, int] = {
        **actions, "days_active": ever["days_active"], "longest_streak": ever["longest"],
        "minutes": minutes, "sessions": ever["sessions"],
    }  # fmt: skip
    return {
        "time_zone": zone,
        "today": days[-1]["date"],
        "totals": {
            "sessions": ever["sessions"], "minutes": minutes,
            "days_active": ever["days_active"], "actions": actions,
        },
        "streak": {
            "current": ever["current"], "longest": ever["longest"],
            "today": days[-1]["level"] > 0,
        },
        "days": days,
        "badges": [badge.to_json(metrics) for badge in badges()],
    }  # fmt: skip


def _day(row: Row) -> Row:
    minutes = row["seconds"] / 60
    level = level_of(minutes, row["sessions"])
    return {"date": row["day"].isoformat(), "minutes": round(minutes), "level": level}


async def read_day(library: Library, learner: Learner, day: date, zone: str) -> Row:
    """One day's sessions, cut at its ends, and how often what was done.

    Raises:
        BadRequest: there is no such time zone.
        StoreUnavailable: the database did not answer.
    """
    local = time_zone(zone)
    values: dict[str, Any] = {"learner": learner.name, "day": day, "zone": local.key}
    sessions = await library.all_data(_SESSIONS, values)
    actions = await library.all_data(_ACTIONS, values)
    lengths = [(row["ended_at"] - row["started_at"]).total_seconds() / 60 for row in sessions]
    return {
        "date": day.isoformat(),
        "minutes": round(sum(lengths)),
        "level": level_of(sum(lengths), len(sessions)),
        "sessions": [
            {"from": row["started_at"].astimezone(local).isoformat(timespec="seconds"),
             "to": row["ended_at"].astimezone(local).isoformat(timespec="seconds"),
             "minutes": round(length)}
            for row, length in zip(sessions, lengths, strict=True)
        ],
        "actions": {row["action"]: row["n"] for row in actions},
    }  # fmt: skip
