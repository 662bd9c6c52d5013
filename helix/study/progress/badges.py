"""Badges, as badges.json lists them, and a learner's values towards each.

A badge's ``metric`` is an action's name or one of DERIVED; the badge is earned at ``target``.
``next`` is the code of the next level. A new badge is an entry of the file, and no code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any
from zoneinfo import ZoneInfo

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
