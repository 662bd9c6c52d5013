"""Limits on what one key, one tenant and one address may ask of the server.

Requests a minute and answers at once are counted in this process; tokens and uploaded bytes of a
day in Postgres (helix/library/usage.py), as are the documents and bytes that a tenant has. A
request past a limit gets 429 with ``Retry-After``, and is told which setting it was.
"""

from __future__ import annotations

import asyncio
import ipaddress
import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol, TypeVar

from fastapi import HTTPException, Request
from psycopg.rows import dict_row

from helix.answering.answer import Answer
from helix.library.access import Connected, LibraryStore
from helix.library.audit import NOBODY
from helix.library.usage import Account, Kind, Subject, seconds_left, stored_count, today
from helix.serving.access_books import AccessBooks, address_of
from helix.serving.body_limit import MEGABYTE
from helix.settings import Settings, Who

_WINDOW = 60.0
_MOST_SUBJECTS = 65_536
_FULL_SECONDS = 3600
"""When to try again what a tenant has no room for: it goes by when somebody deletes something."""
_NETWORK = 64  # bits of an IPv6 address that are its network's: a host has all the others

_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(7416203, hashtext(%(tenant)s))"
_HAS = """
SELECT count(*) AS documents, coalesce(sum(size), 0) AS bytes FROM documents
WHERE tenant_id = %(tenant)s
"""
Result = TypeVar("Result")

_asking: ContextVar[tuple[Subject, ...]] = ContextVar("asking", default=())
"""Who the answers that are made in this context are counted for."""


class LimitReached(HTTPException):
    """The request is past the limit of the variable ``setting``."""

    def __init__(self, setting: str, most: int, what: str, seconds: float) -> None:
        wait = max(1, math.ceil(seconds))
        super().__init__(
            429, f"{what}: the limit is {most} ({setting}); try again in {wait} s",
            {"Retry-After": str(wait)},
        )  # fmt: skip
        self.setting = setting


def subjects_of(
    tenant: str | None = None, key_id: int | None = None, address: str = ""
) -> dict[Who, Subject]:
    """Who a request is counted for. An IPv6 address counts as the network that it is in."""
    found: dict[Who, Subject] = {}
    if tenant is not None:
        found["tenant"] = Subject(tenant, "tenant")
    if tenant is not None and key_id is not None:
        found["key"] = Subject(tenant, f"key {key_id}")
    if address:
        found["address"] = Subject(NOBODY, f"address {_network(address)}")
    return found


def _network(address: str) -> str:
    parsed = ipaddress.ip_address(address)
    if parsed.version == 4 or parsed.is_loopback:
        return address
    return str(ipaddress.ip_network(f"{address}/{_NETWORK}", strict=False).network_address)


class Rates:
    """Requests of the last minute, by the generic cell rate algorithm: one number a subject.

    A subject may ask ``most`` times at once, and then as often as keeps to ``most`` a minute.
    """

    def __init__(self, most_subjects: int = _MOST_SUBJECTS) -> None:
        self._due: OrderedDict[Subject, float] = OrderedDict()
        self._most_subjects = most_subjects

    def take(self, subject: Subject, most: int) -> float:
        """Count one request; 0, or the seconds to wait where it is one too many."""
        now = time.monotonic()
        due = max(now, self._due.get(subject, 0.0)) + _WINDOW / most
        if due - now > _WINDOW + 1e-6:
            return due - now - _WINDOW
        self._due[subject] = due
        self._due.move_to_end(subject)
        if len(self._due) > self._most_subjects:
            self._due.popitem(last=False)  # the one that has not asked for longest
        return 0.0


class Asking(Protocol):
    """What is known of a caller (helix/serving/authentication.py)."""

    @property
    def tenant(self) -> str:
        """Whose documents it asks."""
        ...

    @property
    def key_id(self) -> int | None:
        """Its key's id, where it has one."""
        ...


@dataclass(frozen=True)
class Asker:
    """Who a request is counted for, with the limits of the server that it came to."""

    limits: Limits
    subjects: dict[Who, Subject]

    def check_rate(self, *whom: Who) -> None:
        """Count one request of each of ``whom``.

        Raises:
            LimitReached: one of them asked too often within a minute.
        """
        for who, subject, setting, most in self._limited("requests", *whom):
            if wait := self.limits.rates.take(subject, most):
                raise LimitReached(setting, most, f"too many requests a minute of this {who}", wait)

    async def take_place(self) -> None:
        """Count one answer as under way, until ``give_place_back``.

        Raises:
            LimitReached: too many are, or the tokens of the day are used up.
        """
        await self._check_day("tokens", "tokens", 1, 0)
        under_way = self.limits.under_way
        for who, subject, setting, most in self._limited("answers"):
            if under_way[subject] >= most:
                raise LimitReached(setting, most, f"too many answers at once of this {who}", 1)
        under_way.update(self.subjects.values())

    def give_place_back(self) -> None:
        """End what ``take_place`` began."""
        under_way = self.limits.under_way
        under_way.subtract(self.subjects.values())
        for subject in self.subjects.values():
            if not under_way[subject]:
                del under_way[subject]

    async def check_upload(self, size: int) -> None:
        """Return where ``size`` more bytes may be uploaded today.

        Raises:
            LimitReached: they may not.
        """
        await self._check_day("upload_mb", "upload_bytes", MEGABYTE, size)

    def uploaded(self, size: int) -> None:
        """Count bytes that were uploaded."""
        self.limits.books.usage.add(self.subjects.values(), "upload_bytes", size)
        self.limits.books.used()

    async def _check_day(self, name: str, kind: Kind, unit: int, more: int) -> None:
        usage = self.limits.books.usage
        for who, subject, setting, most in self._limited(name):
            account = Account(subject, kind, today())
            used = usage.total(account)
            if used is None:
                usage.learn(account, await asyncio.to_thread(self.limits.stored, account))
                used = usage.total(account) or 0
            if used + more > most * unit or used >= most * unit:
                told = f"this {who} has used its {kind.replace('_', ' ')} of the day"
                raise LimitReached(setting, most, told, seconds_left())

    def _limited(self, name: str, *whom: Who) -> Iterator[tuple[Who, Subject, str, int]]:
        for who, subject in self.subjects.items():
            if not whom or who in whom:
                setting, most = self.limits.settings.limit(who, name)
                if most:
                    yield who, subject, setting, most


class Limits:
    """The limits of one server, with what it counts by them."""

    def __init__(self, settings: Settings, store: LibraryStore, books: AccessBooks) -> None:
        self.settings, self.books = settings, books
        self.rates = Rates()
        self.under_way: Counter[Subject] = Counter()
        self._store = store

    def stored(self, account: Account) -> int:
        """What the database has for ``account``."""
        with self._store.connection() as connection:
            return stored_count(connection, account)

    def answered(self, answer: Answer) -> None:
        """Count the tokens of a finished answer for whoever asked (an observer of answers)."""
        if subjects := _asking.get():
            tokens: dict[str, int] = answer.debug["tokens"]
            self.books.usage.add(subjects, "tokens", sum(tokens.values()))
            self.books.used()


def asker(request: Request, who: Asking | None = None) -> Asker:
    """Who is counted for what ``who`` asks; None: only the address is known yet."""
    limits: Limits = request.state.limits
    address = address_of(request.scope)
    if who is None:
        return Asker(limits, subjects_of(address=address))
    return Asker(limits, subjects_of(who.tenant, who.key_id, address))


def answers_for(asking: Asker) -> Asker:
    """``asking``, whom the tokens of the answers are counted for that are made in this context."""
    _asking.set(tuple(asking.subjects.values()))
    return asking


def with_room(
    settings: Settings, tenant: str, action: Callable[[Connected], Result],
    grows: Callable[[Result], bool],
) -> Callable[[Connected], Result]:  # fmt: skip
    """``action``, undone where the tenant has more documents or bytes after it than it may.

    ``grows`` says of its result whether it brought any. One such action of a tenant at a time: two
    that each have room together may have none.

    The action raises:
        LimitReached: the tenant has no room.
    """
    documents, megabytes = settings.limit("tenant", "documents"), settings.limit("tenant", "mb")
    if not (documents[1] or megabytes[1]):
        return action

    def within(connection: Connected) -> Result:
        connection.execute(_ONE_AT_A_TIME, {"tenant": tenant})
        result = action(connection)
        if grows(result):
            check_room(connection, settings, tenant)
        return result

    return within


def check_room(connection: Connected, settings: Settings, tenant: str, more: int = 0) -> None:
    """Return where the tenant may have what it has, and ``more`` documents.

    Raises:
        LimitReached: it has too many documents, or bytes of them.
    """
    with connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(_HAS, {"tenant": tenant}).fetchone()
    assert row is not None
    for name, has, unit, told in (
        ("documents", int(row["documents"]) + more, 1, "too many documents of this tenant"),
        ("mb", int(row["bytes"]), MEGABYTE, "too many bytes of documents of this tenant"),
    ):
        setting, most = settings.limit("tenant", name)
        if most and has > most * unit:
            raise LimitReached(setting, most, told, _FULL_SECONDS)
