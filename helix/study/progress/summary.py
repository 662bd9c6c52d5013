"""Progress for its reader: totals, streaks, ninety days, one day's detail, badges.

A day is a calendar day of the requested time zone: 23 or 25 hours long where the clocks change.
Stored times have no zone.

Badges are those of badges.json. A badge's ``metric`` is an action's name or one of DERIVED; the
badge is earned at ``target``. ``next`` is the code of the next level. A new badge is an entry of
the file, and no code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from helix.errors import BadRequest
from helix.library.access import Library, Row
from helix.storage.statements import progress as sql
from helix.study.progress.actions import TURNED_ON, Learner

DERIVED = (
    "days_active", "longest_streak", "minutes", "sessions", "longest_session", "late_sessions",
    "early_sessions", "questions_in_a_day",
)  # fmt: skip
"""Metrics besides the number of times that an action was done."""


@dataclass(frozen=True)
class Badge:
    """One entry of badges.json."""

    code: str
    group: str
    title: str
    icon: str
    text: str
    metric: str
    target: int
    next: str | None = None

    def is_earned(self, values: Mapping[str, int]) -> bool:
        """True once the value of the badge's metric has reached its target."""
        return values.get(self.metric, 0) >= self.target

    def to_json(self, values: Mapping[str, int]) -> dict[str, Any]:
        """The badge with the value of its metric in ``values``, and whether it is earned."""
        value = min(values.get(self.metric, 0), self.target)
        return asdict(self) | {"value": value, "earned": self.is_earned(values)}


@cache
def badges() -> tuple[Badge, ...]:
    """Every badge, in the file's order; read once a process."""
    text = files("helix.study.progress").joinpath("badges.json").read_text("utf-8")
    return tuple(Badge(**entry) for entry in json.loads(text))


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
    actions = {row["action"]: row["n"] for row in await library.all_data(sql.TOTALS_UNTIL, values)}
    is_on = actions.pop(TURNED_ON, 0) > 0
    (days,) = await library.all_data(sql.ACTIVE_DAYS, values)
    (sessions,) = await library.all_data(sql.SESSIONS_UNTIL, values)
    done = {name: n for name, n in actions.items() if n > 0}
    return Metrics(is_on, done, days, sessions)


DAYS = 90
"""Days of the heatmap, today the last."""
_LEVELS = (15, 60, 180)
"""Levels of a day, in minutes: level 2 from the first, 3 and 4 above the others; else level 1."""


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
    days = [_day(row) for row in await library.all_data(sql.RECENT_DAYS, values)]
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
    sessions = await library.all_data(sql.SESSIONS_OF_DAY, values)
    actions = await library.all_data(sql.ACTIONS_OF_DAY, values)
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
