"""The meaning of each of Gemini's errors, as pure functions."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from helix.providers.gemini.errors import Target, client_failure, status_failure

TARGET = Target("gemini-x", "GEMINI_MODEL")


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
    failed = status_failure(status, payload, TARGET)
    assert "\n" not in str(failed.error())
    assert str(status) in failed.problem
    assert not failed.retry or failed.transient


def test_nothing_of_a_body_is_repeated_but_enum_names() -> None:
    secret = "the vault's number is 4711"
    error = {
        "status": secret,
        "message": secret,
        "details": [{"reason": secret, "@type": secret, "retryDelay": secret}],
    }
    for status in (400, 401, 403, 404, 409, 429, 500, 503):
        assert secret not in str(status_failure(status, {"error": error}, TARGET).error())


@pytest.mark.parametrize(
    "violation",
    [
        {"quotaId": "EmbedContentRequestsPerDayPerUserPerProjectPerModel-FreeTier"},
        {"quotaMetric": "generativelanguage.googleapis.com/requests_per_day"},
    ],
)
def test_a_daily_quota_is_known_by_id_or_metric(violation: dict[str, str]) -> None:
    details = [{"@type": "x/google.rpc.QuotaFailure", "violations": [violation]}]
    failed = status_failure(429, {"error": {"details": details}}, TARGET)
    assert not failed.retry
    assert not failed.transient


@pytest.mark.parametrize(("limit", "passing"), [("0", False), ("0.5", True), ("05", True)])
def test_only_a_limit_of_zero_is_no_quota(limit: str, passing: bool) -> None:
    payload = {"error": {"message": f"Quota exceeded for metric: x, limit: {limit}, model: y"}}
    assert status_failure(429, payload, TARGET).retry is passing


def test_errors_that_come_as_a_list_are_read_too() -> None:
    error = {"code": 400, "details": [{"reason": "API_KEY_INVALID"}]}
    assert "GEMINI_API_KEY was refused" in status_failure(400, [{"error": error}], TARGET).problem


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
    failed = client_failure(error, TARGET)
    assert failed.retry is retry
    assert type(error).__name__ in failed.problem or "silent" in failed.problem
