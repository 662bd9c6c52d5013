"""What each kind of run is to bring in."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from helix.settings import Settings
from helix.store import ChunkStore
from pipelines.outages import through_outages
from pipelines.planning import plan_paths
from pipelines.rows import RunRow
from pipelines.webplan import plan_web

Plan = Callable[[Settings, ChunkStore, RunRow], Awaitable[None]]


async def plan(settings: Settings, store: ChunkStore, run: RunRow) -> None:
    """Add the run's files to it.

    Raises:
        StopWanted: the run was cancelled meanwhile.
    """
    await PLANS[run.kind](settings, store, run)


async def _paths(settings: Settings, store: ChunkStore, run: RunRow) -> None:
    largest = settings.max_file_mb * 2**20
    await through_outages(
        lambda: asyncio.to_thread(plan_paths, store, run.id, run.options, largest)
    )


async def _there_already(settings: Settings, store: ChunkStore, run: RunRow) -> None:
    """An upload's files came with it."""


PLANS: dict[str, Plan] = {
    "paths": _paths,
    "upload": _there_already,
    "url": plan_web,
    "crawl": plan_web,
}
