"""Whether a pooled connection is alive, asked before a write, which is not tried twice.

A round trip for that is 1% of a write. A connection that was used a moment ago, and from which
nothing has come since, is taken as it is: a server that ends says so, or its system closes it.
"""

from __future__ import annotations

import select
import time
from math import inf
from weakref import WeakKeyDictionary

from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool

SURELY_OPEN_SECONDS = 5
"""Shorter than firewalls wait before they forget a connection that nobody uses."""

_given_back: WeakKeyDictionary[Connection[TupleRow], float] = WeakKeyDictionary()
"""When each connection was given back to its pool last, by ``time.monotonic``."""


def used_now(connection: Connection[TupleRow]) -> None:
    """The ``reset`` of a pool whose ``check`` is ``check_to_write``."""
    _given_back[connection] = time.monotonic()


def check_to_write(connection: Connection[TupleRow]) -> None:
    """Return where the connection is alive, as far as can be told.

    Raises:
        psycopg.OperationalError: it is dead.
    """
    idle = time.monotonic() - _given_back.get(connection, -inf)
    arrived = select.poll()
    arrived.register(connection.fileno(), select.POLLIN)
    if idle > SURELY_OPEN_SECONDS or arrived.poll(0):
        ConnectionPool.check_connection(connection)
