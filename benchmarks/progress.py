"""Progress: what reading it costs after a thousand actions, after a year of days, after a million.

One learner's years: a few sessions on most days, an action or two a minute in each, written by the
code that servers write with. The page's data, totals, streak, ninety days and badges, is read as
the route reads it. The floor is a prepared statement that reads the rows of the same learner's days
and nothing else.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from typing import get_args

import psycopg

from benchmarks.database import server
from benchmarks.harness import Options, Report, main, ms, p50, percentiles
from helix.library.access import Library
from helix.storage.tenant_store import TenantStore
from helix.study.progress.actions import Action, Learner, RecordedAction
from helix.study.progress.storage import store
from helix.study.progress.summary import read_progress

FEW, MANY, QUICK_MANY = 1000, 1_000_000, 20_000
ROUNDS = 30
MOST_MS = 100
ZONE = "America/New_York"
_IDLE = timedelta(minutes=15)
_BATCH = 20_000
_NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
_YEAR = timedelta(days=365)
_FLOOR = "SELECT * FROM progress_days WHERE tenant_id = %s AND learner = %s"


async def run(options: Options, report: Report) -> None:
    """Fill all three, then read each in turn, and its floor."""
    many = QUICK_MANY if options.quick else MANY
    lives = {
        f"{FEW:,} actions": islice(_actions(), FEW),
        "a year of days": takewhile(lambda done: done.at > _NOW - _YEAR, _actions()),
        f"{many:,} actions": islice(_actions(), many),
    }
    with server() as postgres, postgres.database() as url, psycopg.connect(url) as raw:
        tenants = TenantStore(url, "offline", ef_search=100, pool_size=4)
        try:
            library = Library(tenants)
            taken: dict[str, list[float]] = {name: [] for name in lives}
            floors: dict[str, list[float]] = {name: [] for name in lives}
            rows: dict[str, list[object]] = {}
            for name, actions in lives.items():
                await _fill(library, name, actions)
            for _ in range(ROUNDS):
                for name in lives:
                    floors[name].append(_floor(raw, name))
                    began = time.perf_counter()
                    found = await read_progress(library, _learner(name), ZONE, _NOW)
                    taken[name].append(time.perf_counter() - began)
                    totals = found["totals"]
                    rows[name] = [sum(totals["actions"].values()), totals["sessions"],
                                  totals["days_active"]]  # fmt: skip
        finally:
            await tenants.close()
    assert rows[f"{FEW:,} actions"][0] == FEW and rows[f"{many:,} actions"][0] == many
    report.table(
        f"progress: {ROUNDS} rounds; the floor is a prepared statement that reads the days' rows",
        ["read after", "actions", "sessions", "days", "p50 ms", "p99 ms", "floor p50 ms", "ratio"],
        [
            [name, *(f"{n:,}" for n in rows[name]), *percentiles(seconds), ms(p50(floors[name])),
             f"{p50(seconds) / p50(floors[name]):.1f}"]
            for name, seconds in taken.items()
        ],
    )  # fmt: skip
    for name in ("a year of days", f"{many:,} actions"):
        report.at_most(f"progress after {name}, p50 ms", p50(taken[name]) * 1000, MOST_MS)


def _learner(name: str) -> Learner:
    return Learner("default", f"learner of {name}")


def _floor(raw: psycopg.Connection, name: str) -> float:
    began = time.perf_counter()
    raw.execute(_FLOOR, ("default", _learner(name).name), prepare=True).fetchall()
    return time.perf_counter() - began


async def _fill(library: Library, name: str, actions: Iterable[RecordedAction]) -> None:
    left = iter(actions)
    while batch := list(islice(left, _BATCH)):
        await library.change(lambda connection: store(connection, _learner(name), batch, _IDLE))


def _actions() -> Iterator[RecordedAction]:
    """Without end, backwards from now: sessions of about half an hour, five on most days."""
    chance, at = random.Random(18), _NOW
    names = get_args(Action)
    while True:
        at -= timedelta(hours=chance.choice((1, 1, 2, 3, 12)))
        for _ in range(chance.randint(5, 120)):
            at -= timedelta(seconds=chance.randint(10, 60))
            yield RecordedAction(at, chance.choice(names))


if __name__ == "__main__":
    main({"progress": run})
