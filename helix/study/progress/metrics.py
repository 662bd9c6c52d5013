"""A learner's values towards badges, as they are at the end of a day of a time zone.

Each only grows from day to day, so a badge is earned on the day at whose end its value is reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from zoneinfo import ZoneInfo

from helix.library.access import Library, Row
from helix.storage.statements import progress as sql
from helix.study.progress.actions import TURNED_ON, Learner


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
