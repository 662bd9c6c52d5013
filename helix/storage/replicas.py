"""Read replicas of the database: which of them answer, and which reads they may answer.

A replica answers a read where it has replayed all that the primary had written when the read began
(docs/decisions/0056-read-replicas.md); else, and where it fails, the primary does. A replica that
fails is left at once and asked again by a task of its own, so no question waits for it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import Context
from functools import partial
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import TupleRow, dict_row
from psycopg_pool import PoolTimeout

from helix.storage.pipelined_connections import ReadingPool, Row, Statement
from helix.storage.statements import replicas as sql

Identity = tuple[str, str]
"""The cluster's system identifier and the database's name: the same on primary and replica."""

ANSWER_SECONDS = 1.5
"""The longest silence of a replica, in seconds; then the primary answers, and it is left."""
CONNECT_SECONDS = 2
RETRY_SECONDS = (1.0, 2.0, 5.0)
"""Waits after the first failures in a row of a replica; the last one is for all further ones."""


_logger = logging.getLogger(__name__)


class Replica:
    """One replica: its connections, and whether it is asked at present.

    Args:
        number: its place in DATABASE_REPLICA_URLS, from 1; messages name it by this.
        url: a libpq URL; it may hold a password.
        pool: connections to it that are ready to read, not open yet.
    """

    def __init__(self, number: int, url: str, pool: ReadingPool) -> None:
        self.name = f"replica-{number}"
        self.pool = pool
        self.present = False
        self._url = url
        self._behind = False
        self._failures = 0  # since it last answered
        self._warned = False

    async def read(
        self, as_tenant: str, statement: Statement, who: dict[str, Any]
    ) -> list[Row] | None:
        """The rows, or None where it has not replayed the WAL up to the position in ``who`` yet.

        Raises:
            psycopg.Error: it did not answer within ANSWER_SECONDS, or refused.
        """
        async with self.pool.connection(timeout=ANSWER_SECONDS) as connection:
            hanging_up = asyncio.get_running_loop().call_later(ANSWER_SECONDS, _hang_up, connection)
            try:
                if self._behind:  # then the search would probably be for nothing
                    ((checked,),) = await connection.read((sql.CAUGHT_UP, who))
                    if not checked["caught_up"]:
                        return None
                # the position first: what the read sees afterwards can only be newer
                (checked,), rows = await connection.read(
                    (f"{sql.CAUGHT_UP}, {as_tenant}", who), statement
                )
                self._behind, self._failures = not checked["caught_up"], 0
                return None if self._behind else rows
            finally:
                hanging_up.cancel()

    async def join(self, identity: Identity) -> None:
        """Return once it answers as a replica of the database that ``identity`` names."""
        while True:
            if self._failures:
                await asyncio.sleep(RETRY_SECONDS[min(self._failures, len(RETRY_SECONDS)) - 1])
            try:
                async with asyncio.timeout(2 * CONNECT_SECONDS):
                    problem = await self._problem(identity)
                if problem is None:
                    await self.pool.open()
                    await self.pool.check()  # it drops what is left of a server that died
                    break
            except (psycopg.Error, OSError, TimeoutError) as error:
                problem = f"does not answer ({type(error).__name__})"
            self._failures += 1
            if not self._warned:
                _logger.warning("%s %s; the primary answers", self.name, problem)
                self._warned = True
        self.present = True
        _logger.log(logging.WARNING if self._warned else logging.INFO, "%s answers", self.name)
        self._warned = False

    async def _problem(self, identity: Identity) -> str | None:
        async with await AsyncConnection.connect(
            self._url, autocommit=True, connect_timeout=CONNECT_SECONDS, row_factory=dict_row
        ) as connection:
            row = await (await connection.execute(sql.IDENTITY)).fetchone()
            return problem_of(row, identity, connection.info.backend_pid)

    def failed(self, error: psycopg.OperationalError) -> None:
        """Ask it no more until it has joined again, unless it was only busy."""
        in_use = self.pool.get_stats().get("pool_size", 0) >= self.pool.max_size
        busy = isinstance(error, PoolTimeout) and in_use
        if self.present and not busy:  # of many reads that fail at once only the first counts
            self.present = False
            self._failures += 1


def problem_of(row: Row | None, identity: Identity, backend: int) -> str | None:
    """The reason why the server of a ``row`` of IDENTITY is no replica of ``identity``; else None.

    ``backend`` is the process id that the connection states.
    """
    if row is None or (row["cluster"], row["name"]) != identity:
        return "is no replica of the database in DATABASE_URL"
    if row["backend"] != backend:
        return "is reached through a pooler: give its own address"
    return None if row["replays"] else "replays nothing: it is a primary itself"


class Replicas:
    """All replicas of one database, for one event loop.

    Args:
        urls: the URL of each, as in DATABASE_REPLICA_URLS.
        pool: (URL, name) to a pool of connections.
    """

    def __init__(self, urls: Sequence[str], pool: Callable[[str, str], ReadingPool]) -> None:
        self._all = [
            Replica(number, url, pool(url, f"helix-replica-{number}"))
            for number, url in enumerate(urls, 1)
        ]
        self._joining: dict[Replica, asyncio.Task[None]] = {}
        self._turn = 0

    def pick(self, identity: Identity) -> Replica | None:
        """The next present replica, in turn; None without one. Absent ones begin to join."""
        for replica in self._all:
            if not replica.present and replica not in self._joining:
                task = asyncio.create_task(replica.join(identity), context=Context())
                self._joining[replica] = task
                task.add_done_callback(partial(self._joined, replica))
        present = [replica for replica in self._all if replica.present]
        self._turn += 1
        return present[self._turn % len(present)] if present else None

    async def read(
        self, replica: Replica, as_tenant: str, statement: Statement, who: dict[str, Any]
    ) -> list[Row] | None:
        """The rows of a read on ``replica``; None where the primary is to be asked.

        ``who`` is what ``as_tenant`` binds, and the position to have replayed.
        """
        try:
            return await replica.read(as_tenant, statement, who)
        except psycopg.errors.TransactionRollback:
            return None  # the replica ended the read, which conflicted with its replay
        except psycopg.OperationalError as error:
            replica.failed(error)
        except psycopg.Error as error:  # the primary refuses it too, or has the better answer
            _logger.debug("a read on %s failed: %s", replica.name, type(error).__name__)
        return None

    def _joined(self, replica: Replica, _: asyncio.Task[None]) -> None:
        del self._joining[replica]

    def stats(self) -> dict[str, dict[str, int]]:
        """Statistics of psycopg's pool by replica, and whether it is asked (0 or 1)."""
        return {each.name: {**each.pool.get_stats(), "present": each.present} for each in self._all}

    async def close(self) -> None:
        """End the tries to join, and close every pool."""
        for task in list(self._joining.values()):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        for replica in self._all:
            await replica.pool.close()


def _hang_up(connection: AsyncConnection[TupleRow]) -> None:
    """Shut a silent connection down, so that the read on it fails at once.

    Cancelling the read would not: psycopg then asks the server to cancel, and waits for that.
    """
    with (
        suppress(OSError, psycopg.Error),
        socket.socket(fileno=os.dup(connection.fileno())) as line,
    ):
        line.shutdown(socket.SHUT_RDWR)
