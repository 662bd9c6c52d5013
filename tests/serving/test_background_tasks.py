"""Housekeeping: when it is over, nothing of it is still under way."""

from __future__ import annotations

import asyncio

from helix.services import open_services
from helix.serving.background_tasks import background_tasks
from helix.settings import load_settings


async def test_what_is_cancelled_is_awaited(database_url: str) -> None:
    settings = load_settings(
        database_url=database_url, llm="offline", embedder="offline", workers=0
    )
    async with open_services(settings) as services:
        before = asyncio.all_tasks()
        async with background_tasks(services):
            started = asyncio.all_tasks() - before
            assert len(started) >= 2
        assert all(task.done() for task in started)
