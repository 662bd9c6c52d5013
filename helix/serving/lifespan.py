"""The life of a server beside its requests: their state, and the work in the background."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from helix.library.background import in_background
from helix.services import Services
from helix.serving.background_tasks import background_tasks
from helix.serving.mcp_endpoint import McpEndpoint
from helix.serving.request_state import request_state
from helix.storage.garbage_collection import settle


@asynccontextmanager
async def serving(services: Services) -> AsyncIterator[dict[str, Any]]:
    """The state of requests, while the server's background work goes on."""
    settle()
    state = request_state(services)
    async with (
        background_tasks(services),
        in_background(state["health"].watch()),
        state["recorder"].writing(services.store),
        McpEndpoint(services) as mcp_endpoint,
    ):
        yield {**state, "mcp": mcp_endpoint}
