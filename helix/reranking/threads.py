"""Threads for blocking calls: a bounded number, so that those given up on do not pile up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class Threads:
    """Runs blocking calls, at most ``limit`` at once; further ones wait for a free thread.

    A thread cannot be stopped: a call whose caller has left keeps its thread until it returns.
    One that still waits is dropped with its caller. ``asyncio.to_thread`` is no way to do this:
    its threads are shared with all else, and calls that hang would take every one of them.
    """

    def __init__(self, limit: int) -> None:
        self._pool = ThreadPoolExecutor(limit, thread_name_prefix="helix-rerank")

    async def run(self, call: Callable[[], T]) -> T:
        """What ``call`` gives or raises."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    def close(self) -> None:
        """Take no more calls; idle threads end now, busy ones when they are done."""
        # Not cancel_futures: a waiting caller would see a CancelledError that nobody asked for.
        self._pool.shutdown(wait=False)
