"""The order of tenants: in turn, a bounded number at once, none lost."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest

from helix.overload.fairness import FairPlaces, LoopPacer
from tests.support.hurried_clients import ShortWork, come_and_leave


async def test_tenants_take_turns() -> None:
    places, order = FairPlaces(1), list[str]()

    async def read(tenant: str) -> None:
        async with places.place(tenant):
            order.append(tenant)
            await asyncio.sleep(0)

    reads = [asyncio.create_task(read(tenant)) for tenant in ("a", "a", "a", "a", "b", "c")]
    await asyncio.sleep(0)
    assert places.waiting == 5
    await asyncio.gather(*reads)
    assert order == ["a", "a", "b", "c", "a", "a"]
    assert places.waiting == 0


async def test_who_comes_while_another_always_waits_is_before_its_next() -> None:
    places, order = FairPlaces(1), list[str]()

    async def read(tenant: str, then: Callable[[], object] = lambda: None) -> None:
        async with places.place(tenant):
            order.append(tenant)
            then()
            await asyncio.sleep(0)

    def small_comes() -> None:
        reads.append(asyncio.create_task(read("small")))

    whens = [lambda: None, small_comes, lambda: None, lambda: None]
    reads = [asyncio.create_task(read("greedy", when)) for when in whens]
    for task in iter(lambda: next((each for each in reads if not each.done()), None), None):
        await task
    assert order == ["greedy", "greedy", "small", "greedy", "greedy"]


@pytest.mark.parametrize("seed", range(20))
async def test_reads_that_are_cancelled_at_any_moment_lose_no_place(seed: int) -> None:
    chance = random.Random(seed)
    places, work = FairPlaces(3), ShortWork(chance)

    async def read() -> None:
        async with places.place(chance.choice("abc")):
            await work()

    await come_and_leave(read, chance, 100)
    assert (work.most_at_once, work.at_once) == (3, 0)
    assert places.waiting == 0
    async with asyncio.timeout(60), places.place("d"), places.place("d"), places.place("d"):
        pass  # every place is there, and nobody waits before us


async def test_one_piece_of_work_goes_on_in_each_iteration_of_the_loop() -> None:
    pacer, order = LoopPacer(), list[str]()

    async def work(tenant: str) -> None:
        await pacer.next(tenant)
        order.append(tenant)

    working = [asyncio.create_task(work(tenant)) for tenant in ("a", "a", "a", "b")]
    seen = []
    while len(order) < 4:
        await asyncio.sleep(0)
        seen.append(len(order))
    assert max(after - before for before, after in zip([0, *seen], seen, strict=False)) == 1
    assert order == ["a", "a", "b", "a"]
    await asyncio.gather(*working)
    await asyncio.sleep(0)
    alone = asyncio.create_task(work("a"))
    await asyncio.sleep(0)
    assert alone.done()


@pytest.mark.parametrize("seed", range(20))
async def test_whoever_leaves_at_any_moment_holds_up_nobody(seed: int) -> None:
    chance, pacer = random.Random(seed), LoopPacer()

    async def work() -> None:
        await pacer.next(chance.choice("abc"))

    await come_and_leave(work, chance, 100)
    async with asyncio.timeout(60):
        await asyncio.gather(*(pacer.next("d") for _ in range(3)))


def test_a_loop_that_was_closed_in_the_midst_holds_up_no_later_one() -> None:
    pacer, used = LoopPacer(), list[int]()

    async def use(loop: int) -> None:
        await pacer.next("a")
        used.append(loop)
        asyncio.get_running_loop().create_task(pacer.next("a"))

    for loop in range(3):
        asyncio.run(use(loop))
    assert used == [0, 1, 2]


async def test_another_loop_is_not_paced_meanwhile() -> None:
    pacer = LoopPacer()

    async def several() -> None:
        for _ in range(3):
            async with asyncio.timeout(60):
                await pacer.next("a")

    await pacer.next("a")
    await asyncio.to_thread(asyncio.run, several())
