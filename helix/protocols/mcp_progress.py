"""Progress of a tool's call: a client that hears none gives up a long answer as lost.

A call's end is not known beforehand, so there is no total: progress is the seconds that went by.
Nothing is sent to a client that gave no progressToken.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

from mcp.server.mcpserver import Context

SECONDS = 5.0
"""Seconds from one notification to the next."""


@asynccontextmanager
async def telling_progress(
    name: str, context: Context[Any, Any] | None
) -> AsyncGenerator[None, None]:
    """Around the call of the tool ``name``: the client that asked for progress hears of it."""
    telling = asyncio.create_task(_tell(name, context)) if context else None
    try:
        yield
    finally:
        if telling:  # nothing may follow the result
            telling.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await telling


async def _tell(name: str, context: Context[Any, Any]) -> None:
    went_by = 0.0
    while True:
        await asyncio.sleep(SECONDS)
        went_by += SECONDS
        await context.report_progress(went_by, message=f"{name} is at work")
