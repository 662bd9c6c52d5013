"""The retry policy: how often an attempt is made again, and how long it waits before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.providers.retries import INTERACTIVE, PATIENT, RetryPolicy, retry_after_seconds
from tests.support.process_counters import retries

POLICIES = (INTERACTIVE, PATIENT, RetryPolicy(attempts=8, longest_wait=10, budget=1000))


class Busy(Exception):
    """``asked`` is the delay that the other side asks for, None that it is not worth another."""

    def __init__(self, asked: float | None = 0.0) -> None:
        super().__init__()
        self.asked = asked


def judge(error: Exception) -> float | None:
    return error.asked if isinstance(error, Busy) else None


def waits(policy: RetryPolicy, failures: list[Exception]) -> tuple[list[float], str | None]:
    """The waits of a call that fails so, and how it ended: the last error's name, or None."""
    waited: list[float] = []
    left = [*failures]

    def call() -> None:
        if left:
            raise left.pop(0)

    try:
        policy.retrying(judge, "test").copy(sleep=waited.append)(call)
    except Exception as error:  # noqa: BLE001
        assert len(left) == len(failures) - len(waited) - 1
        return waited, type(error).__name__
    return waited, None


def test_the_wait_doubles_up_to_the_longest() -> None:
    policy = RetryPolicy(first_wait=1, longest_wait=10)
    assert [policy.wait(n, chance=1.0) for n in range(1, 8)] == [1, 2, 4, 8, 10, 10, 10]
    assert policy.wait(1, chance=0.0) == 0.5
    assert policy.wait(100_000, chance=1.0) == 10
    patient = [PATIENT.wait(n, chance=1.0) for n in range(1, 9)]
    assert patient == [1, 2, 4, 8, 16, 30, 30, 30]


def test_a_success_ends_it_and_the_last_error_is_raised() -> None:
    assert waits(INTERACTIVE, []) == ([], None)
    waited, error = waits(INTERACTIVE, [Busy()] * 3)
    assert (len(waited), error) == (3, None)
    waited, error = waits(INTERACTIVE, [Busy()] * 9)
    assert (len(waited), error) == (INTERACTIVE.attempts - 1, "Busy")


def test_what_another_attempt_does_not_mend_is_not_tried_again() -> None:
    assert waits(PATIENT, [Busy(None)]) == ([], "Busy")
    assert waits(PATIENT, [ValueError()]) == ([], "ValueError")
    waited, error = waits(PATIENT, [Busy(), ValueError()])
    assert (len(waited), error) == (1, "ValueError")


def test_a_delay_longer_than_the_longest_wait_ends_the_attempts() -> None:
    assert waits(PATIENT, [Busy(30.1)]) == ([], "Busy")
    waited, error = waits(PATIENT, [Busy(30.0)] * 4)  # as Google asks at most: all four fit in
    assert len(waited) == 4 and min(waited) >= 30 and error is None


@given(
    policy=st.sampled_from(POLICIES),
    asked=st.lists(st.one_of(st.just(0.0), st.floats(0, 60)), max_size=12),
)
def test_a_wait_is_at_least_what_was_asked_and_all_are_within_the_budget(
    policy: RetryPolicy, asked: list[float]
) -> None:
    waited, error = waits(policy, [Busy(seconds) for seconds in asked])
    assert len(waited) < policy.attempts
    assert all(wait >= seconds for wait, seconds in zip(waited, asked, strict=False))
    assert sum(waited) <= policy.budget
    if error is None:
        assert len(waited) == len(asked)


async def test_a_coroutine_is_retried_alike_and_counted() -> None:
    policy = RetryPolicy(attempts=3, first_wait=0.001)
    calls: list[int] = []

    async def call(most: int) -> str:
        calls.append(most)
        if len(calls) < most:
            raise Busy
        return "done"

    before = retries("test")
    assert await policy.retrying_async(judge, "test")(call, 3) == "done"
    assert retries("test") == before + 2
    calls.clear()
    with pytest.raises(Busy):
        await policy.retrying_async(judge, "test")(call, 9)
    assert len(calls) == 3


async def test_a_cancelled_attempt_is_the_last() -> None:
    begun: list[int] = []

    async def call() -> None:
        begun.append(1)
        await asyncio.sleep(60)

    def any_error(_: Exception) -> float:
        return 0.0

    retrying: Callable[..., object] = PATIENT.retrying_async(any_error, "test")
    task = asyncio.ensure_future(retrying(call))  # type: ignore[call-overload]
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert begun == [1]


def test_retry_after_is_seconds_or_a_date() -> None:
    assert retry_after_seconds(None) is None
    assert retry_after_seconds("7") == 7
    assert retry_after_seconds("soon") is None
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 27 < (retry_after_seconds(later) or 0) <= 30
    earlier = format_datetime(datetime.now(UTC) - timedelta(days=1), usegmt=True)
    assert retry_after_seconds(earlier) == 0
