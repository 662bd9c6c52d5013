"""The contacts of every process of Helix, kept in one table: counted since it began."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

from helix.errors import HelixError
from helix.privacy.counter import SocketCounter, process_counter
from helix.store import ChunkStore

Process = Literal["serving", "ingesting"]

FLUSH_SECONDS = 5

_KEEP = """
INSERT INTO contacts AS c (process, kind, host, port, n)
SELECT %(process)s, * FROM unnest(%(kinds)s::text[], %(hosts)s::text[], %(ports)s::int[],
                                  %(counts)s::bigint[])
ON CONFLICT (process, kind, host, port) DO UPDATE
    SET n = c.n + excluded.n, last_at = now()
"""
# A crawl may meet any number of hosts: those met last are kept.
_MOST = 10_000
_TRIM = """
DELETE FROM contacts WHERE (SELECT count(*) FROM contacts) > %(most)s AND ctid NOT IN
    (SELECT ctid FROM contacts ORDER BY last_at DESC LIMIT %(most)s)
"""
_LONGEST_HOST = 253  # RFC 1035; what else is put there is no host

_logger = logging.getLogger(__name__)


def keep_contacts(store: ChunkStore, process: Process, counter: SocketCounter) -> None:
    """Add what ``counter`` has to the table; where that fails it stays with the counter.

    Raises:
        StoreUnavailable: the database did not answer.
    """
    counts = counter.take()
    if not counts:
        return
    rows = [(contact, n) for contact, n in counts.items() if len(contact.host) <= _LONGEST_HOST]
    values = {
        "process": process,
        "kinds": [contact.kind for contact, _ in rows],
        "hosts": [contact.host.replace("\0", "") for contact, _ in rows],
        "ports": [contact.port for contact, _ in rows],
        "counts": [n for _, n in rows],
    }
    try:
        with store.connection() as connection:
            connection.execute(_KEEP, values)
            connection.execute(_TRIM, {"most": _MOST})
    except HelixError:
        counter.give_back(counts)
        raise


@asynccontextmanager
async def counting(store: ChunkStore, process: Process) -> AsyncIterator[None]:
    """Keep this process's contacts while the block lasts, the last of them when it ends."""
    counter = process_counter()
    keeping = asyncio.create_task(_keep_on(store, process, counter))
    try:
        yield
    finally:
        keeping.cancel()
        await _kept(store, process, counter)


async def _keep_on(store: ChunkStore, process: Process, counter: SocketCounter) -> None:
    while True:
        await asyncio.sleep(FLUSH_SECONDS)
        await _kept(store, process, counter)


async def _kept(store: ChunkStore, process: Process, counter: SocketCounter) -> None:
    try:
        await asyncio.to_thread(keep_contacts, store, process, counter)
    except Exception as error:  # noqa: BLE001  counting goes on, whatever it was
        # whoever asks hears of a database that is away from all else that needs it
        _logger.debug("contacts are not kept yet: %s", type(error).__name__)
