"""Sessions and counts: what is stored depends on what was done, and not on how it was written."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, date, datetime, timedelta

import psycopg
from psycopg import sql

from helix.storage.statements.sessions import become
from helix.study.progress.actions import Learner, RecordedAction, Session, quarter_of, sessions_of
from helix.study.progress.storage import forget, forget_everybody, store

IDLE = timedelta(minutes=15)
START = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
ADA = Learner("default", "ada")


def _stored(connection: psycopg.Connection, learner: Learner) -> list[Session]:
    found = connection.execute(
        "SELECT started_at, ended_at FROM progress_sessions"
        " WHERE tenant_id = %s AND learner = %s ORDER BY started_at",
        learner,
    )
    return [Session(*row) for row in found]


Days = dict[date, tuple[str, int, timedelta]]


def _days(connection: psycopg.Connection, learner: Learner) -> Days:
    found = connection.execute(
        "SELECT day, active::text, sessions, lasted FROM progress_days"
        " WHERE tenant_id = %s AND learner = %s",
        learner,
    )
    return {day: (active, sessions, lasted) for day, active, sessions, lasted in found}


def _days_of(sessions: list[Session]) -> Days:
    """The same by going through each session's quarters of an hour."""
    active: dict[date, set[int]] = {}
    for session in sessions:
        quarter = quarter_of(session.started_at)
        while quarter <= session.ended_at:
            active.setdefault(quarter.date(), set()).add(quarter.hour * 4 + quarter.minute // 15)
            quarter += timedelta(minutes=15)
    days: Days = {}
    for day, quarters in active.items():
        begun = [session for session in sessions if session.started_at.date() == day]
        lasted = sum((one.ended_at - one.started_at for one in begun), timedelta())
        bits = "".join("1" if n in quarters else "0" for n in range(96))
        days[day] = bits, len(begun), lasted
    return days


def test_a_gap_of_the_idle_time_is_still_one_session() -> None:
    second = timedelta(seconds=1)
    assert sessions_of([START + IDLE, START], IDLE) == [Session(START, START + IDLE)]
    apart = sessions_of([START, START + IDLE + second], IDLE)
    assert [session.started_at for session in apart] == [START, START + IDLE + second]
    assert sessions_of([], IDLE) == []


def test_a_quarter_begins_at_every_zones_midnight() -> None:
    at = datetime(2026, 3, 1, 18, 29, 59, tzinfo=UTC)  # 23:59:59 in Kolkata
    assert quarter_of(at) == datetime(2026, 3, 1, 18, 15, tzinfo=UTC)
    assert quarter_of(at + timedelta(seconds=1)) == datetime(2026, 3, 1, 18, 30, tzinfo=UTC)


def test_any_order_in_any_pieces_stores_the_same(database_url: str) -> None:
    chance = random.Random(18)
    steps = [chance.choice((20, 300, 899, 900, 901, 4000)) for _ in range(300)]
    times, at = [], START
    for seconds in steps:
        at += timedelta(seconds=seconds)
        times.append(at)
    noted = [
        RecordedAction(at, chance.choice(("question_asked", "card_reviewed")), chance.randint(1, 3))
        for at in times
    ]
    totals = Counter[str]()
    for one in noted:
        totals[one.action] += one.n
    expected = sessions_of(times, IDLE)
    assert len(expected) > 40
    with psycopg.connect(database_url) as connection:
        for name in ("in order", "mixed", "backwards"):
            learner = Learner("default", name)
            become(connection, learner.tenant)
            given = {"mixed": chance.sample(noted, 300), "backwards": noted[::-1]}.get(name, noted)
            while given:
                size = chance.randint(1, 40)
                store(connection, learner, given[:size], IDLE)
                given = given[size:]
            assert _stored(connection, learner) == expected, name
            assert _days(connection, learner) == _days_of(expected), name
            counted = connection.execute(
                "SELECT action, sum(n)::int FROM progress_counts WHERE learner = %s GROUP BY 1",
                (name,),
            )
            assert dict(counted.fetchall()) == totals
            kept = connection.execute(
                "SELECT action, n FROM progress_totals WHERE learner = %s", (name,)
            )
            assert dict(kept.fetchall()) == totals
        forget(connection, Learner("default", "mixed"))
        assert _stored(connection, Learner("default", "mixed")) == []
        assert _days(connection, Learner("default", "mixed")) == {}
        assert _stored(connection, Learner("default", "in order")) == expected
        connection.execute("RESET ROLE")
        assert forget_everybody(connection) > 0
        for table in ("counts", "days", "sessions", "totals"):
            left = sql.SQL("SELECT FROM {}").format(sql.Identifier(f"progress_{table}"))
            assert connection.execute(left).fetchall() == []
