"""The pace of refusals: at one moment for what is not there and for what may not be read.

A hidden row costs the look-ups of its policy, 13 to 54 µs more than none, which thousands of tries
would tell apart (``python -m benchmarks.refusals``). So a refusal waits for the next of moments
STEP seconds apart, counted from the beginning of its request.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from helix.errors import NotFound

STEP = 0.02
"""Seconds: several times what a refusal takes, and less than somebody notices."""


@asynccontextmanager
async def paced(is_kept: bool = True) -> AsyncIterator[None]:
    """A block whose NotFound leaves it at such a moment; not where nothing ``is_kept``."""
    started = time.monotonic()
    try:
        yield
    except NotFound:
        if is_kept:
            await asyncio.sleep(STEP - (time.monotonic() - started) % STEP)
        raise
