"""The pool of writes, whose connection may have died.

A write is not tried twice, for nobody knows what of it was done. But the first round trip on a
connection does nothing yet: BEGIN, or a bare question where no transaction is wanted. It tells
whether the connection is alive, and where it is not another one is taken. No round trip is added
to a write for that. What is sent with BEGIN is rolled back where it fails, and tried once more.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from threading import Lock
from typing import Any, TypeVar

import psycopg
from anyio.from_thread import BlockingPortal, start_blocking_portal
from pgvector.psycopg import register_vector
from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool

from helix.errors import StoreUnavailable
from helix.storage.name_lookups import bound_name_lookups
from helix.storage.pipelined_connections import (
    Row,
    Statement,
    WritingConnection,
    go_on_connecting_blocking,
)

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


_T = TypeVar("_T")


class BlockingRunner:
    """An event loop in a thread of its own, started by the first call and ended by ``close``.

    It is one loop for all calls, for connections belong to the loop that opened them. A caller that
    runs in an event loop itself blocks that loop, and is answered all the same.
    """

    def __init__(self) -> None:
        self._process = os.getpid()
        self._lock = Lock()
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    def run(self, function: Callable[..., Awaitable[_T]], *arguments: Any) -> _T:
        """The result of ``function`` when it is awaited.

        Raises:
            RuntimeError: it is called from a coroutine that it runs itself, which would never end.
            StoreUnavailable: it is closed, or was made before this process was forked.
        """
        return self._started().call(function, *arguments)

    async def awaited(self, function: Callable[[], Awaitable[_T]]) -> _T:
        """``run`` for a coroutine of another event loop, which goes on meanwhile."""
        return await asyncio.wrap_future(self._started().start_task_soon(function))

    def _started(self) -> BlockingPortal:
        if self._process != os.getpid():  # neither its thread nor its connections come along
            raise StoreUnavailable("the store was opened before a fork: open one in each process")
        with self._lock:
            if self._closed:
                raise StoreUnavailable("the store is closed")
            if self._portal is None:
                portal = start_blocking_portal(name="helix-blocking")
                self._portal = self._stack.enter_context(portal)
                self._loop = self._portal.call(asyncio.get_running_loop)
                bound_name_lookups(self._loop)
        return self._portal

    def is_current(self) -> bool:
        """True if the caller is a coroutine that this runs."""
        return asyncio.get_running_loop() is self._loop

    def close(self) -> None:
        """Stop the thread; there is no other."""
        with self._lock:
            self._closed = True
        self._stack.close()
