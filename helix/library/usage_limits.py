"""Limits on what people and keys may use in a day or a month, UTC: set, told, and held.

A question is counted in the transaction that finds room for it, so of two at once one may be let in
where there is room for one. Tokens and cost are known when an answer ends: an answer that is under
way then may go past their limit, and none is begun past it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

from helix.errors import BadRequest, NotFound
from helix.library.access import row_of, rows_of
from helix.library.usage_days import WaitingUsage, values_of
from helix.storage.statements import usage_days as sql
from helix.telemetry.usage_meter import NANO, USAGE_LIMITED, Payer, UsageKey, UsageMeter, today

if TYPE_CHECKING:  # for `helix --help` not to load LlamaIndex
    from helix.storage.connections import Connected
    from helix.storage.tenant_connections import TenantConnections

Measure = Literal["questions", "tokens", "cost_usd"]
Period = Literal["day", "month"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
PERIODS: tuple[Period, ...] = get_args(Period)
_TITLES = {"questions": "questions", "tokens": "tokens", "cost_usd": "US dollars"}
_MOST = 10**12


@dataclass(frozen=True, slots=True)
class UsageLimits:
    """The most that somebody may use; None: there is no limit. Costs are in US dollars."""

    questions_day: int | None = None
    questions_month: int | None = None
    tokens_day: int | None = None
    tokens_month: int | None = None
    cost_usd_day: float | None = None
    cost_usd_month: float | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> UsageLimits:
        """The limits in a row of ``usage_limits``, which may have other columns too."""
        return cls(**{f"{m}_{p}": row.get(f"{m}_{p}") for m in MEASURES for p in PERIODS})

    def drawn(self) -> Iterator[tuple[Measure, Period, float]]:
        """Each limit that there is."""
        for measure in MEASURES:
            for period in PERIODS:
                if (most := getattr(self, f"{measure}_{period}")) is not None:
                    yield measure, period, most


@dataclass(frozen=True, slots=True)
class Holder:
    """The holder of limits: a person, or a key; neither: each member who has no own limits."""

    tenant: str
    person_id: int | None = None
    key_id: int | None = None

    @property
    def values(self) -> dict[str, object]:
        """The values that the statements bind."""
        return {"tenant": self.tenant, "person": self.person_id, "key": self.key_id}


def set_limits(connection: Connected, holder: Holder, limits: UsageLimits) -> None:
    """Have these limits hold for ``holder`` instead of any others, from the next question on.

    With none at all, those of everybody hold for a person again.

    Raises:
        BadRequest: a limit is negative, or too large.
        NotFound: the tenant has no such member or key.
    """
    if any(not 0 <= most <= _MOST for _, _, most in limits.drawn()):
        raise BadRequest("a limit is a number from 0 to 1,000,000,000,000, or none")
    row = connection.execute(sql.HOLDER, holder.values).fetchone()
    if row is None or not row[0]:
        raise NotFound("the tenant has no such member or key")
    if any(limits.drawn()):
        connection.execute(sql.SET_LIMITS, holder.values | asdict(limits))
    else:
        connection.execute(sql.DELETE_LIMITS, holder.values)


def list_limits(connection: Connected, tenant: str) -> list[dict[str, Any]]:
    """The limits of a tenant, by their holders: those of everybody first."""
    return rows_of(connection, sql.LIMITS, {"tenant": tenant})


def list_holders(connection: Connected, tenant: str) -> list[dict[str, Any]]:
    """The members of a tenant, and its keys that are nobody's token: limits may be theirs."""
    return rows_of(connection, sql.HOLDERS, {"tenant": tenant})


def limits_of(connection: Connected, payer: Payer) -> list[dict[str, Any]] | None:
    """The limits that hold for ``payer`` now, as ``KeyAccess`` has them; None: none."""
    values = {"tenant": payer.tenant, "person": payer.person_id, "key": payer.key_id}
    row = connection.execute(sql.LIMITS_OF, values).fetchone()
    assert row is not None
    found: list[dict[str, Any]] | None = row[0]
    return found


@dataclass(frozen=True, slots=True)
class Held:
    """A limit with what was used of it, and when it ends."""

    who: Literal["person", "key"]
    measure: Measure
    period: Period
    most: float
    used: float
    ends_at: datetime


class Allowance:
    """The allowance of one request by the ``limits`` of its payer, as ``limits_of`` gives them."""

    def __init__(
        self,
        store: TenantConnections,
        meter: UsageMeter,
        limits: Sequence[Mapping[str, Any]],
        waiting: WaitingUsage,
    ) -> None:
        self._store, self.meter, self._waiting = store, meter, waiting
        self._limits = limits

    async def take(self) -> None:
        """Count one question, where there is room for it; ``give_back`` undoes it.

        Raises:
            UsageLimitReached: a limit is used up.
            StoreUnavailable: the database did not answer.
        """
        if self._limits:
            day = today()
            while not await self._taken(day):  # usage was written while it was read
                continue
            self.meter.reserve(day)

    async def _taken(self, day: date) -> bool:
        await self._waiting.settled()
        writes, waits = self._waiting.writes, self._waits(day)
        taking = asyncio.create_task(asyncio.to_thread(self._take, day, waits, writes))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:  # the thread counts it all the same
            taking.add_done_callback(partial(self._undo, day))
            raise

    def _undo(self, day: date, taken: asyncio.Task[bool]) -> None:
        if not taken.cancelled() and taken.exception() is None and taken.result():
            self.meter.reserve(day)
            self.meter.release()

    def give_back(self) -> None:
        """Take the question back, unless its answer was begun."""
        self.meter.release()

    async def held(self) -> list[Held]:
        """The limits, each with what was used of it."""
        day = today()
        while True:
            await self._waiting.settled()
            writes, waits = self._waiting.writes, self._waits(day)
            held = await asyncio.to_thread(self._held, day, waits)
            if self._waiting.writes == writes:
                return held

    def _waits(self, day: date) -> list[dict[str, int]]:
        return [self._waiting.of(self._payer(row), day) for row in self._limits]

    def _payer(self, row: Mapping[str, Any]) -> Payer:
        """The person or the key alone whose usage the limits of ``row`` are of."""
        payer = self.meter.payer
        if row.get("key_id") is not None:
            return Payer(payer.tenant, None, payer.key_id)
        return Payer(payer.tenant, payer.person_id, None)

    def _held(self, day: date, waits: Sequence[Mapping[str, int]]) -> list[Held]:
        with self._store.connection() as connection:
            return list(self._each(connection, day, waits))

    def _each(
        self, connection: Connected, day: date, waits: Sequence[Mapping[str, int]]
    ) -> Iterator[Held]:
        for row, more in zip(self._limits, waits, strict=True):
            yield from _held(connection, self._payer(row), UsageLimits.of(row), day, more)

    def _take(self, day: date, waits: Sequence[Mapping[str, int]], writes: int) -> bool:
        """Count one question; False: nothing was counted, for usage was written meanwhile."""
        of = {repr(self._payer(row)) for row in self._limits}
        with self._store.connection() as connection, connection.transaction():
            for holder in sorted(of):  # in one order, or two requests could deadlock
                connection.execute(sql.LOCK, {"holder": holder})
            held = list(self._each(connection, day, waits))
            if self._waiting.writes != writes:
                return False
            for each in held:
                _check(each)
            reserved = UsageKey(self.meter.payer, day, None, "")
            connection.execute(sql.ADD, values_of(reserved, Counter(questions=1)))
        return True


def _held(
    connection: Connected, payer: Payer, limits: UsageLimits, day: date, more: Mapping[str, int]
) -> list[Held]:
    values = {
        "tenant": payer.tenant, "person": payer.person_id, "key": payer.key_id, "day": day,
    }  # fmt: skip
    row = row_of(connection, sql.USED, values)
    assert row is not None
    held = []
    for measure, period, most in limits.drawn():
        name = f"{measure}_{period}".replace("cost_usd", "nano_usd")
        used = row[name] + more.get(name, 0)
        held.append(Held(
            "person" if payer.key_id is None else "key", measure, period, most,
            used / NANO if measure == "cost_usd" else used, end_of(period, day),
        ))  # fmt: skip
    return held


def end_of(period: Period, day: date) -> datetime:
    """The moment at which the day, or the month, of ``day`` is over."""
    after = day + timedelta(days=1)
    if period == "month":
        after = (day.replace(day=28) + timedelta(days=4)).replace(day=1)
    return datetime.combine(after, datetime.min.time(), UTC)


def _check(held: Held) -> None:
    if held.used >= held.most:
        from helix.overload.limits import UsageLimitReached  # no command has a use for FastAPI

        USAGE_LIMITED.labels(held.measure, held.period).inc()
        raise UsageLimitReached(
            held.who, held.most, _TITLES[held.measure], held.period, held.ends_at
        )
