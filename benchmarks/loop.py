"""How long an event loop was held: the gaps between the ticks of a task that only ticks.

A gap is the process's own doing as far as the process used the processor in it, or waited on the
loop's thread; where neither shows, other processes had the machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

TICK_SECONDS = 0.001


class Gap(NamedTuple):
    """Seconds between two ticks, the tick itself taken off, and processor seconds used in them."""

    seconds: float
    cpu: float


@asynccontextmanager
async def watched() -> AsyncIterator[list[Gap]]:
    """The list fills with one gap a tick."""
    gaps: list[Gap] = []
    task = asyncio.create_task(_tick(gaps))
    await asyncio.sleep(10 * TICK_SECONDS)
    gaps.clear()
    try:
        yield gaps
    finally:
        await asyncio.sleep(10 * TICK_SECONDS)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):  # it only ends by being cancelled
            await task


async def _tick(gaps: list[Gap]) -> None:
    last, cpu = time.perf_counter(), time.process_time()
    while True:
        await asyncio.sleep(TICK_SECONDS)
        now, used = time.perf_counter(), time.process_time()
        gaps.append(Gap(now - last - TICK_SECONDS, used - cpu))
        last, cpu = now, used
