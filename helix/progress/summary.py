"""Progress for its reader: totals, streaks, ninety days, one day's detail, badges.

A day is a calendar day of the requested time zone: 23 or 25 hours long where the clocks change.
Stored times have no zone.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from helix.errors import BadRequest
from helix.library.access import Library, Row
from helix.progress.actions import Learner
from helix.progress.badges import badges
from helix.progress.metrics import read_metrics

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
    now, local = now or datetime.now(UTC), time_zone(zone)
    values = {"learner": learner.name, "now": now, "zone": local.key, "days": DAYS}
    days = [_day(row) for row in await library.all_data(_RECENT, values)]
    metrics = await read_metrics(library, learner, local, now.astimezone(local).date())
    reached, ever = metrics.values, metrics.days
    return {
        "on": metrics.on,
        "time_zone": zone,
        "today": days[-1]["date"],
        "totals": {
            "sessions": ever["sessions"], "minutes": ever["minutes"],
            "days_active": ever["days_active"], "actions": metrics.actions,
        },
        "streak": {
            "current": ever["current"], "longest": ever["longest"],
            "today": days[-1]["level"] > 0,
        },
        "days": days,
        "badges": [badge.to_json(reached) for badge in badges()],
    }  # fmt: skip


def _day(row: Row) -> Row:
    minutes = row["seconds"] / 60
    level = level_of(minutes, row["sessions"])
    return {"date": row["day"].isoformat(), "minutes": round(minutes), "level": level}


async def read_day(library: Library, learner: Learner, day: date, zone: str) -> Row:
    """One day's sessions, cut at its ends, how often what was done, and the badges earned.

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
        "badges": await _earned_on(library, learner, day, local),
    }  # fmt: skip


async def _earned_on(library: Library, learner: Learner, day: date, zone: ZoneInfo) -> list[Row]:
    if day == date.min:  # there is no day before it
        return []
    before = (await read_metrics(library, learner, zone, day - timedelta(days=1))).values
    after = (await read_metrics(library, learner, zone, day)).values
    return [
        {"code": badge.code, "title": badge.title, "icon": badge.icon}
        for badge in badges()
        if badge.is_earned(after) and not badge.is_earned(before)
    ]
