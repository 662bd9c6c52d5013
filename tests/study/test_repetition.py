"""The time when cards come again: py-fsrs's own schedule, kept as JSON between reviews."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from helix.study.repetition import RATINGS, Rating, intervals, reviewed

BEGIN = datetime(2022, 11, 29, 12, 30, tzinfo=UTC)
GOOD: Rating = "good"
REVIEWS: list[Rating] = [GOOD] * 6 + ["again"] * 2 + [GOOD] * 5
DAYS = [0, 2, 11, 46, 163, 498, 0, 0, 2, 4, 7, 12, 21]
"""Of py-fsrs 6's tests (tests/test_basic.py, test_review_card)."""


def test_the_schedule_is_the_librarys_own_vector() -> None:
    stored: dict[str, Any] | None = None
    now, days = BEGIN, []
    for rating in REVIEWS:
        shown = intervals(stored, 1, now, 0.9)
        card = reviewed(stored, 1, rating, now, 0.9)
        assert shown[rating] == round((card.due - now).total_seconds())
        assert shown["again"] <= shown["hard"] <= shown["good"] <= shown["easy"]
        stored = json.loads(json.dumps(card.to_dict()))
        days.append((card.due - now).days)
        now = card.due
    assert days == DAYS and set(shown) == set(RATINGS)


def test_more_retention_means_sooner_reviews() -> None:
    stored = dict(reviewed(None, 1, "easy", BEGIN, 0.9).to_dict())
    due = {r: intervals(stored, 1, BEGIN, r)["good"] for r in (0.97, 0.9, 0.7)}
    assert due[0.97] < due[0.9] < due[0.7]
