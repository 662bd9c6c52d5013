"""A limit on bodies that are read whole: JSON. Uploads have limits of their own."""

from __future__ import annotations

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BYTES = 2 * 2**20
"""Twice what POST /v1/query takes, which says so itself."""


class JsonLimit:
    """Refuse a longer body that is no form, whatever length it says it has."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"]) if scope["type"] == "http" else {}
        if not headers or headers.get(b"content-type", b"").lower().startswith(b"multipart/"):
            await self.app(scope, receive, send)
            return
        length = headers.get(b"content-length", b"")
        if length.isdigit() and (len(length) > 15 or int(length) > MAX_BYTES):
            await _refusal()(scope, receive, send)
            return
        came = 0

        async def limited() -> Message:
            nonlocal came
            message = await receive()
            came += len(message.get("body", b""))
            if came > MAX_BYTES:  # as if the rest never came: nothing of it is kept
                return {"type": "http.disconnect"}
            return message

        await self.app(scope, limited, send)


def _refusal() -> JSONResponse:
    told = f"the body is larger than {MAX_BYTES // 2**20} MB, the limit"
    return JSONResponse({"error": told}, status_code=400, headers={"Connection": "close"})
