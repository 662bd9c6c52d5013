"""Waiting for a database that is away."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import psycopg

from helix.errors import StoreUnavailable

T = TypeVar("T")

OUTAGE_SECONDS = 600.0
"""How long a database that is gone is waited for before what needs it is given up."""

_FIRST_WAIT, _LONGEST_WAIT = 0.2, 5.0
# of psycopg's operational errors those that waiting does not mend: a limit of the server's own
_LASTING = (
    psycopg.errors.ProgramLimitExceeded,
    psycopg.errors.QueryCanceled,
    psycopg.errors.DiskFull,
    psycopg.errors.OutOfMemory,
)

_logger = logging.getLogger(__name__)


def is_away(error: StoreUnavailable) -> bool:
    """Whether the database did not answer, and did not refuse."""
    cause = error.__cause__
    if isinstance(cause, _LASTING):
        return False
    return isinstance(cause, (psycopg.OperationalError, TimeoutError))


async def through_outages(act: Callable[[], Awaitable[T]]) -> T:
    """What ``act`` gives, tried again while the database is away.

    Raises:
        StoreUnavailable: it stayed away for OUTAGE_SECONDS, or answered with a refusal.
    """
    deadline, wait = 0.0, _FIRST_WAIT
    while True:
        try:
            return await act()
        except StoreUnavailable as error:
            deadline = deadline or time.monotonic() + OUTAGE_SECONDS
            if not is_away(error) or time.monotonic() > deadline:
                raise
        _logger.info("the database is away: trying again in %.1f s", wait)
        await asyncio.sleep(wait)
        wait = min(wait * 2, _LONGEST_WAIT)
