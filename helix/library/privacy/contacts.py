"""The hosts that every process of Helix contacted, counted in one table."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

from helix.errors import HelixError
from helix.library.access import in_background
from helix.library.privacy.contact_files import keep_contacts, take_contacts
from helix.library.privacy.counter import Contact, SocketCounter, process_counter
from helix.storage.statements import privacy as sql
from helix.storage.tenant_store import TenantStore

Process = Literal["serving", "ingesting", "fetching"]
"""``fetching``: a command that fetched a model file."""

FLUSH_SECONDS = 5

# A crawl may contact any number of hosts: the latest are kept.
_MOST = 10_000
_LONGEST_HOST = 253  # RFC 1035; anything longer is no host

_logger = logging.getLogger(__name__)


def store_contacts(store: TenantStore, process: Process, counter: SocketCounter) -> None:
    """Move the counts of ``counter`` into the table; where that fails the counter keeps them.

    Raises:
        StoreUnavailable: the database did not answer.
    """
    counts = counter.drain()
    try:
        _add(store, process, counts)
    except HelixError:
        counter.add_back(counts)
        raise


def store_kept_contacts(store: TenantStore) -> None:
    """Move what commands kept in files into the table; where that fails they are kept again.

    Raises:
        StoreUnavailable: the database did not answer.
    """
    counts = take_contacts()
    try:
        _add(store, "fetching", counts)
    except HelixError:
        keep_contacts(counts)
        raise


def _add(store: TenantStore, process: Process, counts: Counter[Contact]) -> None:
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
    with store.connection() as connection:
        connection.execute(sql.ADD_CONTACTS, values)
        connection.execute(sql.TRIM_CONTACTS, {"most": _MOST})


@asynccontextmanager
async def counting(store: TenantStore, process: Process) -> AsyncIterator[None]:
    """Store this process's contacts regularly while the block lasts, and once when it ends."""
    counter = process_counter()

    async def store_regularly() -> None:
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            await _store(store, process, counter)

    try:
        async with in_background(store_regularly()):
            yield
    finally:
        await _store(store, process, counter)


async def _store(store: TenantStore, process: Process, counter: SocketCounter) -> None:
    try:
        await asyncio.to_thread(store_contacts, store, process, counter)
        if process == "serving":
            await asyncio.to_thread(store_kept_contacts, store)
    except Exception as error:  # noqa: BLE001  counting goes on
        # debug: everything else that needs the database reports that it is away
        _logger.debug("contacts are not stored yet: %s", type(error).__name__)
