"""/mcp, and what it takes to open it: routes of Starlette's, for the SDK answers by itself."""

from __future__ import annotations

from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from helix.serving.mcp_endpoint import METADATA_PATH, PATH, mcp, protected_resource


class _Mcp:
    """An application, which Starlette's Route tells from a function of a request by its class."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await mcp(scope, receive, send)


routes = [
    Route(PATH, _Mcp(), methods=["POST"]),
    Route(METADATA_PATH, protected_resource, methods=["GET"]),
]
