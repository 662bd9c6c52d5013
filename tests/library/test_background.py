"""Background work: cancelled and ended when its block is left, in a server too."""

from __future__ import annotations

import asyncio

import pytest

from helix.library.access import in_background
from helix.services import open_services
from helix.settings import load_settings
from helix.storage.tenant_store import TenantStore
from tests.support.live_server import OFFLINE


class Work:
    """Work without an end that takes a moment to be cancelled."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.ended = False

    async def run(self) -> None:
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.05)
            self.ended = True


async def test_work_has_ended_when_its_block_is_left() -> None:
    first, second = Work(), Work()
    with pytest.raises(ZeroDivisionError):
        async with in_background(first.run(), second.run()):
            await asyncio.gather(first.began.wait(), second.began.wait())
            raise ZeroDivisionError
    assert first.ended and second.ended


async def test_a_task_that_fails_costs_the_block_nothing() -> None:
    async def fail() -> None:
        raise ZeroDivisionError

    async with in_background(fail()):
        await asyncio.sleep(0.01)


async def test_services_wait_for_what_they_cancel(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Work()

    async def fill_terms(_: TenantStore) -> int:
        await work.run()
        return 0

    monkeypatch.setattr(TenantStore, "fill_terms", fill_terms)
    async with open_services(load_settings(database_url=database_url, **OFFLINE)):
        await work.began.wait()
    assert work.ended
