"""The pool of writes, whose connection may have died, and what all pools do at a connection.

A write is not tried twice, for nobody knows what of it was done. But the first round trip on a
connection does nothing yet: BEGIN, or a bare question where no transaction is wanted. It tells
whether the connection is alive, and where it is not another one is taken. No round trip is added
to a write for that. What is sent with BEGIN is rolled back where it fails, and tried once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

import psycopg
from pgvector.psycopg import register_vector
from psycopg import AsyncConnection, Connection
from psycopg.pq import PipelineStatus
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from helix.storage.pipelined_connections import Row, Statement, WritingConnection


async def given_back(connection: AsyncConnection[Any]) -> None:
    """A ``reset`` for every pool of the event loop: without one, a pool loses connections.

    Without one, psycopg_pool's ``putconn`` awaits the pool's lock in the task that gives the
    connection back. A task that is cancelled there, because its client left or its time is over,
    drops a connection that the pool still counts. With one, ``putconn`` awaits nothing: a task of
    the pool, which nobody cancels, takes the connection back.

    Raises:
        OperationalError: a cancelled read left it in pipeline mode; the pool opens another.
    """
    if connection.pgconn.pipeline_status != PipelineStatus.OFF:
        raise psycopg.OperationalError("the connection came back in pipeline mode")


async def go_on_connecting(pool: AsyncConnectionPool[Any]) -> None:
    """A ``reconnect_failed``: try again, about once a second, until the database is back.

    A pool that has given up connects again only when it is asked for another connection. Those who
    wait already would wait until their time is over, although the database is back. A pool that
    nobody has waited for in vain rests.
    """
    if _is_waited_for(pool):
        await pool.check()


def go_on_connecting_blocking(pool: ConnectionPool[Any]) -> None:
    """``go_on_connecting`` of a pool of threads."""
    if _is_waited_for(pool):
        pool.check()


def _is_waited_for(pool: ConnectionPool[Any] | AsyncConnectionPool[Any]) -> bool:
    return pool.get_stats().get("requests_waiting", 0) > 0


Connected = Connection[TupleRow]
"""A blocking connection whose rows are tuples."""
_Begun = Callable[[WritingConnection], AbstractContextManager[object]]


class WritePool:
    """Up to ``most`` connections in autocommit, opened when they are wanted.

    Its methods raise psycopg's errors; PoolTimeout where no connection is to be had.

    Args:
        url: of the server, or of a pooler that leads to it.
        options: further arguments of ConnectionPool.
    """

    def __init__(self, url: str, most: int, options: dict[str, Any]) -> None:
        self._pool: ConnectionPool[WritingConnection] = ConnectionPool(
            url, connection_class=WritingConnection, min_size=0, max_size=most,
            configure=_ready_to_write, name="helix-write",
            reconnect_failed=go_on_connecting_blocking, **options,
        )  # fmt: skip

    def connection(self) -> AbstractContextManager[WritingConnection]:
        """A connection in autocommit, which answered a moment ago."""
        return self._taken(_asked)

    def transaction(self, *statements: Statement) -> AbstractContextManager[WritingConnection]:
        """A connection in a transaction that ``statements`` begin, in one round trip.

        It ends with the block; an error rolls it back.
        """
        return self._taken(lambda connection: connection.beginning(*statements))

    def read(self, *statements: Statement) -> list[list[Row]]:
        """The rows of each of ``statements``, one transaction and one round trip."""
        found: list[list[Row]] = []

        def asked(connection: WritingConnection) -> AbstractContextManager[None]:
            found.extend(connection.read(*statements))
            return nullcontext()

        with self._taken(asked):
            return found

    @contextmanager
    def _taken(self, begun: _Begun) -> Iterator[WritingConnection]:
        """A connection with what ``begun`` enters of it, by the first round trip on it."""
        self._pool.open()
        for last_try in (False, True):
            with ExitStack() as stack:
                connection = stack.enter_context(self._pool.connection())
                try:
                    stack.enter_context(begun(connection))
                except psycopg.OperationalError:
                    if last_try:
                        raise
                else:
                    yield connection
                    return
            self._pool.check()  # what ended this connection may have ended the others

    def stats(self) -> dict[str, int]:
        """psycopg's statistics of the pool."""
        return self._pool.get_stats()

    def close(self) -> None:
        """Close it; it cannot be used afterwards."""
        self._pool.close()


def _ready_to_write(connection: WritingConnection) -> None:
    register_vector(connection)
    if connection.prepare_threshold is not None:  # no pooler stands in between
        connection.keep_prepared()


def _asked(connection: WritingConnection) -> AbstractContextManager[None]:
    """Begin nothing; ask whether ``connection`` is alive. Raises OperationalError."""
    ConnectionPool.check_connection(connection)
    return nullcontext()
