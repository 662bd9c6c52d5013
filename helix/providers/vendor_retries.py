"""When to try a vendor's embedding request again in an ingest: one policy for all of them.

Vendors' errors share no root, but most have a ``status_code``, and the HTTP response behind it.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import TypeVar

import httpx

from helix.telemetry.retries import retried

T = TypeVar("T")

ATTEMPTS = 5
"""Requests that a batch of an ingest may cost."""
FIRST_WAIT = 1.0
LONGEST_WAIT = 30.0
"""Seconds: waits double from the first to the longest; a longer one that is asked for ends it."""

_TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
_UNREACHED = (ConnectionError, httpx.ConnectError, httpx.RemoteProtocolError, httpx.ReadError)


def tried(call: Callable[[], T], attempts: int) -> T:
    """What ``call`` gives in at most ``attempts`` attempts; raises what the last one did."""
    for attempt in count(1):
        try:
            return call()
        except Exception as error:  # noqa: BLE001 - their errors share no root
            time.sleep(_wait(error, attempt, attempts))
    raise AssertionError("unreachable")


async def atried(call: Callable[[], Awaitable[T]], attempts: int) -> T:
    """``tried`` on an event loop."""
    for attempt in count(1):
        try:
            return await call()
        except Exception as error:  # noqa: BLE001
            await asyncio.sleep(_wait(error, attempt, attempts))
    raise AssertionError("unreachable")


def _wait(error: Exception, attempt: int, attempts: int) -> float:
    wait = wait_after(error, attempt, attempts, chance=random.random())  # noqa: S311
    if wait is None:
        raise error
    retried("vendor")
    return wait


def wait_after(error: Exception, attempt: int, attempts: int, chance: float) -> float | None:
    """Seconds to wait after the ``attempt``-th of ``attempts`` failed (from 1); None to give up.

    A silence is not tried again: the first request may still be running, and be paid for.
    ``chance`` in [0, 1] spreads clients out.
    """
    if attempt >= attempts or not _may_pass(error):
        return None
    backoff: float = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1))
    asked = _asked(error)
    if asked is None:
        return backoff * (1 + chance) / 2
    return asked + backoff * chance / 2 if asked <= LONGEST_WAIT else None


def _may_pass(error: Exception) -> bool:
    if getattr(error, "code", None) == "insufficient_quota":  # OpenAI's 429 for an unpaid bill
        return False
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status > 0:
        return status in _TRANSIENT
    return isinstance(error, _UNREACHED) or type(error).__name__ == "APIConnectionError"


def _asked(error: Exception) -> float | None:
    """The seconds of a Retry-After header, where there is one."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    value = headers.get("retry-after") if isinstance(headers, Mapping) else None
    return float(value) if value and value.strip().isdecimal() else None
