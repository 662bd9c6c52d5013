"""Waiting for a database, or a bucket, that does not answer."""

from __future__ import annotations

import asyncio
import logging
import math
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import psycopg

from helix.errors import BucketUnavailable, StoreUnavailable
from helix.providers.retries import RetryPolicy
from helix.store import ChunkStore

T = TypeVar("T")
_logger = logging.getLogger(__name__)
_NOTICE_SECONDS = 60.0

OUTAGE_SECONDS = 600.0
"""The seconds that an operation waits for the database, all its pauses together, at most."""

# of psycopg's operational errors those that waiting does not mend: a limit of the server's own; a
# full disk is none, for somebody makes room
_LASTING = (
    psycopg.errors.ProgramLimitExceeded,
    psycopg.errors.QueryCanceled,
    psycopg.errors.OutOfMemory,
)

# as many attempts as the time allows
_WAITING = RetryPolicy(
    attempts=sys.maxsize, first_wait=0.2, longest_wait=5.0, budget=OUTAGE_SECONDS
)


def is_outage(cause: BaseException | None) -> bool:
    """True where a driver's error ends by itself: no answer, no room, or no writes for now."""
    passing = (psycopg.OperationalError, psycopg.errors.ReadOnlySqlTransaction, TimeoutError)
    return isinstance(cause, passing) and not isinstance(cause, _LASTING)


def _asked_delay(error: Exception) -> float | None:
    """A Judge: another attempt may help where the database did not answer, and did not refuse."""
    is_away = isinstance(error, StoreUnavailable) and is_outage(error.__cause__)
    if not (is_away or isinstance(error, BucketUnavailable)):
        return None
    _notice.tell(error)
    return 0.0


class _Notice:
    """Logs that something is waited for: of many who wait, and for how long ever, once a minute."""

    _at = -math.inf

    def tell(self, error: Exception) -> None:
        now = time.monotonic()
        if now - self._at > _NOTICE_SECONDS:
            self._at = now
            _logger.warning("waiting: %s", error)


_notice = _Notice()


async def through_outages(operation: Callable[[], Awaitable[T]]) -> T:
    """Run ``operation``, again while the database, or the bucket of files, does not answer.

    Raises:
        StoreUnavailable: it stayed away for OUTAGE_SECONDS, or answered with a refusal.
    """

    async def attempt() -> T:  # tenacity awaits what a coroutine function gives, and no lambda
        return await operation()

    return await _WAITING.retrying_async(_asked_delay, "database")(attempt)


async def in_database(store: ChunkStore, action: Callable[..., T], *arguments: Any) -> T:
    """``action(connection, *arguments)`` in a thread, through outages of the database.

    Raises:
        StoreUnavailable: as through_outages does.
    """

    def act() -> T:
        with store.connection() as connection:
            return action(connection, *arguments)

    return await through_outages(lambda: asyncio.to_thread(act))
