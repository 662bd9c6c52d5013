"""Usage of a day, in UTC, as one process knows it: by tenant, key and address."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal

NOBODY = "-"
"""In place of a tenant's name, which it cannot be: a request without a key, where one is needed."""
Kind = Literal["tokens", "upload_bytes"]
_FRESH_SECONDS = 10.0


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
    """The counts as one process knows them, with those that it has not written yet.

    ``on_added`` is called when there is something to write.
    """

    def __init__(self, on_added: Callable[[], None]) -> None:
        self._on_added = on_added
        self._totals: dict[Account, tuple[int, float]] = {}
        self._waiting: Counter[Account] = Counter()

    def add(self, subjects: Iterable[Subject], kind: Kind, n: int) -> None:
        """Count ``n`` more of ``kind`` today for each of ``subjects``."""
        for subject in subjects:
            self._waiting[Account(subject, kind, today())] += n
        self._on_added()

    def total(self, account: Account) -> int | None:
        """The usage of the account; None where the database is to be asked first."""
        _, at = self._totals.get(account, (0, -_FRESH_SECONDS))
        return None if time.monotonic() - at >= _FRESH_SECONDS else self.last_total(account)

    def last_total(self, account: Account) -> int:
        """The usage of the account as it was last told, however long ago; 0 where it never was."""
        return self._totals.get(account, (0, 0.0))[0] + self._waiting[account]

    def drain(self) -> Counter[Account]:
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
        """The database has ``total`` now, with all counts that ``drain`` returned."""
        self._totals[account] = (total, time.monotonic())

    def requeue(self, counts: Counter[Account]) -> None:
        """Queue again what ``drain`` returned and the caller could not write."""
        self._waiting += counts
        for account in counts:
            self._totals.pop(account, None)  # it counts them already
