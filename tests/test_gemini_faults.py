"""The retry policy and the judgement of failures, as pure functions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from helix.providers.gemini_faults import (
    DEFAULT_POLICY,
    Fault,
    RetryPolicy,
    Target,
    failure,
    retry_after,
    status_fault,
)

TARGET = Target("gemini-x", "GEMINI_MODEL")
PASSING = Fault("p", "r", retry=True)


def test_the_wait_doubles_up_to_the_longest_and_stops_with_the_attempts() -> None:
    policy = RetryPolicy(attempts=8, first_wait=1, longest_wait=10, budget=1000)
    assert [policy.wait(PASSING, n, 0, 1.0) for n in range(1, 9)] == [1, 2, 4, 8, 10, 10, 10, None]
    assert policy.wait(PASSING, 1, 0, 0.0) == 0.5
    assert policy.wait(Fault("p", "r"), 1, 0, 0.0) is None


@given(
    delay=st.none() | st.floats(0, 60),
    attempt=st.integers(1, 6),
    waited=st.floats(0, 60),
    chance=st.floats(0, 1),
)
def test_a_wait_is_at_least_what_was_asked_and_within_the_budget(
    delay: float | None, attempt: int, waited: float, chance: float
) -> None:
    fault = Fault("p", "r", retry=True, delay=delay)
    wait = DEFAULT_POLICY.wait(fault, attempt, waited, chance)
    if wait is not None:
        assert attempt < DEFAULT_POLICY.attempts
        assert wait >= (delay or 0)
        assert waited + wait <= DEFAULT_POLICY.budget


@given(
    st.integers(300, 599),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["error", "details", "status", "message", "reason", "@type"])
                | st.text(),
                inner,
            )
        ),
    ),
)
@example(300, {"error": {"details": 1}})
def test_any_body_is_judged_in_one_line(status: int, payload: Any) -> None:
    fault = status_fault(status, payload, TARGET)
    assert "\n" not in str(fault.error())
    assert str(status) in fault.problem
    assert not fault.retry or fault.transient


def test_nothing_of_a_body_is_repeated_but_enum_names() -> None:
    secret = "the vault's number is 4711"
    error = {
        "status": secret,
        "message": secret,
        "details": [{"reason": secret, "@type": secret, "retryDelay": secret}],
    }
    for status in (400, 401, 403, 404, 409, 429, 500, 503):
        assert secret not in str(status_fault(status, {"error": error}, TARGET).error())


@pytest.mark.parametrize(
    "violation",
    [
        {"quotaId": "EmbedContentRequestsPerDayPerUserPerProjectPerModel-FreeTier"},
        {"quotaMetric": "generativelanguage.googleapis.com/requests_per_day"},
    ],
)
def test_a_daily_quota_is_known_by_id_or_metric(violation: dict[str, str]) -> None:
    details = [{"@type": "x/google.rpc.QuotaFailure", "violations": [violation]}]
    fault = status_fault(429, {"error": {"details": details}}, TARGET)
    assert not fault.retry
    assert not fault.transient


@pytest.mark.parametrize(("limit", "passing"), [("0", False), ("0.5", True), ("05", True)])
def test_only_a_limit_of_zero_is_no_quota(limit: str, passing: bool) -> None:
    payload = {"error": {"message": f"Quota exceeded for metric: x, limit: {limit}, model: y"}}
    assert status_fault(429, payload, TARGET).retry is passing


def test_errors_that_come_as_a_list_are_read_too() -> None:
    error = {"code": 400, "details": [{"reason": "API_KEY_INVALID"}]}
    assert "GEMINI_API_KEY was refused" in status_fault(400, [{"error": error}], TARGET).problem


def test_retry_after_is_seconds_or_a_date() -> None:
    assert retry_after(None) is None
    assert retry_after("7") == 7
    assert retry_after("soon") is None
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 27 < (retry_after(later) or 0) <= 30
    earlier = format_datetime(datetime.now(UTC) - timedelta(days=1), usegmt=True)
    assert retry_after(earlier) == 0


@pytest.mark.parametrize(
    ("error", "retry"),
    [
        (httpx.ConnectError("no"), True),
        (httpx.ConnectTimeout("no"), True),
        (httpx.RemoteProtocolError("no"), True),
        (httpx.ReadError("no"), True),
        (httpx.WriteError("no"), True),
        (httpx.ReadTimeout("no"), False),
        (httpx.WriteTimeout("no"), False),
        (httpx.ProxyError("no"), False),
        (httpx.UnsupportedProtocol("no"), False),
        (ValueError("no"), False),
    ],
)
def test_which_broken_connections_are_tried_again(error: Exception, retry: bool) -> None:
    fault = failure(error, TARGET)
    assert fault.retry is retry
    assert type(error).__name__ in fault.problem or "silent" in fault.problem
