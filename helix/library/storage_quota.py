"""Quotas of a tenant's documents, in number and in bytes, and the room that is left within them."""

from __future__ import annotations

from dataclasses import dataclass

from helix.errors import HelixError
from helix.library.access import Connected, row_of
from helix.settings import Settings
from helix.storage.statements import quotas as sql

MEGABYTE = 2**20


@dataclass(frozen=True)
class Excess:
    """A quota that is exceeded: its variable, its value, and what there is too much of."""

    setting: str
    most: int
    what: str

    def __str__(self) -> str:
        return f"{self.what}: the limit is {self.most} ({self.setting})"


class NoRoom(HelixError):
    """The tenant has no room for a document; the message names the quota."""


@dataclass(frozen=True)
class Quota:
    """HELIX_TENANT_DOCUMENTS and HELIX_TENANT_MB: each variable with its value, 0: no limit."""

    documents: tuple[str, int] = ("", 0)
    megabytes: tuple[str, int] = ("", 0)

    @classmethod
    def of(cls, settings: Settings) -> Quota:
        """The quotas that the settings give every tenant."""
        return cls(settings.limit("tenant", "documents"), settings.limit("tenant", "mb"))

    @property
    def is_set(self) -> bool:
        """True if either is a limit."""
        return bool(self.documents[1] or self.megabytes[1])

    def excess(self, documents: int, size: int) -> Excess | None:
        """The quota that so many documents, of ``size`` bytes together, exceed."""
        for (setting, most), has, unit, what in (
            (self.documents, documents, 1, "too many documents of this tenant"),
            (self.megabytes, size, MEGABYTE, "too many bytes of documents of this tenant"),
        ):
            if most and has > most * unit:
                return Excess(setting, most, what)
        return None

    def check_added(self, connection: Connected, tenant: str) -> None:
        """Return where a document that the open transaction has added may stay.

        One transaction of a tenant at a time: two that each have room together may have none.

        Raises:
            NoRoom: it may not.
        """
        if self.is_set:
            connection.execute(sql.ONE_AT_A_TIME, {"tenant": tenant})
            if excess := self.excess(*held(connection, tenant)):
                raise NoRoom(str(excess))


NO_QUOTA = Quota()


def held(connection: Connected, tenant: str) -> tuple[int, int]:
    """The documents that the tenant has, and their bytes."""
    row = row_of(connection, sql.HELD, {"tenant": tenant})
    assert row is not None
    return int(row["documents"]), int(row["bytes"])


class Room:
    """The room that one run may fill: what it brings in is counted before any of it is stored.

    ``refused`` is how many did not fit, ``reason`` the quota that the last of them met.
    """

    def __init__(self, connection: Connected, settings: Settings, tenant: str) -> None:
        self._quota, self._tenant = Quota.of(settings), tenant
        self._documents, self._size = held(connection, tenant) if self._quota.is_set else (0, 0)
        self.refused, self.reason = 0, ""

    def take(self, connection: Connected, source_uri: str, size: int) -> bool:
        """Count a document of ``size`` bytes; False: it is new, or grows, beyond a quota."""
        counted = self._with(connection, source_uri, size)
        if counted is not None:
            self._documents, self._size = counted
        return counted is not None

    def refuses(self, connection: Connected, source_uri: str, size: int) -> bool:
        """True where ``take`` would be False; what is not refused is not counted yet."""
        return self._with(connection, source_uri, size) is None

    def _with(self, connection: Connected, source_uri: str, size: int) -> tuple[int, int] | None:
        """Documents and bytes with one more, or another version of one; None: it is refused."""
        if not self._quota.is_set:
            return 0, 0
        values = {"tenant": self._tenant, "source_uri": source_uri}
        row = row_of(connection, sql.SIZE_OF, values)
        stored = None if row is None else int(row["size"])
        documents = self._documents + (stored is None)
        total = self._size + size - (stored or 0)
        excess = self._quota.excess(documents, total)
        if excess and (stored is None or size > stored):
            self.refused, self.reason = self.refused + 1, str(excess)
            return None
        return documents, total
