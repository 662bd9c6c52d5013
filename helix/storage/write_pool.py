"""The blocking connections of writes, taken so that one which died meanwhile costs no write.

A write is not tried twice, for nobody knows what of it was done. But the first round trip on a
connection does nothing yet: BEGIN, or a bare question where no transaction is wanted. It tells
whether the connection is alive, and where it is not another one is taken. No round trip is added
to a write for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

import psycopg
from pgvector.psycopg import register_vector
from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool

from helix.storage.pool_upkeep import go_on_connecting_blocking

Connected = Connection[TupleRow]
"""A blocking connection whose rows are tuples."""
_Begun = Callable[[Connected], AbstractContextManager[object]]


class WritePool:
    """Up to ``most`` connections in autocommit, opened when they are wanted.

    Its methods raise psycopg's errors; PoolTimeout where no connection is to be had.

    Args:
        url: of the server, or of a pooler that leads to it.
        options: further arguments of ConnectionPool.
    """

    def __init__(self, url: str, most: int, options: dict[str, Any]) -> None:
        self._pool: ConnectionPool[Connected] = ConnectionPool(
            url, min_size=0, max_size=most, configure=register_vector, name="helix-write",
            reconnect_failed=go_on_connecting_blocking, **options,
        )  # fmt: skip

    def connection(self) -> AbstractContextManager[Connected]:
        """A connection in autocommit, which answered a moment ago."""
        return self._taken(_asked)

    def transaction(self) -> AbstractContextManager[Connected]:
        """A connection in a transaction, which ends with the block; an error rolls it back."""
        return self._taken(Connected.transaction)

    @contextmanager
    def _taken(self, begun: _Begun) -> Iterator[Connected]:
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


def _asked(connection: Connected) -> AbstractContextManager[None]:
    """Begin nothing; ask whether ``connection`` is alive. Raises OperationalError."""
    ConnectionPool.check_connection(connection)
    return nullcontext()
