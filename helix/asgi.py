"""Pure ASGI middleware: a request log with ids, and a start-up failure that reads as one line.

Starlette's BaseHTTPMiddleware would cost a streaming route more than the rest of the server.
"""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections.abc import Sequence

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from helix.errors import HelixError
from helix.logs import request_id

_logger = logging.getLogger("helix.request")
_ACCEPTED_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class OwnPagesOnly:
    """Refuse what another site's page makes a browser send that changes something.

    A form of a foreign page can post files to a server on the user's own machine, and no browser
    asks first. ``origins`` are those of HELIX_CORS_ORIGINS, whose pages may.
    """

    def __init__(self, app: ASGIApp, origins: Sequence[str] = ()) -> None:
        self.app = app
        self._origins = frozenset(origin.encode() for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] in ("POST", "PUT", "PATCH", "DELETE"):
            headers = dict(scope["headers"])
            foreign = headers.get(b"sec-fetch-site") == b"cross-site"
            if foreign and not self._origins & {headers.get(b"origin"), b"*"}:
                refusal = {"error": "a page of another site may not change anything here"}
                await JSONResponse(refusal, status_code=403)(scope, receive, send)
                return
        await self.app(scope, receive, send)


class RequestLog:
    """Give each request an id (the client's X-Request-ID if it is plain), log its outcome.

    An unexpected error is logged with its traceback under that id and answered as a plain 500.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        identifier = _request_id(scope)
        token = request_id.set(identifier)
        started = time.perf_counter()
        status = 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = identifier
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        except Exception:
            _logger.exception("unexpected error")
            if status:
                raise  # too late for an answer: the server cuts the connection
            response = JSONResponse({"error": "internal error"}, status_code=500)
            await response(scope, receive, send_with_id)
        finally:
            milliseconds = (time.perf_counter() - started) * 1000
            _logger.info(
                "%s %s %s %.1f ms", scope["method"], _path(scope), status or "-", milliseconds
            )
            request_id.reset(token)


def _path(scope: Scope) -> str:
    """The path as it was sent, still percent-encoded: decoded, it could forge a line of the log."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return raw.decode("ascii", "backslashreplace")


def _request_id(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _ACCEPTED_ID.fullmatch(value):
            return str(value.decode())
    return uuid.uuid4().hex


class OneLineStartup:
    """Report a failed start as one line, where Starlette reports a traceback to the server."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await self.app(scope, receive, send)
            return
        failed = False

        async def send_in_one_line(message: Message) -> None:
            nonlocal failed
            if message["type"] == "lifespan.startup.failed":
                failed = True
                return
            await send(message)

        try:
            await self.app(scope, receive, send_in_one_line)
        except Exception as error:
            if not failed:
                raise
            # The server must hear of it either way, or it would go on to serve without services.
            told = str(error) if isinstance(error, HelixError) else type(error).__name__
            await send({"type": "lifespan.startup.failed", "message": f"start failed: {told}"})
            if not isinstance(error, HelixError):
                _logger.exception("unexpected error at start")
