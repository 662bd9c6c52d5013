"""Calls of a source that asks to be asked later: waited for, as long as it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from helix.providers.retries import RetryPolicy
from pipelines.sources.base import SourceBusy

T = TypeVar("T")

BUSY_POLICY = RetryPolicy(attempts=10, first_wait=1.0, longest_wait=120.0, budget=900.0)


def with_retries(call: Callable[[], T]) -> T:
    """The result of ``call``, made again while the source is busy, after what it asks for.

    Raises:
        SourceBusy: it stayed busy for a quarter of an hour, or asks for more than two minutes.
        SourceError: whatever else ``call`` raises.
    """

    def asked(error: Exception) -> float | None:
        return (error.seconds or 0.0) if isinstance(error, SourceBusy) else None

    return BUSY_POLICY.retrying(asked, "source")(call)
