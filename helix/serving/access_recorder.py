"""Records of who uses a server, written every second: audit log, uses of keys, usage."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from helix.errors import HelixError
from helix.library.audit import AuditLog, Event, Waiting, store_events
from helix.library.usage import store_counts
from helix.library.usage_days import WaitingUsage, store_usage
from helix.overload.usage import Account, Usage
from helix.storage.statements import keys, sign_ins
from helix.storage.tenant_connections import TenantConnections
from helix.telemetry.usage_meter import UsageKey

if TYPE_CHECKING:
    from helix.storage.connections import Connected

_WRITE_SECONDS = 1.0
_RETRY_SECONDS = 5.0

_logger = logging.getLogger(__name__)
_SECONDS = 60.0


class AccessRecorder:
    """The access records of one server, for one event loop.

    ``audited``: whether the audit log is kept (HELIX_AUDIT_DAYS); ``on_dropped``: as AuditLog's.
    """

    def __init__(self, audited: bool, on_dropped: Callable[[int], None] = lambda _: None) -> None:
        self._audited = audited
        self.audit = AuditLog(on_dropped)
        self._key_uses, self._session_uses = KeyUses(), KeyUses()
        self._has_pending, self._ended = asyncio.Event(), asyncio.Event()
        self.usage = Usage(self._has_pending.set)
        self.used = WaitingUsage(self._has_pending.set)

    def record(self, event: Event) -> None:
        """Put ``event`` into the audit log, soon."""
        if self._audited:
            self.audit.record(event)
            self._has_pending.set()

    def record_key_use(self, key_id: int | None, tenant: str, address: str) -> None:
        """Record that a key was used; None: it was none."""
        if key_id is None:
            return
        is_new = self._key_uses.note(key_id)
        if self._audited:
            self.audit.record_key_use(key_id, tenant, address)
        if is_new:  # the audit log's hour begins with one of the minutes
            self._has_pending.set()

    def record_session_use(self, session_id: int) -> None:
        """Record that a session was used."""
        if self._session_uses.note(session_id):
            self._has_pending.set()

    @asynccontextmanager
    async def writing(self, store: TenantConnections) -> AsyncIterator[None]:
        """Write the records while the block lasts, and the remaining ones at its end."""
        keeping = asyncio.create_task(self._keep(store))
        try:
            yield
        finally:
            self._ended.set()
            self._has_pending.set()
            await keeping

    async def _keep(self, store: TenantConnections) -> None:
        while not self._ended.is_set():
            await self._has_pending.wait()
            await self._pause(_WRITE_SECONDS)  # what comes together is written together
            self._has_pending.clear()
            if not await self._write(store):
                await self._pause(_RETRY_SECONDS)
                self._has_pending.set()

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), seconds)

    async def _write(self, store: TenantConnections) -> bool:
        events, uses, counts = self.audit.drain(), self._key_uses.drain(), self.usage.drain()
        sessions = self._session_uses.drain()
        try:
            with self.used.writing() as used:
                if not (events or uses or counts or sessions or used):
                    return True
                totals = await asyncio.to_thread(
                    _store, store, events, uses, sessions, counts, used
                )
        except HelixError as error:
            self.audit.requeue(events)
            self._key_uses.requeue(uses)
            self._session_uses.requeue(sessions)
            self.usage.requeue(counts)
            loss = f"; {len(events)} events are lost" if self._ended.is_set() else ""
            _logger.warning("the audit log was not written: %s%s", error, loss)
            return False
        for account, total in totals.items():
            self.usage.learn(account, total)
        return True


def _store(
    store: TenantConnections,
    events: list[Waiting],
    uses: dict[int, datetime],
    sessions: dict[int, datetime],
    counts: Counter[Account],
    used: Mapping[UsageKey, Mapping[str, int]],
) -> dict[Account, int]:
    with store.connection() as connection, connection.transaction():
        store_events(connection, events)
        store_key_uses(connection, uses)
        store_session_uses(connection, sessions)
        store_usage(connection, used)
        return store_counts(connection, counts)


class KeyUses:
    """The uses of keys, or of sessions, still to be written, one a minute for each at most."""

    def __init__(self) -> None:
        self._last_use: dict[int, float] = {}
        self._waiting: dict[int, datetime] = {}

    def note(self, key_id: int) -> bool:
        """Note that the key is used now; whether there is something new to write."""
        now = time.monotonic()
        if now - self._last_use.get(key_id, -_SECONDS) < _SECONDS:
            return False
        self._last_use[key_id] = now
        self._waiting[key_id] = datetime.now(UTC)
        return True

    def drain(self) -> dict[int, datetime]:
        """The uses that wait, which wait no longer."""
        uses, self._waiting = self._waiting, {}
        return uses

    def requeue(self, uses: dict[int, datetime]) -> None:
        """Queue again what ``drain`` returned and the caller could not write."""
        self._waiting = uses | self._waiting


def store_key_uses(connection: Connected, uses: dict[int, datetime]) -> None:
    """Write when the keys were last used; another process may have written a later time."""
    if uses:
        connection.execute(keys.USED, (list(uses), list(uses.values())))


def store_session_uses(connection: Connected, uses: dict[int, datetime]) -> None:
    """The same of sessions."""
    if uses:
        connection.execute(sign_ins.USED, (list(uses), list(uses.values())))
