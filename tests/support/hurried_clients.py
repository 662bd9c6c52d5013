"""Clients that come one after another and leave at any moment, and the work they ask for."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any


class ShortWork:
    """Takes a few turns of the loop; counts how much of it is done at once, and the most ever."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.at_once = self.most_at_once = 0

    async def __call__(self) -> None:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            for _ in range(self._chance.randrange(4)):
                await asyncio.sleep(0)
        finally:
            self.at_once -= 1


async def come_and_leave(
    ask: Callable[[], Coroutine[Any, Any, None]], chance: random.Random, count: int
) -> None:
    """Begin ``ask`` so many times, cancel some of it at each moment of its life, see all ended."""
    tasks: list[asyncio.Task[None]] = []
    for _ in range(count):
        tasks.append(asyncio.create_task(ask()))
        for _ in range(chance.randrange(3)):
            await asyncio.sleep(0)
        chance.choice(tasks).cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
