"""What a server sees to besides answering: workers, old receipts, and its own contacts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from helix.errors import HelixError
from helix.logs import where
from helix.privacy.contacts import counting
from helix.receipts.stored import drop_expired, forget_missed
from helix.services import Services
from helix.store import ChunkStore

_OPEN_RUN = "SELECT FROM runs WHERE status IN ('queued', 'running', 'cancelling') LIMIT 1"

_LOOK_SECONDS, _LONGEST_SECONDS = 5.0, 120.0
_TIDY_SECONDS = 600.0

_logger = logging.getLogger(__name__)


@asynccontextmanager
async def kept_up(services: Services) -> AsyncIterator[None]:
    """See to all of it while the block lasts."""
    tasks = [asyncio.create_task(keep(services)) for keep in (_keep_workers, _keep_tidy)]
    try:
        async with counting(services.store, "serving"):
            yield
    finally:
        for task in tasks:
            task.cancel()


async def _keep_workers(services: Services) -> None:
    """See that somebody carries out what is to be done, whoever was killed over it."""
    wait = _LOOK_SECONDS
    while True:
        try:
            if await asyncio.to_thread(_any_open, services.store):
                started = services.on_run_created()
                # one that ends at once, for a setting of its own say, is not started all the time
                wait = min(wait * 2, _LONGEST_SECONDS) if started else _LOOK_SECONDS
        except HelixError:  # the database is away; so is the work
            wait = _LOOK_SECONDS
        except Exception as error:  # noqa: BLE001  it is looked again, whatever it was
            _logger.warning("workers were not looked after: %s", where(error))
            wait = _LONGEST_SECONDS
        await asyncio.sleep(wait)


async def _keep_tidy(services: Services) -> None:
    """Drop receipts that were kept long enough, and what they say of documents deleted since."""
    while True:  # at the start too: there may have been no server for long
        try:
            await asyncio.to_thread(tidy, services.store, services.settings.receipt_days)
        except HelixError as error:
            _logger.warning("receipts were not looked through: %s", error)
        except Exception as error:  # noqa: BLE001  they are looked through again
            _logger.warning("receipts were not looked through: %s", where(error))
        await asyncio.sleep(_TIDY_SECONDS)


def tidy(store: ChunkStore, days: int) -> None:
    """One round over the receipts of all tenants."""
    with store.connection() as connection:
        dropped, forgotten = drop_expired(connection, days), forget_missed(connection)
    if dropped or forgotten:
        _logger.info("receipts: %d dropped, %d without a deleted document", dropped, forgotten)


def _any_open(store: ChunkStore) -> bool:
    """Whether any tenant has a run that has not ended."""
    with store.connection() as connection:
        return connection.execute(_OPEN_RUN).fetchone() is not None
