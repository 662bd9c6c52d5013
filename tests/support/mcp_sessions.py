"""Sessions of the MCP SDK's own client with a server, and the results of its tools."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal

import httpx

if TYPE_CHECKING:  # loading the client takes seconds, in each process that collects the tests
    from mcp import Client

Mode = Literal["legacy", "auto"]


@asynccontextmanager
async def connected(
    client: httpx.Client, key: str | None = None, mode: Mode = "auto"
) -> AsyncIterator[Client]:
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(f"{client.base_url}/mcp", http_client=http)
        async with Client(transport, mode=mode) as session:
            yield session


async def called(session: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The result of a tool, which is the same as structured content and as its one text item."""
    result = await session.call_tool(tool, arguments)
    (item,) = result.content
    assert not result.is_error, item
    assert item.type == "text" and json.loads(item.text) == result.structured_content
    assert result.structured_content is not None
    return dict(result.structured_content)


async def refused(session: Client, tool: str, **arguments: Any) -> str:
    result = await session.call_tool(tool, arguments)
    (item,) = result.content
    assert result.is_error and item.type == "text" and "\n" not in item.text
    return item.text
