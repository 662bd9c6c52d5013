"""Places to read in: all for a tenant alone, one for each where there are several, none lost."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

from helix.overload.fairness import ReadingPlaces


class Readers:
    """Tasks that each hold a place of ``places`` until they are told to leave."""

    def __init__(self, places: int) -> None:
        self.places = ReadingPlaces(places)
        self.reading: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.ends: dict[str, asyncio.Event] = {}

    async def _read(self, name: str) -> None:
        async with self.places.take(name[0]):
            self.reading.append(name)
            await self.ends[name].wait()
            self.reading.remove(name)

    async def come(self, *names: str) -> None:
        for name in names:
            self.ends[name] = asyncio.Event()
            self.tasks[name] = asyncio.create_task(self._read(name))
        await settled()

    async def leave(self, *names: str) -> None:
        for name in names:
            self.ends[name].set()
        await settled()


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_tenant_alone_has_all_places_and_another_need_not_wait() -> None:
    readers = Readers(2)
    await readers.come("a1", "a2", "a3", "a4")
    assert readers.reading == ["a1", "a2"]
    await readers.come("b1", "b2")
    assert readers.reading == ["a1", "a2", "b1"]
    await readers.leave("b1")
    assert readers.reading == ["a1", "a2", "b2"]
    await readers.come("c1", "d1")
    assert readers.reading == ["a1", "a2", "b2", "c1"]
    await readers.leave("a1")
    assert readers.reading == ["a2", "b2", "c1", "d1"]
    await readers.leave("b2", "c1", "d1", "a2")
    assert readers.reading == ["a3", "a4"]


async def test_tenants_take_turns() -> None:
    readers = Readers(1)
    await readers.come("a1", "a2", "b1", "b2", "c1")
    order = []
    while readers.reading:
        order += readers.reading
        await readers.leave(*readers.reading)
    assert sorted(order[:3]) == ["a1", "b1", "c1"]
    assert sorted(order) == ["a1", "a2", "b1", "b2", "c1"]


async def test_cancelled_at_any_moment_no_place_is_lost() -> None:
    readers, chance = Readers(2), random.Random(7)
    for round_number in range(200):
        name = f"{chance.choice('abc')}{round_number}"
        await readers.come(name)
        if chance.random() < 0.5:
            chance.choice(list(readers.tasks.values())).cancel()
        else:
            await readers.leave(*readers.reading[:1])
        if chance.random() < 0.5:
            readers.ends[name].set()
            readers.tasks[name].cancel()
        await settled()
    for task in readers.tasks.values():
        task.cancel()
    await asyncio.gather(*readers.tasks.values(), return_exceptions=True)
    readers.reading.clear()
    await readers.come("x1", "x2", "x3")
    assert Counter(name[0] for name in readers.reading) == {"x": 2}
