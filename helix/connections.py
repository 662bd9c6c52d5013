"""The connections to one database: reads of the event loop, writes of threads, both as a tenant.

A tenant's transaction runs as the role ``helix_app``, which owns nothing, and says in
``helix.tenant`` whose rows it may see; both last until it ends, so a connection that goes back to
its pool keeps nothing. A read and its settings are sent together: one round trip, and one implicit
transaction, for a pipeline is one until it is synchronised.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from pgvector.psycopg import register_vector, register_vector_async
from psycopg import AsyncConnection, Connection
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolClosed, PoolTimeout

from helix.errors import StoreUnavailable
from helix.unavailable import unavailable

CONNECT_TIMEOUT_SECONDS = 5
READ_SECONDS = 8  # longer than the pool may take to find that nobody is there
RECONNECT_SECONDS = 2
"""How long a pool tries by itself to reach a database that is gone; after that each request does.
psycopg's 300 would back off to minutes, and a restarted database stay unseen that long."""

ROLE = "helix_app"
"""Whose rights a tenant's transaction has: those of nobody's rows but the tenant's."""

# Planning the search anew each time costs a tenth of it: a bound LIMIT makes Postgres prefer that.
# And a plan whose estimate passes jit_above_cost would be compiled for longer than it runs.
_READ_SETTINGS = f"SET ROLE {ROLE}; SET plan_cache_mode = force_generic_plan; SET jit = off"

_MAY_ACT = """
SELECT current_user, coalesce((SELECT pg_has_role(oid, 'MEMBER') FROM pg_roles
                               WHERE rolname = %(role)s), false),
       coalesce(row_security_active(to_regclass('chunks')), false)
"""
_AS_TENANT = "SELECT set_config('helix.tenant', %(tenant)s, true)"
_AS_TENANT_IN_ROLE = f"{_AS_TENANT}, set_config('role', '{ROLE}', true)"


class Connections:
    """Two pools of one database. Errors of the database arrive as StoreUnavailable.

    Args:
        database_url: a libpq URL, ``postgresql://…``, unix sockets included.
        pool_size: connections kept for reading at most.
    """

    def __init__(self, database_url: str, pool_size: int) -> None:
        self.url = database_url
        options: dict[str, Any] = {
            "autocommit": True,
            "connect_timeout": CONNECT_TIMEOUT_SECONDS,
            "tcp_user_timeout": READ_SECONDS * 1000,  # a network that swallows packets breaks
        }
        self._reading: AsyncConnectionPool[AsyncConnection[TupleRow]] = AsyncConnectionPool(
            database_url, min_size=1, max_size=pool_size, configure=_ready_to_read,
            timeout=CONNECT_TIMEOUT_SECONDS, reconnect_timeout=RECONNECT_SECONDS, open=False,
            kwargs=options, name="helix-read",
        )  # fmt: skip
        self._writing: ConnectionPool[Connection[TupleRow]] = ConnectionPool(
            database_url, min_size=0, max_size=4, configure=register_vector,
            timeout=CONNECT_TIMEOUT_SECONDS, reconnect_timeout=RECONNECT_SECONDS, open=False,
            kwargs=options, name="helix-write",
            check=ConnectionPool.check_connection,  # a write is not tried twice, as a read is
        )  # fmt: skip

    async def fetch(
        self, statement: str, values: dict[str, Any], tenant: str, settings: str = ""
    ) -> list[TupleRow]:
        """All rows of one read as ``tenant``, unless the database is silent for READ_SECONDS.

        ``settings`` are further ``set_config`` calls for its transaction, after a comma.
        """
        try:
            # a task of its own would be simpler to abandon, and cost a tenth of the search
            async with asyncio.timeout(READ_SECONDS):
                return await self._read(statement, values, tenant, settings)
        except TimeoutError as error:
            raise StoreUnavailable("the database keeps silent; try again") from error

    async def _read(
        self, statement: str, values: dict[str, Any], tenant: str, settings: str
    ) -> list[TupleRow]:
        """All rows of one read; tried twice, for a restarted server leaves dead connections."""
        for last_try in (False, True):
            try:
                await self._reading.open()
                async with self._reading.connection() as connection:
                    cursor = connection.cursor(binary=True)
                    async with connection.pipeline():
                        await connection.execute(
                            _AS_TENANT + settings, {"tenant": tenant}, prepare=True
                        )
                        await cursor.execute(statement, values, prepare=True)
                    return await cursor.fetchall()
            except psycopg.OperationalError as error:
                if last_try or isinstance(error, (PoolTimeout, PoolClosed)):
                    raise unavailable(error) from error
                await self._reading.check()
            except psycopg.Error as error:
                raise unavailable(error) from error
        raise AssertionError("unreachable")

    @contextmanager
    def connection(self) -> Iterator[Connection[TupleRow]]:
        """A connection with the rights of DATABASE_URL's own role, in autocommit.

        It sees every tenant: for what keeps the database, not for what somebody asked for.
        """
        try:
            self._writing.open()
            with self._writing.connection() as connection:
                yield connection
        except psycopg.Error as error:
            raise unavailable(error) from error

    @contextmanager
    def transaction(self, tenant: str, settings: str = "") -> Iterator[Connection[TupleRow]]:
        """A connection in one transaction as ``tenant``; an error rolls it back."""
        with self.connection() as connection, connection.transaction():
            become(connection, tenant, settings)
            yield connection

    @contextmanager
    def loading(self, tenant: str) -> Iterator[Connection[TupleRow]]:
        """A transaction that writes a document of ``tenant`` by COPY, with the owner's rights.

        Postgres has no COPY under row-level security. What is written names its tenant, and every
        reference of a row carries it (db/schema.sql), so no row can hang on another tenant's.
        """
        with self.connection() as connection, connection.transaction():
            connection.execute(_AS_TENANT, {"tenant": tenant})
            yield connection

    def check_role(self) -> None:
        """Return where DATABASE_URL's role may act as tenants do, and keep the database.

        Raises:
            StoreUnavailable: it may not, or the database did not answer.
        """
        with self.connection() as connection:
            row = connection.execute(_MAY_ACT, {"role": ROLE}).fetchone()
        if row is None or not row[1]:
            name = row[0] if row else "of DATABASE_URL"
            raise StoreUnavailable(
                f"the role {name} may not act as {ROLE}: have it granted, GRANT {ROLE} TO {name};"
                " where there is no such role, run `python -m db.migrate`"
            )
        if row[2]:
            raise StoreUnavailable(
                f"the role {row[0]} does not own Helix's tables, so it could not write documents:"
                " put the role that ran `python -m db.migrate` into DATABASE_URL"
            )

    def pool_stats(self) -> dict[str, dict[str, int]]:
        """By pool: psycopg's statistics of it."""
        return {"read": self._reading.get_stats(), "write": self._writing.get_stats()}

    async def close(self) -> None:
        """Close both pools; they cannot be used afterwards."""
        await self._reading.close()
        await asyncio.to_thread(self.close_writing)

    def close_writing(self) -> None:
        """Close the pool of writes, for code without an event loop, which opens no other."""
        self._writing.close()


def become(connection: Connection[TupleRow], tenant: str, settings: str = "") -> None:
    """Act as ``tenant`` until the transaction that is open on ``connection`` ends."""
    connection.execute(_AS_TENANT_IN_ROLE + settings, {"tenant": tenant})


async def _ready_to_read(connection: AsyncConnection[TupleRow]) -> None:
    await register_vector_async(connection)
    await connection.execute(_READ_SETTINGS)
