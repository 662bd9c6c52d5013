"""Callbacks of psycopg's pools of connections, so that none of them runs dry.

Each function is an argument of ConnectionPool or AsyncConnectionPool.
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.pq import PipelineStatus
from psycopg_pool import AsyncConnectionPool, ConnectionPool


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
