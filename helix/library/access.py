"""Access of routes and commands to the database: reads, and actions of one transaction each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    nullcontext,
)
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from psycopg.errors import DeadlockDetected, ForeignKeyViolation
from psycopg.rows import dict_row

from helix.domain.scope import WHOLE, Reach, Spaces
from helix.errors import HelixError, NotFound, StoreUnavailable
from helix.storage.connections import Connected as Connected
from helix.storage.connections import Row as Row
from helix.storage.statements import compose as compose
from helix.storage.statements.sessions import become
from helix.storage.statements.spaces import CHANGEABLE, READABLE
from helix.storage.tenant_connections import TenantConnections

Result = TypeVar("Result")
Item = TypeVar("Item")

_WRITERS = 3
"""Transactions at once; fewer than the store's connections for it, which others need too."""
LARGE_BYTES = 16 * 2**20
"""A file from this size on is in memory alone: storing it takes three times its size."""
_TRIES = 3
_AT_ONCE = 50
"""Items that ``change_each`` deals with on one turn of a connection."""
STEP = 0.02
"""Seconds: several times what a refusal takes, and less than somebody notices."""


def rows_of(
    connection: Connected, statement: str, values: Sequence[Any] | Mapping[str, Any] = ()
) -> list[Row]:
    """All rows of a statement, by the names of their columns."""
    return connection.cursor(row_factory=dict_row).execute(statement, values).fetchall()


def row_of(
    connection: Connected, statement: str, values: Sequence[Any] | Mapping[str, Any] = ()
) -> Row | None:
    """The first row of a statement, by the names of its columns."""
    return connection.cursor(row_factory=dict_row).execute(statement, values).fetchone()


class Library:
    """Documents and runs of one tenant over the connections of ``store``.

    Every statement finds the tenant bound as ``tenant``. Errors of the database arrive as
    StoreUnavailable.
    """

    def __init__(self, store: TenantConnections) -> None:
        self._store = store
        self._writers = asyncio.Semaphore(_WRITERS)
        self._aside = asyncio.Semaphore(_WRITERS)
        self._large = asyncio.Lock()
        self.watches: dict[tuple[str, Spaces], Watch] = {}
        """The watches for changes, by tenant and spaces (helix/library/change_feed.py)."""

    def of(self, tenant: str, reach: Reach = WHOLE) -> Library:
        """The library of another tenant, or a part of it; they share what limits them."""
        other = copy(self)
        other._store = self._store.of(tenant, reach)
        return other

    @property
    def whole(self) -> Library:
        """The library with every document of the tenant, for what was looked at before."""
        reach = self.reach
        return self if reach.spaces is None else self.of(self.tenant, Reach(owner=reach.owner))

    @property
    def reach(self) -> Reach:
        """The part of the tenant's rows that is seen."""
        return self._store.reach

    @property
    def tenant(self) -> str:
        """The tenant whose library it is."""
        return self._store.tenant

    @property
    def store(self) -> TenantConnections:
        """The store that it reads and writes."""
        return self._store

    async def rows(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        """The rows of a read whose one column is JSON, such as ``SELECT row_to_json(x) …``."""
        fetched = await self._store.fetch(statement, {"tenant": self.tenant, **values})
        return [value for row in fetched for value in row.values()]

    async def row(self, statement: str, values: Mapping[str, Any]) -> Row | None:
        """The first of ``rows``."""
        rows = await self.rows(statement, values)
        return rows[0] if rows else None

    async def data(self, statement: str, values: Mapping[str, Any]) -> Row | None:
        """The first row of a read, by the names of its columns."""
        rows = await self.all_data(statement, values)
        return rows[0] if rows else None

    async def all_data(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        """The rows of a read, by the names of their columns."""
        return await self._store.fetch(statement, {"tenant": self.tenant, **values})

    async def unreadable(self, ids: Iterable[int]) -> set[int]:
        """Find those of ``ids`` that are no document of the tenant, or may not be read."""
        wanted = set(ids)
        possible = [number for number in wanted if 0 <= number < 2**63]
        found = await self.all_data(READABLE, {"ids": possible})
        return wanted - {row["id"] for row in found}

    async def unchangeable(self, ids: Iterable[int]) -> set[int]:
        """Find those of ``ids``, which may be read, that may not be changed."""
        edits = self.reach.edits
        if edits is None:
            return set()
        wanted = set(ids)
        values = {"ids": list(wanted), "edits": list(edits)}
        return wanted - {row["id"] for row in await self.whole.all_data(CHANGEABLE, values)}

    async def change(self, action: Callable[[Connected], Result]) -> Result:
        """Run ``action`` in one transaction, in a thread; whatever it raises undoes all of it.

        It is run again when it lost a race against another transaction.
        """
        async with self._writers:  # waiting here costs neither a thread nor a connection
            return await asyncio.to_thread(self._change, action)

    async def change_each(
        self, items: Sequence[Item], action: Callable[[Connected, Item], object]
    ) -> list[HelixError | None]:
        """Run ``action`` for each item in a transaction of its own; what it raised, or None.

        One that raises is undone, and the others are done all the same. When the database no
        longer answers, the rest is not tried and has that error.
        """
        outcomes: list[HelixError | None] = []
        try:
            for at in range(0, len(items), _AT_ONCE):
                async with self._writers:  # others get their turn in between
                    some = items[at : at + _AT_ONCE]
                    await asyncio.to_thread(self._change_some, some, action, outcomes)
        except StoreUnavailable as error:
            outcomes += [error] * (len(items) - len(outcomes))
        return outcomes

    def _change_some(
        self,
        items: Sequence[Item],
        action: Callable[[Connected, Item], object],
        outcomes: list[HelixError | None],
    ) -> None:
        with self._store.connection() as connection:
            for item in items:
                try:
                    self._retried(connection, partial(_on, action, item))
                    outcomes.append(None)
                except HelixError as error:
                    outcomes.append(error)

    def _change(self, action: Callable[[Connected], Result]) -> Result:
        with self._store.connection() as connection:
            return self._retried(connection, action)

    def _retried(self, connection: Connected, action: Callable[[Connected], Result]) -> Result:
        for _ in range(_TRIES - 1):
            try:
                return self._attempt(connection, action)
            except (DeadlockDetected, ForeignKeyViolation):
                continue
        return self._attempt(connection, action)

    def _attempt(self, connection: Connected, action: Callable[[Connected], Result]) -> Result:
        with connection.transaction():
            become(connection, self.tenant, self.reach)
            return action(connection)

    def memory_for(self, size: int) -> AbstractAsyncContextManager[object]:
        """A block that has so many bytes in memory; of large ones there is one at a time."""
        return self._large if size >= LARGE_BYTES else nullcontext()

    async def aside(self, action: Callable[[], Result]) -> Result:
        """Run ``action``, which takes time and memory, in a thread, few at once."""
        async with self._aside:
            return await asyncio.to_thread(action)


def _on(action: Callable[[Connected, Item], Result], item: Item, connection: Connected) -> Result:
    return action(connection, item)


@dataclass(slots=True)
class Watch:
    """The one look at a tenant's library that its followers share."""

    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    state: dict[str, Any] | None = None
    error: Exception | None = None
    followers: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None


@asynccontextmanager
async def paced(is_kept: bool = True) -> AsyncIterator[None]:
    """A block whose NotFound tells by no time whether a row is hidden; not where none ``is_kept``.

    A hidden row costs the look-ups of its policy, 13 to 54 µs more than none, which thousands of
    tries would tell apart (``python -m benchmarks.refusals``). So a refusal waits for the next of
    moments STEP seconds apart, counted from the beginning of its request.
    """
    started = time.monotonic()
    try:
        yield
    except NotFound:
        if is_kept:
            await asyncio.sleep(STEP - (time.monotonic() - started) % STEP)
        raise


@asynccontextmanager
async def in_background(*work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run ``work`` as tasks while the block lasts; then cancel them and wait until they ended.

    What a task raises is dropped: whoever has to know logs it in the task.
    """
    tasks = [asyncio.create_task(each) for each in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
