"""The meter of a request: calls, questions and votes, in the context that asked for them."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import date

import pytest

from helix.telemetry.usage_meter import (
    NANO,
    Payer,
    UsageKey,
    UsageMeter,
    count_call,
    current_meter,
    use_meter,
)

PAYER = Payer("acme", 5, None)
TOKENS = {"input_tokens": 1000, "output_tokens": 50, "cached_tokens": None, "thought_tokens": 0}


class _Kept:
    """Keeps what a meter adds."""

    def __init__(self) -> None:
        self.rows: dict[tuple[int | None, str], Counter[str]] = {}
        self.days: set[date] = set()
        self.meter = UsageMeter(PAYER, self.add)

    def add(self, key: UsageKey, counts: Counter[str]) -> None:
        row = self.rows.setdefault((key.space, key.model), Counter())
        for name, n in counts.items():
            row[name] += n
        self.days.add(key.day)


def test_versions_of_the_model_are_the_model_and_others_are_not() -> None:
    kept = _Kept()
    kept.meter.about(3, "gpt-4.1", lambda name: name.startswith("gpt-4.1"))
    kept.meter.call("gpt-4.1-2025-04-14", TOKENS, None)
    kept.meter.call("models/judge-1", TOKENS, 0.25)
    kept.meter.question()
    kept.meter.refused()
    assert kept.rows == {
        (3, "gpt-4.1"): Counter(
            calls=1, unpriced=1, input_tokens=1000, output_tokens=50, questions=1, refusals=1
        ),
        (3, "judge-1"): Counter(calls=1, nano_usd=NANO // 4, input_tokens=1000, output_tokens=50),
    }


def test_all_of_a_question_counts_on_the_day_on_which_it_began(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept, days = _Kept(), [date(2026, 12, 31), date(2027, 1, 1)]
    monkeypatch.setattr("helix.telemetry.usage_meter.today", lambda: days[0])
    kept.meter.about(None, "m", lambda _: False)
    days.pop(0)
    kept.meter.call("m", TOKENS, 0.1)
    kept.meter.question()
    assert kept.days == {date(2026, 12, 31)}


async def test_calls_are_counted_for_whoever_asked_in_the_context() -> None:
    async def ask(kept: _Kept, cost: float) -> None:
        use_meter(kept.meter)
        await asyncio.sleep(0)
        await asyncio.create_task(_call(cost))
        await asyncio.to_thread(count_call, "m", TOKENS, cost)

    async def _call(cost: float) -> None:
        count_call("m", TOKENS, cost)

    one, other = _Kept(), _Kept()
    await asyncio.gather(asyncio.create_task(ask(one, 0.5)), asyncio.create_task(ask(other, 0.25)))
    assert one.rows[None, "m"]["nano_usd"] == NANO
    assert other.rows[None, "m"]["nano_usd"] == NANO // 2
    assert current_meter() is None
