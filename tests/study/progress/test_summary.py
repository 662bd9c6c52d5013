"""Progress as it is read: ninety days in five zones, streaks, a day's detail, all badges."""

from __future__ import annotations

import random
import re
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from importlib.resources import files
from itertools import pairwise
from typing import Any, get_args
from zoneinfo import ZoneInfo

import pytest

from helix.errors import BadRequest
from helix.library.access import Library
from helix.study.progress.actions import Action, Learner, RecordedAction, Session, sessions_of
from helix.study.progress.storage import store
from helix.study.progress.summary import DAYS, DERIVED, badges, level_of, read_day, read_progress
from tests.support.fake_embedder import opened

IDLE = timedelta(minutes=15)
ADA = Learner("default", "ada")
START_OF_APIA = datetime(2011, 12, 1, tzinfo=UTC)
"""The month in which Samoa had no 30 December."""
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
# the clocks change within the 90 days before: at midnight itself in Havana, Santiago and Cairo
ZONES = {
    "Europe/Berlin": (2026, 4, 20), "America/Havana": (2026, 4, 20),
    "America/Santiago": (2026, 10, 1), "Australia/Lord_Howe": (2026, 5, 20),
    "Africa/Cairo": (2026, 5, 20), "Asia/Kolkata": (2026, 4, 20),
}  # fmt: skip


@pytest.fixture
async def library(database_url: str) -> AsyncIterator[Library]:
    async with opened(database_url) as chunks:
        yield Library(chunks)


async def _note(
    library: Library, times: list[datetime], action: Action = "question_asked", n: int = 1
) -> None:
    noted = [RecordedAction(at, action, n) for at in times]
    await library.change(lambda connection: store(connection, ADA, noted, IDLE))


def _minutes(begins: datetime, minutes: int) -> list[datetime]:
    """A time at each minute, the first and the last so far apart."""
    return [begins + MINUTE * n for n in range(minutes + 1)]


@pytest.mark.parametrize(
    ("minutes", "sessions", "level"),
    [(0, 0, 0), (0, 1, 1), (14.99, 2, 1), (15, 1, 2), (60, 1, 2), (60.1, 1, 3), (180, 1, 3),
     (180.1, 9, 4), (1440, 1, 4)],
)  # fmt: skip
def test_levels(minutes: float, sessions: int, level: int) -> None:
    assert level_of(minutes, sessions) == level


async def test_ninety_days_across_changes_of_the_clocks_in_six_zones(library: Library) -> None:
    """Ten minutes at noon of every local day: each day has them once, whatever its length."""
    for name, day in ZONES.items():
        zone = ZoneInfo(name)
        today = date(*day)
        days = [today - DAY * back for back in reversed(range(DAYS))]
        offsets = {datetime(d.year, d.month, d.day, 12, tzinfo=zone).utcoffset() for d in days}
        assert len(offsets) == (1 if name == "Asia/Kolkata" else 2), "the clocks change in between"
        learner = Learner("default", name)
        noted = [
            RecordedAction(at, "question_asked")
            for d in days
            for at in _minutes(
                datetime(d.year, d.month, d.day, 12, tzinfo=zone).astimezone(UTC), 10
            )
        ]

        def write(connection: Any, learner: Learner = learner, noted: Any = noted) -> None:
            store(connection, learner, noted, IDLE)

        await library.change(write)
        for hour in (0, 12, 23):
            now = datetime(*day, hour, 59, tzinfo=zone)
            found = await read_progress(library, learner, name, now)
            assert [each["date"] for each in found["days"]] == [d.isoformat() for d in days]
            assert {(each["minutes"], each["level"]) for each in found["days"]} == {(10, 1)}, name
        assert found["streak"] == {"current": 90, "longest": 90, "today": True}
        assert found["totals"] == {
            "sessions": 90, "minutes": 900, "days_active": 90, "actions": {"question_asked": 990},
        }  # fmt: skip


async def test_a_session_over_midnight_is_cut_where_the_readers_day_ends(library: Library) -> None:
    begins = datetime(2026, 3, 28, 22, 30, tzinfo=UTC)  # 23:30 in Berlin, the night of the change
    await _note(library, _minutes(begins, 50))
    now = datetime(2026, 3, 30, 12, tzinfo=UTC)
    in_utc = await read_progress(library, ADA, "UTC", now)
    assert [each["minutes"] for each in in_utc["days"][-3:]] == [50, 0, 0]
    in_berlin = await read_progress(library, ADA, "Europe/Berlin", now)
    assert [(each["date"], each["minutes"]) for each in in_berlin["days"][-3:]] == [
        ("2026-03-28", 30), ("2026-03-29", 20), ("2026-03-30", 0),
    ]  # fmt: skip
    assert in_berlin["totals"]["minutes"] == 50 and in_berlin["streak"]["current"] == 2
    detail = await read_day(library, ADA, date(2026, 3, 29), "Europe/Berlin")
    assert detail == {
        "date": "2026-03-29", "minutes": 20, "level": 2,
        "sessions": [
            {"from": "2026-03-29T00:00:00+01:00", "to": "2026-03-29T00:20:00+01:00", "minutes": 20}
        ],
        "actions": {"question_asked": 21}, "badges": [],
    }  # fmt: skip
    other = await read_progress(library, Learner("default", ""), "UTC", now)
    assert other["totals"]["actions"] == {} and {d["level"] for d in other["days"]} == {0}
    with pytest.raises(BadRequest, match="no time zone's name"):
        await read_progress(library, ADA, "../etc/passwd", now)
    with pytest.raises(BadRequest, match="no time zone's name"):
        await read_progress(library, ADA, "Mars/Base", now)


async def test_a_streak_stands_until_its_day_is_over(library: Library) -> None:
    noon = datetime(2026, 6, 10, 12, tzinfo=UTC)
    for back in (2, 3, 4, 10, 11, 12, 13, 30):
        await _note(library, [noon - DAY * back])
    assert (await read_progress(library, ADA, "UTC", noon))["streak"] == {
        "current": 0, "longest": 4, "today": False,
    }  # fmt: skip
    await _note(library, [noon - DAY])
    streak = (await read_progress(library, ADA, "UTC", noon))["streak"]
    assert streak == {"current": 4, "longest": 4, "today": False}
    await _note(library, [noon])
    streak = (await read_progress(library, ADA, "UTC", noon))["streak"]
    assert streak == {"current": 5, "longest": 5, "today": True}


async def test_a_session_of_days_counts_each_of_them(library: Library) -> None:
    begins = datetime(2026, 6, 1, 12, tzinfo=UTC)
    await _note(library, [begins + IDLE * n for n in range(4 * 24 * 3 + 1)])
    found = await read_progress(library, ADA, "UTC", begins + DAY * 3)
    assert [each["minutes"] for each in found["days"][-4:]] == [720, 1440, 1440, 720]
    assert found["totals"]["days_active"] == found["streak"]["longest"] == 4


async def test_days_and_streaks_are_those_of_any_zone(library: Library) -> None:
    """Against a count of the local dates of every session, in zones of all sorts of offsets."""
    chance = random.Random(18)
    learner, times, at = Learner("default", "traveller"), list[datetime](), START_OF_APIA
    for _ in range(400):
        at += MINUTE * chance.choice((3, 14, 15, 200, 700, 1500, 4000))
        times.append(at)
    sessions = sessions_of(times, IDLE)
    noted = [RecordedAction(each, "question_asked") for each in times]
    await library.change(lambda connection: store(connection, learner, noted, IDLE))
    for name in (
        "UTC", "Pacific/Apia", "Asia/Kathmandu", "Australia/Lord_Howe", "America/St_Johns",
        "America/Los_Angeles", "Pacific/Kiritimati",
    ):  # fmt: skip
        zone = ZoneInfo(name)
        dates = sorted({day for session in sessions for day in _dates(session, zone)})
        runs = [1]
        for before, after in pairwise(dates):
            runs = [*runs[:-1], runs[-1] + 1] if after - before == DAY else [*runs, 1]
        found = await read_progress(library, learner, name, times[-1])
        assert found["totals"]["days_active"] == len(dates), name
        assert found["streak"] == {"current": runs[-1], "longest": max(runs), "today": True}
        assert found["totals"]["sessions"] == len(sessions)
        seconds = sum((one.ended_at - one.started_at).total_seconds() for one in sessions)
        assert found["totals"]["minutes"] == seconds // 60


def _dates(session: Session, zone: ZoneInfo) -> set[date]:
    minutes = int((session.ended_at - session.started_at) / MINUTE)
    return {(session.started_at + MINUTE * n).astimezone(zone).date() for n in range(minutes + 1)}


def test_the_badges_are_the_twenty_five_of_the_specification() -> None:
    found = badges()
    groups = [badge.group for badge in found]
    counts = {name: groups.count(name) for name in groups}
    assert counts == {"chat": 10, "quiz": 4, "workshop": 4, "cards": 4, "map": 3}
    assert [(badge.metric, badge.target) for badge in found] == [
        ("question_asked", 1), ("questions_in_a_day", 10), ("question_asked", 100),
        ("minutes", 60), ("longest_streak", 3), ("longest_streak", 7), ("longest_session", 30),
        ("late_sessions", 1), ("early_sessions", 1), ("question_scoped", 1),
        ("quiz_taken", 1), ("quiz_perfect", 1), ("quiz_advanced_passed", 1), ("quiz_taken", 10),
        ("workshop_made", 1), ("lesson_finished", 1), ("workshop_finished", 1),
        ("workshop_finished", 5), ("cards_made", 1), ("card_reviewed", 50), ("deck_mastered", 1),
        ("cards_made", 5), ("map_made", 1), ("map_exported", 1), ("map_made", 5),
    ]  # fmt: skip
    drawn = files("helix.web").joinpath("components.js").read_text("utf-8")
    for badge in found:
        assert re.search(rf'^  "?{badge.icon}"?: "M', drawn, re.M), "the page draws it"
    codes = {badge.code: badge for badge in found}
    assert len(codes) == len(found) == 25
    for badge in found:
        assert badge.metric in (*DERIVED, *get_args(Action)) and badge.target > 0
        assert badge.title and badge.text and badge.icon
        if badge.next:
            following = codes[badge.next]
            assert following.metric == badge.metric and following.target > badge.target


async def test_every_badge_is_earned_by_doing_what_it_says_and_not_before(
    library: Library,
) -> None:
    """One short of the highest target of each action, then the last one of each."""
    begins = datetime(2026, 1, 1, 9, tzinfo=UTC)
    actions = {badge.metric: badge.target for badge in badges() if badge.metric in get_args(Action)}
    for name in actions:
        actions[name] = max(badge.target for badge in badges() if badge.metric == name)
    for name, target in actions.items():
        if target > 1:
            at = [begins + DAY * 2 * n for n in range(target - 1)]  # ten in no day, no streak
            await _note(library, at, name)  # type: ignore[arg-type]
    now = begins + DAY * 400
    before = await read_progress(library, ADA, "UTC", now)
    lower = {badge.code for badge in badges() if badge.next and badge.metric in actions}
    assert {badge["code"] for badge in before["badges"] if badge["earned"]} == lower
    for name in actions:
        await _note(library, [begins], name)  # type: ignore[arg-type]
    habits = {
        "one_hour", "three_days", "a_week", "ten_in_a_day", "deep_dive", "night_owl", "early_bird",
    }  # fmt: skip
    assert _unearned(await read_progress(library, ADA, "UTC", now)) == habits
    await _note(library, [begins + DAY * 301], n=10)
    await _note(library, _minutes(begins + DAY * 311, 30))
    for nth in range(7):
        await _note(library, _minutes(begins + DAY * (320 + nth), 5))
    await _note(library, [begins + DAY * 340 - timedelta(hours=10)])  # at 23:00
    await _note(library, [begins + DAY * 350 - timedelta(hours=4)])  # at 5:00
    after = await read_progress(library, ADA, "UTC", now)
    assert _unearned(after) == set() and len(after["badges"]) == 25
    assert all(each["value"] == each["target"] for each in after["badges"])
    earned = {
        code: day for day in (301, 311, 322, 325, 326, 339, 349, 350)
        for code in await _earned(library, (begins + DAY * day).date(), "UTC")
    }  # fmt: skip
    assert earned == {
        "ten_in_a_day": 301, "deep_dive": 311, "three_days": 322, "one_hour": 325, "a_week": 326,
        "night_owl": 339, "early_bird": 350,
    }  # fmt: skip


async def test_a_day_names_its_badges_by_the_readers_own_days(library: Library) -> None:
    """Nine questions before Tokyo's midnight and two after it: ten in a day, but not there."""
    begins = datetime(2026, 6, 10, 14, 50, tzinfo=UTC)  # 23:50 in Tokyo
    await _note(library, [begins + MINUTE * n for n in range(9)])
    await _note(library, [begins + MINUTE * 20, begins + MINUTE * 21])
    tenth, next_day = date(2026, 6, 10), date(2026, 6, 11)
    assert await _earned(library, tenth, "UTC") == ["first_question", "ten_in_a_day"]
    assert await _earned(library, next_day, "UTC") == []
    assert await _earned(library, tenth, "Asia/Tokyo") == ["first_question", "night_owl"]
    assert await _earned(library, next_day, "Asia/Tokyo") == []
    await _note(library, [begins - DAY])
    assert await _earned(library, tenth, "UTC") == ["ten_in_a_day"], "the first was the day before"
    assert await _earned(library, tenth - DAY, "UTC") == ["first_question"]
    for far in (date.min, date.max):
        assert await _earned(library, far, "Asia/Tokyo") == []


async def _earned(library: Library, day: date, zone: str) -> list[str]:
    found = await read_day(library, ADA, day, zone)
    return [badge["code"] for badge in found["badges"]]


def _unearned(found: dict[str, Any]) -> set[str]:
    return {each["code"] for each in found["badges"] if not each["earned"]}
