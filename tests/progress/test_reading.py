"""Progress as it is read: ninety days in five zones, streaks, a day's detail, all badges."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any, get_args
from zoneinfo import ZoneInfo

import pytest

from helix.errors import BadRequest
from helix.library.access import Library
from helix.progress.actions import Action, Learner, RecordedAction, Session, sessions_of
from helix.progress.badges import METRICS, badges
from helix.progress.reading import DAYS, level_of, read_day, read_progress
from helix.progress.storing import store
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
        "actions": {"question_asked": 21},
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


def test_the_badges_are_data() -> None:
    found = badges()
    groups = [badge.group for badge in found]
    counts = {name: groups.count(name) for name in groups}
    assert counts == {"chat": 5, "habit": 5, "quiz": 4, "workshop": 4, "cards": 4, "map": 3}
    codes = {badge.code: badge for badge in found}
    assert len(codes) == len(found) == 25
    for badge in found:
        assert badge.metric in METRICS and badge.target > 0 and badge.title and badge.text
        if badge.next:
            following = codes[badge.next]
            assert following.metric == badge.metric and following.target > badge.target


async def test_every_badge_is_earned_by_doing_what_it_says_and_not_before(
    library: Library,
) -> None:
    """Events are replayed up to one short of each target, then the last one of each."""
    begins = datetime(2026, 1, 1, 9, tzinfo=UTC)
    actions = {badge.metric: badge.target for badge in badges() if badge.metric in get_args(Action)}
    for name, target in actions.items():  # the highest target of each, for they are in order
        if target > 1:
            await _note(library, [begins], name, target - 1)  # type: ignore[arg-type]
    now = begins + DAY * 400
    before = (await read_progress(library, ADA, "UTC", now))["badges"]
    highest = {(badge.metric, badge.target) for badge in badges() if badge.next is None}
    assert not any(each["earned"] for each in before if (each["metric"], each["target"]) in highest)
    for name in actions:
        await _note(library, [begins], name)  # type: ignore[arg-type]
    for back in range(30):  # thirty days in a row, twenty-one minutes each
        await _note(library, _minutes(begins + DAY * back, 21))
    assert _unearned(await read_progress(library, ADA, "UTC", now)) == {"hundred_days"}
    for n in range(70):
        await _note(library, [begins + DAY * (40 + 3 * n)])
    after = await read_progress(library, ADA, "UTC", now)
    assert _unearned(after) == set() and len(after["badges"]) == 25
    assert all(each["value"] == each["target"] for each in after["badges"])


def _unearned(found: dict[str, Any]) -> set[str]:
    return {each["code"] for each in found["badges"] if not each["earned"]}
