"""Times of each key's and session's last use: to the minute, written off the way of requests."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from helix.storage.statements import keys, sign_ins

if TYPE_CHECKING:
    from helix.storage.connections import Connected

_SECONDS = 60.0


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
