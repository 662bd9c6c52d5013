"""Limits on what one key, one tenant and one address may ask of the server.

Requests a minute and answers at once are counted in this process; tokens and uploaded bytes of a
day in the database, as are the documents and bytes that a tenant has. A request past a limit gets
429 with ``Retry-After``, and a message that names the setting. Nobody is counted for what has no
limit. A body's length has a limit of its own, whatever the request declares (``limit_body``).
"""

from __future__ import annotations

import asyncio
import ipaddress
import math
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import (
    AbstractContextManager,
    ExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol, TypeVar

from fastapi import HTTPException
from starlette.requests import Request
from starlette.types import Message, Scope

from helix.overload.usage import NOBODY, Account, Kind, Subject, Usage, seconds_left, today

Who = Literal["key", "tenant", "address"]
Counted = TypeVar("Counted", Subject, Account)
COUNTED = ("requests", "answers", "tokens", "upload_mb")
MEGABYTE = 2**20  # bytes
MOST_FOLLOWED = 64
"""Streams without an end that a key or person follows at once: each looks into the database."""
_NETWORK = 64  # bits of an IPv6 address that are its network's: a host has all the others
_WINDOW = 60.0
_MOST_SUBJECTS = 65_536

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


class UsageLimitReached(LimitReached):
    """Whoever asks has used what they may in a day or a month, until ``ends_at``."""

    def __init__(self, who: str, most: float, what: str, period: str, ends_at: datetime) -> None:
        wait = max(1, math.ceil((ends_at - datetime.now(UTC)).total_seconds()))
        ends = f"{ends_at:%Y-%m-%dT%H:%M:%SZ}"
        HTTPException.__init__(
            self, 429,
            f"this {who} has used up its {what} of the {period}: the limit is {most:,.9g},"
            f" until {ends}; try again in {wait} s",
            {"Retry-After": str(wait)},
        )  # fmt: skip
        self.setting = "usage limit"


class Allowance(Protocol):
    """The room that a payer has left; helix.library.usage_limits keeps it."""

    async def take(self) -> None:
        """Count a question; raises UsageLimitReached where there is no room for it."""
        ...

    def give_back(self) -> None:
        """Take the question back, unless its answer was begun."""
        ...


def subjects_of(
    tenant: str | None = None,
    key_id: int | None = None,
    address: str = "",
    person_id: int | None = None,
) -> dict[Who, Subject]:
    """The subjects that a request is counted for. An IPv6 address counts as its network.

    A person who signed in counts as a key does.
    """
    found: dict[Who, Subject] = {}
    if tenant is not None:
        found["tenant"] = Subject(tenant, "tenant")
    if tenant is not None and key_id is not None:
        found["key"] = Subject(tenant, f"key {key_id}")
    elif tenant is not None and person_id is not None:
        found["key"] = Subject(tenant, f"person {person_id}")
    if address:
        found["address"] = Subject(NOBODY, f"address {_network(address)}")
    return found


def address_of(scope: Scope) -> str:
    """The address that a request came from; empty where there is none, as on a unix socket.

    Behind a proxy it is what the proxy says, which may be no address: then it is empty too.
    """
    client = scope.get("client")
    with suppress(ValueError):
        return str(ipaddress.ip_address(client[0])) if client else ""
    return ""


def _network(address: str) -> str:
    parsed = ipaddress.ip_address(address)
    if parsed.version == 4 or parsed.is_loopback:
        return address
    return str(ipaddress.ip_network(f"{address}/{_NETWORK}", strict=False).network_address)


@dataclass(frozen=True)
class Asker:
    """The subjects that a request is counted for, with the limits of the server that it came to.

    ``allowance`` is what its payer may use; None: as much as they like.
    """

    limits: Limits
    subjects: dict[Who, Subject]
    allowance: Allowance | None = None

    def check_rate(self, *whom: Who) -> None:
        """Count one request of each of ``whom``.

        Raises:
            LimitReached: one of them asked too often within a minute.
        """
        for who, subject, setting, most in self._limited("requests"):
            if whom and who not in whom:
                continue
            if wait := self.limits.rates.count(subject, most):
                raise LimitReached(setting, most, f"too many requests a minute of this {who}", wait)

    def pays(self) -> Asker:
        """Itself, whom the tokens of the answers are counted for that are made in this context."""
        _asking.set(self)
        return self

    async def take_place(self) -> None:
        """Count one answer as under way, until ``give_place_back``.

        Raises:
            LimitReached: too many are, or the tokens of the day are used up.
            UsageLimitReached: the payer has used what they may.
        """
        await self._check_day("tokens", "tokens", 1)
        under_way = self.limits.under_way
        for who, subject, setting, most in self._limited("answers"):
            if under_way[subject] >= most:
                raise LimitReached(setting, most, f"too many answers at once of this {who}", 1)
        for _, subject, _, _ in self._limited("answers"):
            under_way[subject] += 1
        if self.allowance:
            try:
                await self.allowance.take()
            except BaseException:
                self.give_place_back()
                raise

    def give_place_back(self) -> None:
        """End what ``take_place`` began."""
        if self.allowance:
            self.allowance.give_back()
        under_way = self.limits.under_way
        for _, subject, _, _ in self._limited("answers"):
            under_way[subject] -= 1
            if not under_way[subject]:
                del under_way[subject]

    def follower(self) -> AbstractContextManager[None]:
        """A block in which one more stream without an end is followed.

        Raises:
            HTTPException: 429, the key or person follows as many as they may.
        """
        subject, followed = self.subjects.get("key"), self.limits.followed
        if subject is None:
            return nullcontext()
        if followed[subject] >= MOST_FOLLOWED:
            what = f"you follow {MOST_FOLLOWED} streams already, the most at once: end one"
            raise HTTPException(429, what, {"Retry-After": "1"})
        return _counted(followed, subject)

    async def check_upload(self, size: int) -> None:
        """Return where ``size`` more bytes may be uploaded today.

        Raises:
            LimitReached: they may not.
        """
        await self._check_day("upload_mb", "upload_bytes", MEGABYTE, size)

    @asynccontextmanager
    async def upload(self, size: int) -> AsyncIterator[None]:
        """A block that stores ``size`` bytes, which are counted if it ends well.

        Until then they are the room of no other: two that each have room together may have none.

        Raises:
            LimitReached: as ``check_upload``.
        """
        await self.check_upload(size)
        with ExitStack() as held:
            for _, subject, _, _ in self._limited("upload_mb"):
                account = Account(subject, "upload_bytes", today())
                held.enter_context(_counted(self.limits.storing, account, size))
            yield
            self._count("upload_mb", "upload_bytes", size)

    def answered(self, tokens: int) -> None:
        """Count the tokens of an answer, or of texts that were embedded."""
        self._count("tokens", "tokens", tokens)

    def _count(self, name: str, kind: Kind, n: int) -> None:
        if whom := [subject for _, subject, _, _ in self._limited(name)]:
            self.limits.usage.add(whom, kind, n)

    async def _check_day(self, name: str, kind: Kind, unit: int, more: int = 0) -> None:
        usage, limited = self.limits.usage, list(self._limited(name))
        accounts = [Account(subject, kind, today()) for _, subject, _, _ in limited]
        for account in accounts:
            if usage.total(account) is None:
                usage.learn(account, await asyncio.to_thread(self.limits.stored, account))
        # from here on nobody else has a turn before the caller has counted
        for account, (who, _, setting, most) in zip(accounts, limited, strict=True):
            used = usage.last_total(account) + self.limits.storing[account]
            if used + more > most * unit or used >= most * unit:
                passed = "has used" if used >= most * unit else "would go past"
                counted = name.replace("upload_mb", "uploaded megabytes")
                message = f"this {who} {passed} its {counted} of the day"
                raise LimitReached(setting, most, message, seconds_left())

    def _limited(self, name: str) -> Iterator[tuple[Who, Subject, str, int]]:
        for who, setting, most in self.limits.drawn[name]:
            if who in self.subjects:
                yield who, self.subjects[who], setting, most


@contextmanager
def _counted(counter: Counter[Counted], what: Counted, n: int = 1) -> Iterator[None]:
    counter[what] += n
    try:
        yield
    finally:
        counter[what] -= n
        if not counter[what]:
            del counter[what]


class Limits:
    """The limits of one server, with what it counts by them.

    Args:
        drawn: by COUNTED, whose limits there are: of whom, the setting's name, and how many.
        usage: what is counted by the day.
        stored: the count that the database has for an account.
    """

    def __init__(
        self,
        drawn: Mapping[str, Sequence[tuple[Who, str, int]]],
        usage: Usage,
        stored: Callable[[Account], int],
    ) -> None:
        self.drawn, self.usage, self.stored = drawn, usage, stored
        self.rates = Rates()
        self.under_way: Counter[Subject] = Counter()
        self.followed: Counter[Subject] = Counter()
        self.storing: Counter[Account] = Counter()

    def answered(self, tokens: int) -> None:
        """Count the tokens of a finished answer for whoever asked in this context."""
        if asking := _asking.get():
            asking.answered(tokens)


class Rates:
    """Requests of the last minute, by the generic cell rate algorithm: one number a subject.

    A subject may ask ``most`` times at once, and then as often as keeps to ``most`` a minute, or in
    the seconds of ``window``.
    """

    def __init__(self, most_subjects: int = _MOST_SUBJECTS, window: float = _WINDOW) -> None:
        self._due: OrderedDict[Subject, float] = OrderedDict()
        self._most_subjects, self._window = most_subjects, window

    def count(self, subject: Subject, most: int) -> float:
        """Count one request; 0, or the seconds to wait where it is one too many."""
        now = time.monotonic()
        due = max(now, self._due.get(subject, 0.0)) + self._window / most
        if due - now > self._window + 1e-6:
            return due - now - self._window
        self._due[subject] = due
        self._due.move_to_end(subject)
        if len(self._due) > self._most_subjects:
            self._due.popitem(last=False)  # the one that has not asked for longest
        return 0.0


def limit_body(request: Request, limit: int, error: Exception) -> Request:
    """``request``, but reading more than ``limit`` bytes of its body raises ``error``.

    If the request declares a longer body, the first read raises, before any of it has come.
    """
    declared = request.headers.get("content-length", "")
    # its length first: Python refuses to convert a number of thousands of digits
    too_long = declared.isdecimal() and (len(declared) > 15 or int(declared) > limit)
    received = 0

    async def receive() -> Message:
        nonlocal received
        if too_long:
            raise error
        message = await request.receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise error
        return message

    return Request(request.scope, receive)
