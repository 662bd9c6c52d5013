"""The places of pages that are drawn: how many at once, whose turn is next, none lost."""

from __future__ import annotations

import asyncio
import random
from contextlib import AsyncExitStack

import pytest

from helix.sandbox.rendering.images import PageImages, PageOfFile, Places, Undrawable
from tests.support.hurried_clients import ShortWork, come_and_leave


async def _order(places: Places, tenants: str) -> str:
    """In which order those that wait for the one place of ``places`` get it."""
    got: list[str] = []

    async def take(tenant: str) -> None:
        async with places.one(tenant):
            got.append(tenant)
            await asyncio.sleep(0)

    await asyncio.gather(*map(take, tenants))
    return "".join(got)


async def test_a_tenant_that_asks_for_much_is_not_in_the_way() -> None:
    assert await _order(Places(1), "aaaaabbc") == "abcabaaa"


async def test_whoever_holds_a_place_waits_for_those_who_hold_none() -> None:
    assert await _order(Places(2), "aaab") == "aaba"


async def test_no_place_is_lost_whoever_gives_up() -> None:
    chance = random.Random(4)
    places, draw = Places(3), ShortWork(chance)

    async def ask() -> None:
        async with places.one(chance.choice("abc")):
            await draw()

    await come_and_leave(ask, chance, 200)
    assert (draw.most_at_once, draw.at_once) == (3, 0)
    async with asyncio.timeout(60), AsyncExitStack() as stack:
        for _ in range(3):  # all three are there: each is taken and kept
            await stack.enter_async_context(places.one("d"))


async def test_no_more_files_are_in_memory_than_are_drawn() -> None:
    """Each page that waits would hold its file's bytes otherwise."""
    pages, loaded, most = PageImages(processes=2), 0, 0

    async def load() -> bytes:
        nonlocal loaded, most
        loaded += 1
        most = max(most, loaded)
        await asyncio.sleep(0)
        return b"no PDF"

    async def draw(number: int) -> None:
        nonlocal loaded
        with pytest.raises(Undrawable):
            await pages.png(PageOfFile("default", "a" * 64, number, 1.0), load)
        loaded -= 1

    await asyncio.gather(*map(draw, range(1, 9)))
    await pages.aclose()
    assert most == 2
