"""The connections to one database: reads of the event loop, writes of threads, both as a tenant.

A tenant's transaction runs as the role ``helix_app``, which owns nothing, and says in
``helix.tenant`` whose rows it may see. Where only the documents of some spaces are to be seen, the
role is ``helix_limited``, and ``helix.spaces`` says of which. All of this lasts until it ends, so a
connection that goes back to its pool keeps nothing. A read and its settings are sent together: one
round trip, and one implicit transaction, for a pipeline is one until it is synchronised.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import Context
from functools import partial
from typing import Any, TypeVar

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from helix.domain.scope import WHOLE, Reach
from helix.errors import StoreUnavailable
from helix.overload.fairness import FairPlaces, LoopPacer
from helix.storage.pipelined_connections import (
    ReadingConnection,
    ReadingPool,
    given_back,
    go_on_connecting,
)
from helix.storage.pipelined_connections import Row as Row
from helix.storage.pipelined_connections import WritingConnection as WritingConnection
from helix.storage.replicas import Identity, Replicas
from helix.storage.statements import moments, replicas
from helix.storage.statements import sessions as sql
from helix.storage.statements.sessions import planned, settings_of
from helix.storage.statements.upkeep import ANSWERS
from helix.storage.write_pool import BlockingRunner, WritePool
from helix.storage.write_pool import Connected as Connected

AsyncConnected = AsyncConnection[TupleRow]
_T = TypeVar("_T")

CONNECT_TIMEOUT_SECONDS = 5
_BLOCKING_POOL_SIZE = 4  # connections for the reads of code that cannot await
_WRITE_POOL_SIZE = 4
READ_SECONDS = 8  # longer than the pool may take to find that nobody is there
PING_SECONDS = 2
RECONNECT_SECONDS = 2
"""Seconds that a pool tries by itself to reach a database that is gone; after that it does where
a request waits. psycopg's 300 would back off to minutes, and a restarted database stay unseen."""


def unavailable(error: psycopg.Error) -> StoreUnavailable:
    """The driver's error as Helix's: what happened and what to do, never a statement's values."""
    if isinstance(error, psycopg.errors.UndefinedTable):
        return StoreUnavailable("the database has no Helix schema: run `helix migrate`")
    if isinstance(error, psycopg.errors.DiskFull):
        return StoreUnavailable("the database's disk is full: make room there, then try again")
    if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
        return StoreUnavailable("the database takes no writes, only reads: try again once it does")
    if isinstance(error, psycopg.OperationalError):
        return StoreUnavailable(
            "the database did not answer: check that it is running and DATABASE_URL is right"
        )
    state = error.sqlstate or type(error).__name__
    return StoreUnavailable(f"the database refused the statement ({state}): run `helix doctor`")


@contextmanager
def _translated() -> Iterator[None]:
    """Raise the driver's errors as StoreUnavailable."""
    try:
        yield
    except psycopg.Error as error:
        raise unavailable(error) from error


async def _open(pool: AsyncConnectionPool[Any]) -> None:
    """Open ``pool``, unless it is: its tasks outlive the request that is first, and log no ids."""
    if pool.closed:
        await asyncio.create_task(pool.open(), context=Context())


class Connections:
    """The pools of one database. Errors of the database arrive as StoreUnavailable.

    A pool of coroutines belongs to the event loop that opened it: so there is one for the first
    loop that reads, the application's, and one for the loop of ``run_blocking``. Any further loop,
    as of a script's second ``asyncio.run``, reads in that one.

    Args:
        database_url: a libpq URL, ``postgresql://…``, unix sockets included.
        pool_size: connections kept for reading at most, on each server.
        replica_urls: of its read replicas.
        pooler_url: of a pooler in transaction mode, such as PgBouncer, that leads to the same
            database: all reads and writes go through it. ``url`` stays the database's own, for what
            needs a session: LISTEN and locks that outlast a transaction.
    """

    def __init__(
        self,
        database_url: str,
        pool_size: int,
        replica_urls: Sequence[str] = (),
        pooler_url: str | None = None,
    ) -> None:
        self.url = database_url
        self.keep_versions_days = 0  # that a replaced version of a document is kept
        self._pooled = pooler_url is not None
        server = pooler_url or database_url

        def reading(most: int, url: str = server, name: str = "helix-read") -> ReadingPool:
            pooled = url == pooler_url
            return ReadingPool(
                url, connection_class=ReadingConnection, min_size=1, max_size=most, name=name,
                reset=given_back, reconnect_failed=go_on_connecting,
                configure=register_vector_async if pooled else _ready_to_read,
                **_pool_options(pooled=pooled),
            )  # fmt: skip

        self.reads_started = 0  # that were given a connection
        self._open_reading = partial(reading, pool_size)
        self._reading, self._reading_blocking = self._open_reading(), reading(_BLOCKING_POOL_SIZE)
        self._has_replicas = bool(replica_urls)
        self._replicas = Replicas(replica_urls, lambda url, name: reading(pool_size, url, name))
        self._identity: Identity | None = None  # asked for once there is a replica to compare
        # The pool is a queue too, and one tenant's reads would all be ahead of another's. So nobody
        # waits there: a connection is back some iterations of the loop after its read (given_back).
        self._open_places = partial(FairPlaces, (pool_size + 1) // 2)
        self._places, self._loop_pacer = self._open_places(), LoopPacer()
        self._pinging = ReadingPool(
            server, connection_class=ReadingConnection, min_size=0, max_size=1, name="helix-ping",
            reset=given_back, reconnect_failed=go_on_connecting,
            **_pool_options(pooled=self._pooled) | {"timeout": PING_SECONDS},
        )  # fmt: skip
        self._runner = BlockingRunner()
        self._loop: asyncio.AbstractEventLoop | None = None  # the first that read
        self._checks: set[asyncio.Task[None]] = set()  # an event loop itself keeps no task alive
        self._writing = WritePool(server, _WRITE_POOL_SIZE, _pool_options(pooled=self._pooled))

    async def fetch(
        self, statement: str, values: dict[str, Any], tenant: str, settings: str = "",
        reach: Reach = WHOLE,
    ) -> list[Row]:  # fmt: skip
        """All rows of one read as ``tenant``, unless the database is silent for READ_SECONDS.

        ``settings`` are further ``set_config`` calls for its transaction, after a comma. Of the
        tenant's rows those within ``reach`` are seen.
        """
        if not (self._runner.is_current() or self._has_pools()):
            call = partial(self.fetch, statement, values, tenant, settings, reach)
            return await self._runner.awaited(call)
        try:
            # a task of its own would be simpler to abandon, and cost a tenth of the search
            async with asyncio.timeout(READ_SECONDS):
                if self._runner.is_current():
                    return await self._read(statement, values, tenant, settings, reach)
                async with self._places.place(tenant):
                    rows = await self._read(statement, values, tenant, settings, reach)
                await self._loop_pacer.next(tenant)
                return rows
        except TimeoutError as error:
            raise StoreUnavailable("the database keeps silent; try again") from error

    async def read(
        self, statement: str, values: dict[str, Any], tenant: str, settings: str = "",
        reach: Reach = WHOLE,
    ) -> list[Row]:  # fmt: skip
        """``fetch`` for a statement that only reads: on a replica that has replayed all writes.

        Every commit that was acknowledged before the read began is seen, whichever process made it.
        Commits without ``synchronous_commit``, such as those of receipts, may be missing: read
        their tables with ``fetch``.
        """
        if self._has_replicas and not self._runner.is_current() and self._has_pools():
            rows = await self._read_replica(statement, values, tenant, settings, reach)
            if rows is not None:
                return rows
        return await self.fetch(statement, values, tenant, settings, reach)

    async def _read_replica(
        self, statement: str, values: dict[str, Any], tenant: str, settings: str, reach: Reach
    ) -> list[Row] | None:
        """The rows from the replica whose turn it is; None where the primary has to be asked."""
        if self._identity is None:
            (row,) = await self.fetch(replicas.IDENTITY, {}, tenant)
            self._identity = (row["cluster"], row["name"])
        if (replica := self._replicas.pick(self._identity)) is None:
            return None
        (row,) = await self.fetch(replicas.POSITION, {}, tenant)
        more, who = settings_of(tenant, reach)
        who |= {"position": row["position"]}
        return await self._replicas.read(
            replica, sql.SET_TENANT + more + settings, (planned(statement, reach), values), who
        )

    def _has_pools(self) -> bool:
        """True if the pools of coroutines are the running event loop's, or become so."""
        self._loop = self._loop or asyncio.get_running_loop()
        return self._loop is asyncio.get_running_loop()

    async def ping(self) -> bool:
        """True if ``SELECT 1`` succeeds within PING_SECONDS, however busy the reads are."""
        for _ in range(2):  # a restarted server leaves one dead connection
            try:
                async with asyncio.timeout(PING_SECONDS):
                    await _open(self._pinging)
                    async with self._pinging.connection() as connection:
                        await connection.execute(ANSWERS)
                return True
            except (psycopg.Error, TimeoutError):
                continue
        return False

    async def _read(
        self, statement: str, values: dict[str, Any], tenant: str, settings: str, reach: Reach
    ) -> list[Row]:
        """All rows of one read; tried twice, for a restarted server leaves dead connections."""
        pool = self._reading_blocking if self._runner.is_current() else self._reading
        more, who = settings_of(tenant, reach)
        settings = (sql.POOLED_SETTINGS if self._pooled else "") + more + settings
        statement = planned(statement, reach)
        for last_try in (False, True):
            try:
                await _open(pool)
                async with pool.connection() as connection:
                    self.reads_started += 1
                    _, rows = await connection.read(
                        (sql.AS_TENANT + settings, who), (statement, values)
                    )
                    return rows
            except psycopg.OperationalError as error:
                if last_try or isinstance(error, (PoolTimeout, PoolClosed)):
                    raise unavailable(error) from error
                await self._check(pool)
            except psycopg.Error as error:
                raise unavailable(error) from error
        raise AssertionError("unreachable")

    async def _check(self, pool: ReadingPool) -> None:
        """Replace the dead connections of ``pool`` among those that nobody uses.

        The check takes them all out of the pool, and drops them where it is cancelled: so it runs
        in a task of its own, and goes on when the read that asked for it is cancelled.
        """
        checking = asyncio.create_task(pool.check())
        self._checks.add(checking)
        checking.add_done_callback(self._checks.discard)
        await asyncio.shield(checking)

    def renew_reading(self) -> None:
        """Read through new connections from now on; what waits for an old one gets an error.

        Old ones are closed as they come back.
        """
        old, self._reading = self._reading, self._open_reading()
        self._places = self._open_places()  # the old ones are held by what is stuck
        closing = asyncio.create_task(old.close())
        self._checks.add(closing)
        closing.add_done_callback(self._checks.discard)

    def run_blocking(self, function: Callable[..., Awaitable[_T]], *arguments: Any) -> _T:
        """The result of a coroutine function, for code that cannot await: see BlockingRunner."""
        return self._runner.run(function, *arguments)

    @contextmanager
    def connection(self) -> Iterator[Connected]:
        """A connection with the rights of DATABASE_URL's own role, in autocommit.

        It sees every tenant: for the upkeep of the database, not for requests.
        """
        with _translated(), self._writing.connection() as connection:
            yield connection

    @contextmanager
    def transaction(self, tenant: str, reach: Reach = WHOLE) -> Iterator[Connected]:
        """A connection in one transaction as ``tenant``; an error rolls it back."""
        more, who = settings_of(tenant, reach)
        become = sql.AS_TENANT_IN_ROLE + more, who
        with _translated(), self._writing.transaction(become) as connection:
            yield connection

    def ask(self, tenant: str, statement: str, values: dict[str, Any]) -> list[Row]:
        """All rows of one statement as ``tenant``, over the connections of writes, for threads."""
        become = sql.AS_TENANT_IN_ROLE, {"tenant": tenant}
        with _translated():
            return self._writing.read(become, (statement, values))[1]

    @contextmanager
    def loading(self, tenant: str) -> Iterator[WritingConnection]:
        """A transaction that writes a document of ``tenant`` by COPY, with the owner's rights.

        Postgres has no COPY under row-level security. What is written names its tenant, and every
        reference of a row carries it (db/schema.sql), so no row can hang on another tenant's.
        """
        kept = moments.KEEP if self.keep_versions_days else ""
        with (
            _translated(),
            self._writing.transaction((sql.AS_TENANT + kept, {"tenant": tenant})) as loading,
        ):
            yield loading

    def check_role(self) -> None:
        """Return where DATABASE_URL's role may act as tenants, and maintain the database.

        Raises:
            StoreUnavailable: it may not, DATABASE_URL leads to a pooler, or the database did not
                answer.
        """
        with self.connection() as connection:
            row = connection.execute(sql.MAY_ACT, {"roles": list(sql.ROLES)}).fetchone()
            if not self._pooled:
                _require_direct(connection)
        if self._pooled:
            try:
                with psycopg.connect(self.url, connect_timeout=CONNECT_TIMEOUT_SECONDS) as direct:
                    _require_direct(direct)
            except psycopg.Error as error:
                raise unavailable(error) from error
        if row is None or not row[1]:
            name = row[0] if row else "of DATABASE_URL"
            raise StoreUnavailable(
                f"the role {name} may not act as {sql.ROLE} and {sql.LIMITED_ROLE}: have them"
                f" granted, GRANT {sql.ROLE}, {sql.LIMITED_ROLE} TO {name};"
                " where there are no such roles, run `helix migrate`"
            )
        if row[2]:
            raise StoreUnavailable(
                f"the role {row[0]} does not own Helix's tables, so it could not write documents:"
                " put the role that ran `helix migrate` into DATABASE_URL"
            )

    def pool_stats(self) -> dict[str, dict[str, int]]:
        """Statistics of psycopg by pool; who waits to read does so in front of its pool."""
        return {
            "read": self._reading.get_stats() | {"requests_waiting": self._places.waiting},
            "write": self._writing.stats(),
            **self._replicas.stats(),
        }

    async def close(self) -> None:
        """Close every pool; they cannot be used afterwards."""
        if self._has_pools():  # those of a loop that has ended, ended with it
            await self._replicas.close()
            await self._reading.close()
            await self._pinging.close()
        await asyncio.to_thread(self._close_blocking)

    def _close_blocking(self) -> None:
        if not self._reading_blocking.closed:
            self._runner.run(self._reading_blocking.close)
        self._runner.close()
        self.close_writing()

    def close_writing(self) -> None:
        """Close the pool of writes, for code without an event loop, which opens no other."""
        self._writing.close()


def _pool_options(*, pooled: bool) -> dict[str, Any]:
    """The options of all pools; ``pooled``: they lead to a pooler."""
    arguments: dict[str, Any] = {
        "autocommit": True,
        "connect_timeout": CONNECT_TIMEOUT_SECONDS,
        "tcp_user_timeout": READ_SECONDS * 1000,  # a network that swallows packets breaks
    }
    if pooled:  # what is prepared in one session is not there in the next
        arguments["prepare_threshold"] = None
    return {
        "open": False, "timeout": CONNECT_TIMEOUT_SECONDS,
        "reconnect_timeout": RECONNECT_SECONDS, "kwargs": arguments,
    }  # fmt: skip


def _require_direct(connection: Connected) -> None:
    """Raise StoreUnavailable where a pooler stands between the connection and the database."""
    row = connection.execute(sql.BACKEND).fetchone()
    if row != (connection.info.backend_pid,):
        raise StoreUnavailable(
            "DATABASE_URL leads to a pooler, such as PgBouncer: put its address into"
            " DATABASE_POOLER_URL, and the address of Postgres itself into DATABASE_URL"
        )


async def _ready_to_read(connection: AsyncConnected) -> None:
    await register_vector_async(connection)
    await connection.execute(sql.READ_SETTINGS)
