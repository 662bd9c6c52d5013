"""Usage of today, in UTC, by tenant, key and address, of what is limited by the day.

The counts are in Postgres, for all servers and over restarts. A process adds to them by the second
and looks at them again after some: so several servers together may let a little too much pass.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from psycopg.rows import dict_row

if TYPE_CHECKING:
    from helix.storage.connections import Connected

Kind = Literal["tokens", "upload_bytes"]
_FRESH_SECONDS = 10.0
_DAYS_KEPT = 7

_STORED = """
SELECT n FROM usage_counts
WHERE tenant_id = %(tenant)s AND subject = %(subject)s AND kind = %(kind)s AND day = %(day)s
"""
_ADD = """
INSERT INTO usage_counts AS u (tenant_id, subject, kind, day, n)
VALUES (%(tenant)s, %(subject)s, %(kind)s, %(day)s, %(n)s)
ON CONFLICT (tenant_id, subject, kind, day) DO UPDATE SET n = u.n + excluded.n RETURNING n
"""
_DELETE_OLD = "DELETE FROM usage_counts WHERE day < %s"


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a count: a tenant, a key of it, or an address, which is no tenant's."""

    tenant: str
    name: str


@dataclass(frozen=True, slots=True)
class Account:
    """The account of one count: whose it is, of what, and on which day."""

    subject: Subject
    kind: Kind
    day: date

    @property
    def values(self) -> dict[str, object]:
        """The values that the statements bind."""
        return {
            "tenant": self.subject.tenant, "subject": self.subject.name, "kind": self.kind,
            "day": self.day,
        }  # fmt: skip


def today() -> date:
    """The day that is counted by."""
    return datetime.now(UTC).date()


def seconds_left() -> int:
    """Until the next day begins."""
    now = datetime.now(UTC)
    midnight = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), UTC)
    return max(1, int((midnight - now).total_seconds()))


class Usage:
    """The counts as one process knows them, with those that it has not written yet."""

    def __init__(self) -> None:
        self._totals: dict[Account, tuple[int, float]] = {}
        self._waiting: Counter[Account] = Counter()

    def add(self, subjects: Iterable[Subject], kind: Kind, n: int) -> None:
        """Count ``n`` more of ``kind`` today for each of ``subjects``."""
        for subject in subjects:
            self._waiting[Account(subject, kind, today())] += n

    def total(self, account: Account) -> int | None:
        """The usage of the account; None where ``stored_count`` is to be asked first."""
        n, at = self._totals.get(account, (0, -_FRESH_SECONDS))
        if time.monotonic() - at >= _FRESH_SECONDS:
            return None
        return n + self._waiting[account]

    def take(self) -> Counter[Account]:
        """The counts that wait to be written, which wait no longer."""
        counts, self._waiting = self._waiting, Counter()
        for account, n in counts.items():
            if account in self._totals:
                total, at = self._totals[account]
                self._totals[account] = (total + n, at)
        for account in [total for total in self._totals if total.day != today()]:
            del self._totals[account]
        return counts

    def learn(self, account: Account, total: int) -> None:
        """The database has ``total`` now, with all counts that ``take`` returned."""
        self._totals[account] = (total, time.monotonic())

    def requeue(self, counts: Counter[Account]) -> None:
        """Queue again what ``take`` returned and the caller could not write."""
        self._waiting += counts
        for account in counts:
            self._totals.pop(account, None)  # it counts them already


def stored_count(connection: Connected, account: Account) -> int:
    """The count that the database has for ``account``."""
    with connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(_STORED, account.values).fetchone()
    return int(row["n"]) if row else 0


def store_counts(connection: Connected, counts: Counter[Account]) -> dict[Account, int]:
    """Add ``counts`` to those in the database; their totals there."""
    totals = {}
    with connection.cursor(row_factory=dict_row) as cursor:
        # always in one order, or two processes could wait for each other
        for account in sorted(counts, key=repr):
            row = cursor.execute(_ADD, account.values | {"n": counts[account]}).fetchone()
            assert row is not None
            totals[account] = int(row["n"])
    return totals


def delete_old_counts(connection: Connected) -> int:
    """Delete the counts of days that no limit looks at any more; how many."""
    return connection.execute(_DELETE_OLD, (today() - timedelta(days=_DAYS_KEPT),)).rowcount
