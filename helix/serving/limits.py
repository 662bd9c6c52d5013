"""Limits on what one key, one tenant and one address may ask of the server.

Requests a minute and answers at once are counted in this process; tokens and uploaded bytes of a
day in Postgres (helix/library/usage.py), as are the documents and bytes that a tenant has
(helix/serving/storage_quota.py). A request past a limit gets 429 with ``Retry-After``, and a
message that names the setting. Nobody is counted for what has no limit.
"""

from __future__ import annotations

import asyncio
import ipaddress
import math
from collections import Counter
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol, get_args

from fastapi import HTTPException, Request

from helix.answering.answer import Answer
from helix.library.access import LibraryStore
from helix.library.audit import NOBODY
from helix.library.usage import Account, Kind, Subject, seconds_left, stored_count, today
from helix.serving.access_recorder import AccessRecorder, address_of
from helix.serving.body_limit import MEGABYTE
from helix.serving.rates import Rates
from helix.settings import Settings, Who

_NETWORK = 64  # bits of an IPv6 address that are its network's: a host has all the others

_NAMES = ("requests", "answers", "tokens", "upload_mb")
_asking: ContextVar[Asker | None] = ContextVar("asking", default=None)
"""The asker for whom the answers made in this context are counted."""


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
    """The subjects that a request is counted for. An IPv6 address counts as its network."""
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


class Asking(Protocol):
    """A caller as the limits know it (helix/serving/authentication.py)."""

    @property
    def tenant(self) -> str:
        """The tenant whose documents it asks."""
        ...

    @property
    def key_id(self) -> int | None:
        """Its key's id, where it has one."""
        ...


@dataclass(frozen=True)
class Asker:
    """The subjects that a request is counted for, with the limits of the server that it came to."""

    limits: Limits
    subjects: dict[Who, Subject]

    def check_rate(self, *whom: Who) -> None:
        """Count one request of each of ``whom``.

        Raises:
            LimitReached: one of them asked too often within a minute.
        """
        for who, subject, setting, most in self._limited("requests"):
            if whom and who not in whom:
                continue
            if wait := self.limits.rates.take(subject, most):
                raise LimitReached(setting, most, f"too many requests a minute of this {who}", wait)

    async def take_place(self) -> None:
        """Count one answer as under way, until ``give_place_back``.

        Raises:
            LimitReached: too many are, or the tokens of the day are used up.
        """
        await self._check_day("tokens", "tokens", 1)
        under_way = self.limits.under_way
        for who, subject, setting, most in self._limited("answers"):
            if under_way[subject] >= most:
                raise LimitReached(setting, most, f"too many answers at once of this {who}", 1)
        for _, subject, _, _ in self._limited("answers"):
            under_way[subject] += 1

    def give_place_back(self) -> None:
        """End what ``take_place`` began."""
        under_way = self.limits.under_way
        for _, subject, _, _ in self._limited("answers"):
            under_way[subject] -= 1
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
        self._count("upload_mb", "upload_bytes", size)

    def answered(self, tokens: int) -> None:
        """Count the tokens of an answer, or of texts that were embedded."""
        self._count("tokens", "tokens", tokens)

    def _count(self, name: str, kind: Kind, n: int) -> None:
        if whom := [subject for _, subject, _, _ in self._limited(name)]:
            self.limits.books.usage.add(whom, kind, n)
            self.limits.books.used()

    async def _check_day(self, name: str, kind: Kind, unit: int, more: int = 0) -> None:
        usage = self.limits.books.usage
        for who, subject, setting, most in self._limited(name):
            account = Account(subject, kind, today())
            used = usage.total(account)
            if used is None:
                usage.learn(account, await asyncio.to_thread(self.limits.stored, account))
                used = usage.total(account) or 0
            if used + more > most * unit or used >= most * unit:
                message = f"this {who} has used its {kind.replace('_', ' ')} of the day"
                raise LimitReached(setting, most, message, seconds_left())

    def _limited(self, name: str) -> Iterator[tuple[Who, Subject, str, int]]:
        for who, setting, most in self.limits.drawn[name]:
            if who in self.subjects:
                yield who, self.subjects[who], setting, most


class Limits:
    """The limits of one server, with what it counts by them."""

    def __init__(self, settings: Settings, store: LibraryStore, books: AccessRecorder) -> None:
        self.books = books
        self.drawn = {name: list(_drawn(settings, name)) for name in _NAMES}
        self.rates = Rates()
        self.under_way: Counter[Subject] = Counter()
        self._store = store

    def stored(self, account: Account) -> int:
        """The count that the database has for ``account``."""
        with self._store.connection() as connection:
            return stored_count(connection, account)

    def answered(self, answer: Answer) -> None:
        """Count the tokens of a finished answer for whoever asked (an observer of answers)."""
        if asking := _asking.get():
            tokens: dict[str, int] = answer.debug["tokens"]
            asking.answered(sum(tokens.values()))


def _drawn(settings: Settings, name: str) -> Iterator[tuple[Who, str, int]]:
    for who in get_args(Who):
        setting, most = settings.limit(who, name)
        if most:
            yield who, setting, most


def asker(request: Request, who: Asking | None = None) -> Asker:
    """The asker that pays for a request of ``who``; None: only the address is known yet."""
    limits: Limits = request.state.limits
    if not any(limits.drawn.values()):
        return Asker(limits, {})
    address = address_of(request.scope)
    if who is None:
        return Asker(limits, subjects_of(address=address))
    return Asker(limits, subjects_of(who.tenant, who.key_id, address))


def answers_for(asking: Asker) -> Asker:
    """``asking``, whom the tokens of the answers are counted for that are made in this context."""
    _asking.set(asking)
    return asking
