"""The actions that count as progress, their sessions, and their quarters of an hour."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

Action = Literal[
    "conversation_begun", "question_asked", "question_scoped", "answer_rated", "document_attached",
    "quiz_made", "quiz_taken", "quiz_question_right", "quiz_perfect", "quiz_advanced_passed",
    "cards_made", "card_reviewed", "deck_mastered",
    "workshop_made", "lesson_read", "lesson_finished", "workshop_finished",
    "map_made", "map_opened", "map_exported",
]  # fmt: skip
TURNED_ON = "turned_on"
"""No action: the total that says that a learner wants progress to be kept."""
QUARTER = timedelta(minutes=15)
"""The unit of stored times: the offset of every time zone, so each zone's days, are whole ones."""


class Learner(NamedTuple):
    """The owner of progress: a tenant, and the name of its API key or ``""`` without one."""

    tenant: str
    name: str


@dataclass(frozen=True, slots=True)
class RecordedAction:
    """An action that was done ``n`` times at one moment."""

    at: datetime
    action: Action
    n: int = 1


class Session(NamedTuple):
    """The time from the first to the last of actions with no gap longer than the idle time."""

    started_at: datetime
    ended_at: datetime


def quarter_of(at: datetime) -> datetime:
    """The beginning of the quarter of an hour that ``at`` is in."""
    seconds = int(at.timestamp())
    return datetime.fromtimestamp(seconds - seconds % int(QUARTER.total_seconds()), UTC)


def sessions_of(times: Iterable[datetime], idle: timedelta) -> list[Session]:
    """The sessions of actions at ``times``: a gap longer than ``idle`` ends one."""
    sessions: list[Session] = []
    for at in sorted(times):
        if sessions and at - sessions[-1].ended_at <= idle:
            sessions[-1] = sessions[-1]._replace(ended_at=at)
        else:
            sessions.append(Session(at, at))
    return sessions
