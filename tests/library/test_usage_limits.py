"""Limits of usage: whose hold, when they end, and what they refuse to be."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, date, datetime
from typing import Any, cast

import psycopg
import pytest

from helix.errors import BadRequest, NotFound
from helix.library.keys import create_key
from helix.library.people.members import set_role
from helix.library.people.persons import add_person
from helix.library.usage_days import WaitingUsage, store_usage
from helix.library.usage_limits import (
    Allowance,
    Holder,
    UsageLimits,
    end_of,
    limits_of,
    list_holders,
    set_limits,
)
from helix.overload.limits import UsageLimitReached
from helix.storage.tenant_connections import TenantConnections
from helix.telemetry.usage_meter import Payer, UsageKey, UsageMeter, today
from tests.support.fake_embedder import opened
from tests.support.sql_rows import count


@pytest.mark.parametrize(
    ("period", "day", "end"),
    [("day", date(2026, 12, 31), datetime(2027, 1, 1, tzinfo=UTC)),
     ("month", date(2026, 12, 31), datetime(2027, 1, 1, tzinfo=UTC)),
     ("month", date(2028, 2, 29), datetime(2028, 3, 1, tzinfo=UTC)),
     ("day", date(2028, 2, 28), datetime(2028, 2, 29, tzinfo=UTC)),
     ("month", date(2026, 1, 1), datetime(2026, 2, 1, tzinfo=UTC))],
)  # fmt: skip
def test_a_limit_ends_at_midnight(period: Any, day: date, end: datetime) -> None:
    assert end_of(period, day) == end


def _holding(connection: psycopg.Connection, payer: Payer) -> set[Any]:
    return {row["questions_day"] for row in limits_of(connection, payer) or ()}


def test_ones_own_limits_stand_before_everybodys_and_a_keys_beside(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        ada, bob = (add_person(connection, f"{name}@example.com") for name in ("ada", "bob"))
        for person in (ada, bob):
            set_role(connection, "acme", person, "reader")
        key, _ = create_key(connection, "acme")
        token, _ = create_key(connection, "acme", person_id=ada)
        set_limits(connection, Holder("acme"), UsageLimits(questions_day=1))
        set_limits(connection, Holder("acme", ada), UsageLimits(questions_day=2))
        set_limits(connection, Holder("acme", None, token), UsageLimits(questions_day=3))
        assert _holding(connection, Payer("acme", ada, None)) == {2}
        assert _holding(connection, Payer("acme", ada, token)) == {2, 3}
        assert _holding(connection, Payer("acme", bob, None)) == {1}
        assert _holding(connection, Payer("acme", None, key)) == set()
        assert _holding(connection, Payer("beta", ada, token)) == set()
        assert [(row["person_id"], row["key_id"]) for row in list_holders(connection, "acme")] == [
            (ada, None), (bob, None), (None, key),
        ]  # fmt: skip
        for strange in (Holder("beta", ada), Holder("acme", None, 999), Holder("acme", 999)):
            with pytest.raises(NotFound):
                set_limits(connection, strange, UsageLimits(tokens_day=1))
        with pytest.raises(BadRequest):
            set_limits(connection, Holder("acme"), UsageLimits(cost_usd_day=-0.1))
        connection.execute("DELETE FROM people WHERE id = %s", (ada,))
        assert count(connection, "usage_limits") == 1


async def test_a_reserved_question_is_given_back_or_asked(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        key, _ = create_key(connection, "acme")
        payer = Payer("acme", None, key)
        set_limits(connection, Holder("acme", None, key), UsageLimits(questions_month=1))
        waiting = WaitingUsage(lambda: None)
        async with opened(database_url) as store:

            def allowance() -> Allowance:
                meter = UsageMeter(payer, waiting.add)
                return Allowance(store, meter, limits_of(connection, payer) or (), waiting)

            first, second = allowance(), allowance()
            await first.take()
            with pytest.raises(UsageLimitReached) as refused:
                await second.take()
            assert refused.value.status_code == 429
            second.give_back()  # it had nothing
            first.give_back()
            with waiting.writing() as used:
                store_usage(connection, used)
            await second.take()
            second.meter.about(0, "m", lambda _: False)
            second.meter.question()
            second.give_back()  # it was asked, and stays counted
            with waiting.writing() as used:
                assert used == {
                    UsageKey(payer, today(), None, ""): Counter(questions=-1),
                    UsageKey(payer, today(), 0, "m"): Counter(questions=1),
                }  # fmt: skip


class _WritingStore:
    """A store that writes all usage that waits before it hands out the first connection."""

    def __init__(self, store: TenantConnections, waiting: WaitingUsage) -> None:
        self._store, self._waiting = store, waiting
        self._written = False

    def connection(self) -> Any:
        if not self._written:
            self._written = True
            with self._waiting.writing() as used, self._store.connection() as connection:
                store_usage(connection, used)
        return self._store.connection()


async def test_usage_written_while_it_is_read_counts_once(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        key, _ = create_key(connection, "acme")
        payer, waiting = Payer("acme", None, key), WaitingUsage(lambda: None)
        set_limits(connection, Holder("acme", None, key), UsageLimits(tokens_day=100))
        async with opened(database_url) as store:

            def allowance(store: object) -> Allowance:
                meter = UsageMeter(payer, waiting.add)
                limits = limits_of(connection, payer) or ()
                return Allowance(cast(TenantConnections, store), meter, limits, waiting)

            def use(tokens: int) -> None:
                waiting.add(UsageKey(payer, today(), 0, "m"), Counter(input_tokens=tokens))

            use(60)
            held = await allowance(_WritingStore(store, waiting)).held()
            assert [each.used for each in held] == [60]
            use(39)
            await allowance(_WritingStore(store, waiting)).take()
            with waiting.writing():  # the database has it, and that is not known yet
                reading = asyncio.create_task(allowance(store).held())
                await asyncio.sleep(0.05)
                assert not reading.done()
            assert [each.used for each in await reading] == [99]
            use(1)
            with pytest.raises(UsageLimitReached):
                await allowance(_WritingStore(store, waiting)).take()


async def test_who_waits_for_one_write_waits_for_the_next_that_follows_at_once() -> None:
    waiting = WaitingUsage(lambda: None)
    with waiting.writing():
        reader = asyncio.create_task(waiting.settled())
        await asyncio.sleep(0)
    with waiting.writing():
        await asyncio.sleep(0.01)
        assert not reader.done()
    await asyncio.wait_for(reader, 5)
