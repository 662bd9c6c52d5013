"""The audit log: who changed what, which key came from where, who was refused. No text of anybody.

Events wait in memory, alike ones as one with a count, and are written by the second, off the way of
the request that they are about. So many wait at most; what has no room is counted as dropped.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from psycopg.rows import class_row

from helix.overload.usage import NOBODY as NOBODY
from helix.storage.statements import audit as sql

if TYPE_CHECKING:  # for `helix --help` not to load LlamaIndex
    from helix.storage.connections import Connected

Kind = Literal["write", "key_use", "refusal", "command", "dropped"]
MOST_WAITING = 5000
"""Different events that wait to be written."""
_MOST_SEEN = 50_000  # pairs of key and address whose last hour is known
_HOUR = 3600.0
_LONGEST = 200  # characters of what an event says
_BATCH = 1000


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, alike for all that are counted as one.

    ``action`` is a method and a route's template, or a command; ``object`` the ids of what it
    changed, or the reason of a refusal; ``status`` the answer's.
    """

    kind: Kind
    action: str
    tenant: str = NOBODY
    key_id: int | None = None
    address: str = ""
    object: str = ""
    status: int | None = None
    person_id: int | None = None


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event as it was stored, ``n`` times within the same seconds from ``at`` on."""

    id: int
    tenant: str
    at: datetime
    kind: Kind
    key_id: int | None
    person_id: int | None
    address: str
    action: str
    object: str
    status: int | None
    n: int


Waiting = tuple[Event, datetime, int]


class AuditLog:
    """The events of one process that wait to be written, for one event loop.

    Args:
        on_dropped: is told how many events were not kept, for want of room; the log has a row
            that tells of them too, once there is room for it.
    """

    def __init__(
        self, on_dropped: Callable[[int], None] = lambda _: None, most: int = MOST_WAITING
    ) -> None:
        self._most, self._on_dropped = most, on_dropped
        self._waiting: dict[Event, tuple[datetime, int]] = {}
        self._recorded_at: OrderedDict[tuple[int, str], float] = OrderedDict()
        self._unlogged = 0  # of the dropped, those that no row tells of yet

    def record(self, event: Event, at: datetime | None = None, n: int = 1) -> None:
        """Keep ``event`` until it is written; it happened ``n`` times from ``at`` (now) on."""
        first, count = self._waiting.get(event, (at or datetime.now(UTC), 0))
        if not count and len(self._waiting) >= self._most:
            self._unlogged += n
            self._on_dropped(n)
            return
        self._waiting[event] = (first, count + n)

    def record_key_use(self, key_id: int, tenant: str, address: str) -> None:
        """Record the first use of the key from ``address`` in an hour."""
        now, pair = time.monotonic(), (key_id, address)
        if now - self._recorded_at.get(pair, -_HOUR) < _HOUR:
            return
        self._recorded_at[pair] = now
        self._recorded_at.move_to_end(pair)
        if len(self._recorded_at) > _MOST_SEEN:
            self._recorded_at.popitem(last=False)
        self.record(Event("key_use", "key used", tenant, key_id, address))

    def drain(self) -> list[Waiting]:
        """All that waits, which waits no longer; with a count of what was dropped before."""
        events = [(event, at, n) for event, (at, n) in self._waiting.items()]
        self._waiting.clear()
        if self._unlogged:
            events.append((Event("dropped", "events not kept"), datetime.now(UTC), self._unlogged))
            self._unlogged = 0
        return events

    def requeue(self, events: Iterable[Waiting]) -> None:
        """Queue again what ``drain`` returned and the caller could not write."""
        for event, at, n in events:
            if event.kind == "dropped":
                self._unlogged += n
            else:
                self.record(event, at, n)


def store_events(connection: Connected, events: Iterable[Waiting]) -> None:
    """Write ``events``, with the owner's rights."""
    rows = [
        (event.tenant, at, event.kind, event.key_id, event.address[:_LONGEST],
         event.action[:_LONGEST], event.object[:_LONGEST], event.status, n, event.person_id)
        for event, at, n in events
    ]  # fmt: skip
    with connection.cursor() as cursor:
        cursor.executemany(sql.INSERT, rows)


def record_command(connection: Connected, action: str, tenant: str, about: str = "") -> None:
    """Record a command that somebody with the owner's rights gave, in its own transaction."""
    event = Event("command", action, tenant, object=about)
    store_events(connection, [(event, datetime.now(UTC), 1)])


def list_events(
    connection: Connected, since: timedelta, tenant: str | None = None, most: int = 1000
) -> list[StoredEvent]:
    """The latest ``most`` events of the last ``since``, of ``tenant`` or all; oldest first."""
    values = {"since": datetime.now(UTC) - since, "tenant": tenant, "most": most}
    with connection.cursor(row_factory=class_row(StoredEvent)) as cursor:
        return cursor.execute(sql.LIST, values).fetchall()


def delete_old_events(connection: Connected, days: int) -> int:
    """Delete the events older than ``days``, of all tenants; returns how many."""
    deleted = 0
    while True:
        batch = connection.execute(sql.DELETE_EXPIRED, {"days": days, "most": _BATCH}).rowcount
        deleted += batch
        if batch < _BATCH:
            return deleted
