"""/mcp and the metadata of its keys: Starlette's routes, because the SDK writes its responses."""

from __future__ import annotations

from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from helix.serving.mcp_endpoint import METADATA_PATH, PATH, mcp, protected_resource


class _Mcp:
    """An ASGI application as a class: Starlette's Route takes a function for a request handler."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await mcp(scope, receive, send)


routes = [
    Route(PATH, _Mcp(), methods=["POST"]),
    Route(METADATA_PATH, protected_resource, methods=["GET"]),
]
