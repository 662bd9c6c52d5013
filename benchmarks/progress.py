"""Progress: what reading it costs after a thousand actions and after a million.

One learner's years: a few sessions on most days, an action or two a minute in each, written by the
code that servers write with. The page's data, totals, streak, ninety days and badges, is read as
the route reads it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import get_args

from benchmarks.database import server
from benchmarks.harness import Options, Report, main, p50, percentiles
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


async def run(options: Options, report: Report) -> None:
    """Fill both, then read the one and the other in turn."""
    sizes = (FEW, QUICK_MANY if options.quick else MANY)
    with server() as postgres, postgres.database() as url:
        tenants = TenantStore(url, "offline", ef_search=100, pool_size=4)
        try:
            library = Library(tenants)
            taken: dict[int, list[float]] = {size: [] for size in sizes}
            for size in sizes:
                await _fill(library, size)
            for _ in range(ROUNDS):
                for size in sizes:
                    began = time.perf_counter()
                    found = await read_progress(library, _learner(size), ZONE, _NOW)
                    taken[size].append(time.perf_counter() - began)
                    assert sum(found["totals"]["actions"].values()) == size
        finally:
            await tenants.close()
    report.table(
        f"progress: {ROUNDS} rounds; {found['totals']['sessions']:,} sessions on"
        f" {found['totals']['days_active']:,} days in the larger one",
        ["actions", "p50 ms", "p99 ms"],
        [[f"{size:,}", *percentiles(seconds)] for size, seconds in taken.items()],
    )
    report.at_most(f"progress after {sizes[1]:,} actions, p50 ms", p50(taken[sizes[1]]) * 1000,
                   MOST_MS)  # fmt: skip


def _learner(size: int) -> Learner:
    return Learner("default", f"learner of {size}")


async def _fill(library: Library, size: int) -> None:
    batch: list[RecordedAction] = []
    for noted in _actions(size):
        batch.append(noted)
        if len(batch) == _BATCH:
            await _write(library, size, batch)
            batch = []
    if batch:
        await _write(library, size, batch)


async def _write(library: Library, size: int, batch: list[RecordedAction]) -> None:
    await library.change(lambda connection: store(connection, _learner(size), batch, _IDLE))


def _actions(size: int) -> Iterator[RecordedAction]:
    """So many, backwards from now: sessions of about half an hour, five on most days."""
    chance, at, made = random.Random(18), _NOW, 0
    names = get_args(Action)
    while made < size:
        at -= timedelta(hours=chance.choice((1, 1, 2, 3, 12)))
        for _ in range(min(chance.randint(5, 120), size - made)):
            at -= timedelta(seconds=chance.randint(10, 60))
            made += 1
            yield RecordedAction(at, chance.choice(names))


if __name__ == "__main__":
    main({"progress": run})
