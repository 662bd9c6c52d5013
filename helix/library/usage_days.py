"""Usage of people and keys by the day: written by the second, and read as a report or as CSV."""

from __future__ import annotations

import asyncio
import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Literal, get_args

from helix.domain.scope import Spaces
from helix.library.access import rows_of
from helix.storage.statements import usage_days as sql
from helix.telemetry.usage_meter import COUNTS, NANO, Payer, UsageKey, today

if TYPE_CHECKING:  # for `helix --help` not to load LlamaIndex
    from helix.storage.connections import Connected

By = Literal["who", "key", "space", "model", "day"]
BY: tuple[By, ...] = get_args(By)
USUAL: tuple[By, ...] = ("who", "space", "model")
_SHOWN = ("person", "email", "key_id", "key", "space", "model", "day")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""First characters by which a spreadsheet takes a cell for a formula."""

Row = dict[str, Any]


class WaitingUsage:
    """The usage that is not written yet; ``on_added`` is called when there is some.

    A reader that adds it to what is stored reads both while nothing is written: after ``settled``,
    and again where ``writes`` is another number then, or a part would count twice or not at all.
    """

    def __init__(self, on_added: Callable[[], None]) -> None:
        self._on_added = on_added
        self._waiting: dict[UsageKey, Counter[str]] = {}
        self._writing: dict[UsageKey, Counter[str]] = {}
        self._settled = asyncio.Event()
        self._settled.set()
        self.writes = 0

    async def settled(self) -> None:
        """Wait until nothing is being written."""
        while not self._settled.is_set():  # the next write may begin before this goes on
            await self._settled.wait()

    def add(self, key: UsageKey, counts: Counter[str]) -> None:
        """Add ``counts`` to those of ``key``."""
        kept = self._waiting.setdefault(key, Counter())
        for name, count in counts.items():  # Counter's own + would drop what is negative
            kept[name] += count
        self._on_added()

    def of(self, payer: Payer, day: date) -> dict[str, int]:
        """Sum up tokens and nano_usd that wait of a person or key, in the day and its month."""
        found: Counter[str] = Counter()
        for waiting in (self._waiting, self._writing):
            for key, counts in waiting.items():
                if _is_of(key.payer, payer) and key.day.replace(day=1) == day.replace(day=1):
                    used = {"tokens": _tokens(counts), "nano_usd": counts["nano_usd"]}
                    found.update({f"{name}_month": count for name, count in used.items()})
                    if key.day == day:
                        found.update({f"{name}_day": count for name, count in used.items()})
        return dict(found)

    @contextmanager
    def writing(self) -> Iterator[dict[UsageKey, Counter[str]]]:
        """Hand out all that waits, to be written in the block; it waits again where that fails."""
        self._writing, self._waiting = self._waiting, {}
        self.writes += 1
        self._settled.clear()
        try:
            yield self._writing
        except BaseException:
            later, self._waiting = self._waiting, self._writing
            for key, counts in later.items():
                self.add(key, counts)
            raise
        finally:
            self._writing = {}
            self._settled.set()


def _is_of(payer: Payer, holder: Payer) -> bool:
    if payer.tenant != holder.tenant:
        return False
    if holder.person_id is not None:
        return payer.person_id == holder.person_id
    return payer.key_id == holder.key_id


def _tokens(counts: Mapping[str, int]) -> int:
    return sum(counts.get(f"{kind}_tokens", 0) for kind in ("input", "output", "thought"))


def store_usage(connection: Connected, used: Mapping[UsageKey, Mapping[str, int]]) -> None:
    """Add ``used`` to the rows in the database."""
    # always in one order, or two processes could wait for each other
    for key in sorted(used, key=repr):
        connection.execute(sql.ADD, values_of(key, used[key]))


def values_of(key: UsageKey, counts: Mapping[str, int]) -> dict[str, object]:
    """The values that the statement binds for one row."""
    return {
        "tenant": key.payer.tenant, "person": key.payer.person_id, "key": key.payer.key_id,
        "day": key.day, "space": key.space, "model": key.model[:200],
        **{name: counts.get(name, 0) for name in COUNTS},
    }  # fmt: skip


def delete_old_usage(connection: Connected, days: int) -> int:
    """Delete the rows of days before the last ``days``; how many. 0: all of them.

    Those of the running month stay, for the limits.
    """
    day = today()
    first = min(day - timedelta(days=days), day.replace(day=1))
    before = day + timedelta(days=2) if days == 0 else first
    connection.execute(sql.DELETE_EMPTY, {"before": day - timedelta(days=1)})
    return connection.execute(sql.DELETE_OLD, {"before": before}).rowcount


@dataclass(frozen=True, slots=True)
class Wanted:
    """A report: the days from ``first`` to ``last``, both included, and what is told apart.

    ``person_id`` or ``key_id``: theirs alone; neither: everybody's of the tenant. ``spaces``: those
    whose names may be told; None: all.
    """

    tenant: str
    first: date
    last: date
    by: Sequence[By] = USUAL
    person_id: int | None = None
    key_id: int | None = None
    spaces: Spaces = None


def usage_report(connection: Connected, wanted: Wanted) -> list[Row]:
    """The rows of a report, each with its counts and ``cost_usd``; the dearest first.

    ``cost_usd`` is that of the calls whose price is known: all but ``unpriced`` of ``calls``.
    """
    values = {
        "tenant": wanted.tenant, "first": wanted.first, "last": wanted.last,
        "person": wanted.person_id, "key": wanted.key_id,
        **{f"by_{name}": name in wanted.by for name in BY},
    }  # fmt: skip
    return [_told(row, wanted.spaces) for row in rows_of(connection, sql.REPORT, values)]


def totals_of(rows: Iterable[Mapping[str, Any]]) -> Row:
    """The sums of all rows of a report."""
    names = [name for name in COUNTS if name != "nano_usd"]
    kept = list(rows)
    sums: Row = {name: sum(row[name] for row in kept) for name in names}
    return sums | {"cost_usd": round(sum(row["cost_usd"] for row in kept), 9)}


def _told(row: Row, spaces: Spaces) -> Row:
    nano = row.pop("nano_usd")
    day = row["day"]
    if spaces is not None and row["space_id"] not in spaces:
        row["space"] = None  # as that of one that was deleted: its name may be a new one by now
    return row | {"cost_usd": nano / NANO, "day": day and day.isoformat()}


def to_csv(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """The rows of a report in UTF-8 with a byte order mark; no cell of it is a formula."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    counts = [*(name for name in COUNTS if name != "nano_usd"), "cost_usd"]
    writer.writerow((*_SHOWN, *counts))
    for row in rows:
        names = ("" if row[name] is None else str(row[name]) for name in _SHOWN)
        writer.writerow([*(_safe(name) for name in names), *(_plain(row[name]) for name in counts)])
    return buffer.getvalue().encode("utf-8-sig", "replace")


def _safe(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _plain(count: float) -> str:
    """A number without an exponent, which some spreadsheets take for text."""
    return f"{count:.9f}".rstrip("0").rstrip(".") if isinstance(count, float) else str(count)
