"""Usage by the day: written by several at once, kept as long as the setting says, CSV."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import date, timedelta

import psycopg
import pytest

from helix.library.usage_days import (
    WaitingUsage,
    Wanted,
    delete_old_usage,
    store_usage,
    to_csv,
    totals_of,
    usage_report,
)
from helix.telemetry.usage_meter import Payer, UsageKey, today
from tests.support.sql_rows import count

DAY = date(2026, 3, 30)
ROBOT = Payer("acme", None, 7)
KEY = UsageKey(ROBOT, DAY, 0, "gemini-3.5-flash-lite")


def _questions(connection: psycopg.Connection, tenant: str = "acme") -> int:
    rows = usage_report(connection, Wanted(tenant, date(2020, 1, 1), date(2030, 1, 1)))
    return int(totals_of(rows)["questions"])


def test_many_at_once_lose_nothing(database_url: str) -> None:
    other = UsageKey(Payer("acme", None, 8), DAY, None, "")

    def write() -> None:
        with psycopg.connect(database_url, autocommit=True) as connection:
            for _ in range(25):
                with connection.transaction():
                    counts = Counter(questions=1, nano_usd=3)
                    store_usage(connection, {other: counts, KEY: counts})

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with psycopg.connect(database_url, autocommit=True) as connection:
        assert _questions(connection) == 2 * 8 * 25
        assert count(connection, "usage_days") == 2
        (row, _) = usage_report(connection, Wanted("acme", DAY, DAY, ("who", "key", "space")))
        assert row["cost_usd"] == pytest.approx(200 * 3e-9)
        assert usage_report(connection, Wanted("beta", DAY, DAY)) == []


def test_what_is_taken_back_never_goes_below_nothing(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        store_usage(connection, {KEY: Counter(questions=-1)})
        assert _questions(connection) == 0
        store_usage(connection, {KEY: Counter(questions=2)})
        store_usage(connection, {KEY: Counter(questions=-1)})
        assert _questions(connection) == 1


def test_of_an_erased_person_nothing_is_written(database_url: str) -> None:
    gone = UsageKey(Payer("acme", 987_654, None), DAY, None, "m")
    with psycopg.connect(database_url, autocommit=True) as connection:
        store_usage(connection, {gone: Counter(questions=1), KEY: Counter(questions=1)})
        assert _questions(connection) == 1


@pytest.mark.parametrize(("days", "left"), [(400, 3), (90, 2), (1, 1), (0, 0)])
def test_rows_are_kept_as_long_as_the_setting_says(database_url: str, days: int, left: int) -> None:
    this_month = today().replace(day=1)
    kept = [this_month, this_month - timedelta(days=50), this_month - timedelta(days=300)]
    with psycopg.connect(database_url, autocommit=True) as connection:
        for day in (*kept, this_month - timedelta(days=500)):
            store_usage(connection, {UsageKey(ROBOT, day, None, "m"): Counter(questions=1)})
        delete_old_usage(connection, days)
        assert _questions(connection) == left
        assert delete_old_usage(connection, days) == 0


def test_what_waits_counts_for_its_person_and_its_key() -> None:
    added: list[None] = []
    waiting = WaitingUsage(lambda: added.append(None))
    token = Payer("acme", 5, 7)
    waiting.add(UsageKey(token, DAY, None, "m"), Counter(input_tokens=10, output_tokens=5))
    waiting.add(UsageKey(Payer("acme", 5, None), DAY.replace(day=1), 0, "m"), Counter(nano_usd=9))
    with pytest.raises(OSError, match="no database"), waiting.writing() as drained:
        waiting.add(UsageKey(Payer("beta", 5, 7), DAY, None, "m"), Counter(input_tokens=99))
        person = {"tokens_month": 15, "tokens_day": 15, "nano_usd_month": 9, "nano_usd_day": 0}
        assert waiting.of(Payer("acme", 5, None), DAY) == person
        assert waiting.of(ROBOT, DAY)["tokens_day"] == 15
        assert waiting.of(ROBOT, DAY + timedelta(days=2)) == {}  # another month
        raise OSError("no database")
    with waiting.writing() as again:
        assert {key: dict(counts) for key, counts in again.items()}.items() >= {
            key: dict(counts) for key, counts in drained.items()
        }.items()
    assert waiting.of(ROBOT, DAY) == {} and len(added) == 4


def test_no_cell_of_the_csv_is_a_formula(database_url: str) -> None:
    models = ("=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", 'a,b"c', "")
    with psycopg.connect(database_url, autocommit=True) as connection:
        for model in models:
            store_usage(connection, {UsageKey(ROBOT, DAY, None, model): Counter(questions=1)})
        rows = usage_report(connection, Wanted("acme", DAY, DAY, ("model",)))
    lines = to_csv(rows).decode("utf-8-sig")
    for model in models[:6]:
        assert f"'{model}" in lines
    assert '"a,b""c"' in lines
