"""The lock of a source: whoever holds it syncs it, and nobody else does meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg

from helix.storage.connections import unavailable
from helix.storage.statements import sources as sql

_WAIT_SECONDS = 0.5


@contextmanager
def source_lock(
    url: str, tenant: str, source_id: int, going_on: Callable[[], None]
) -> Iterator[None]:
    """Hold the lock of a source, by a connection of its own that ends with the block.

    A worker that was taken for dead may still be at it: it is waited for. ``going_on`` is called
    meanwhile, and raises where there is nothing to wait for any more.

    Raises:
        StoreUnavailable: the database went away.
    """
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            while not _take(connection, tenant, source_id):
                going_on()
                time.sleep(_WAIT_SECONDS)
            yield
    except psycopg.Error as error:
        raise unavailable(error) from error


def _take(connection: psycopg.Connection, tenant: str, source_id: int) -> bool:
    row = connection.execute(sql.HOLD, (tenant, source_id)).fetchone()
    return bool(row and row[0])
