"""MCP over HTTP: the tool `ask` of Helix, as Claude and other clients call it."""

import asyncio
import os
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

question = " ".join(sys.argv[1:]) or "How long do I have to request a refund?"
key = os.environ.get("HELIX_API_KEY")


async def ask() -> None:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(headers=headers, timeout=300) as http:
        transport = streamable_http_client(f"{os.environ['HELIX_SERVER']}/mcp", http_client=http)
        async with Client(transport) as helix:
            result = await helix.call_tool("ask", {"question": question})
    answer = result.structured_content
    print(answer["answer"])
    for citation in answer["citations"]:
        print(citation["title"], citation["url"])


asyncio.run(ask())
