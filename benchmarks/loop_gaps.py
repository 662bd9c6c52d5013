"""The times that an event loop was held: gaps between the ticks of a task that only ticks.

``python -m benchmarks.loop_gaps`` is the floor: the same loop idle in a process of its own at the
same time, so that a gap which other processes made shows in both. It prints its gaps when stdin
ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
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


@asynccontextmanager
async def idle_beside() -> AsyncIterator[list[Gap]]:
    """The gaps of an idle loop in another process, in the list once the block has ended."""
    gaps: list[Gap] = []
    child = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.loop_gaps"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield gaps
    finally:
        printed, _ = await asyncio.to_thread(child.communicate)
        gaps += [Gap(*gap) for gap in json.loads(printed)]


async def main() -> None:
    """Tick until stdin ends."""
    async with watched() as gaps:
        await asyncio.to_thread(sys.stdin.read)
    print(json.dumps(gaps))


if __name__ == "__main__":
    asyncio.run(main())
