"""Pure ASGI middleware: ids, log, metrics, span and audit event of a request; a failed start told.

Starlette's BaseHTTPMiddleware would cost a streaming route more than the rest of the server.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Iterable

from opentelemetry.trace import Span, Tracer
from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from helix.errors import HelixError
from helix.library.audit import NOBODY, Event
from helix.overload.limits import address_of
from helix.serving.access_recorder import AccessRecorder
from helix.serving.caller import Caller
from helix.serving.key_scopes import NEEDED
from helix.telemetry.logs import request_id
from helix.telemetry.metrics import METHODS, OTHER, Metrics
from helix.telemetry.tracing import request_span, set_error

_logger = logging.getLogger("helix.request")
_ACCEPTED_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class _CutError(Exception):
    """A response broke off; what happened was logged."""


class RequestLog:
    """Give each request its ids, log its outcome, and tell metrics and tracing of it.

    The request id is the client's X-Request-ID if it is plain; the trace id that of the caller's
    ``traceparent``, else a new one. An unexpected error is logged with its traceback under those
    ids and answered as a plain 500.
    """

    def __init__(
        self, app: ASGIApp, metrics: Metrics | None = None, tracer: Tracer | None = None
    ) -> None:
        self.app = app
        self._metrics = metrics
        self._tracer = tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        token = request_id.set(request_id_of(scope["headers"]))
        try:
            with request_span(self._tracer, _method(scope), scope["headers"]) as span:
                await self._respond(scope, receive, send, span)
        finally:
            request_id.reset(token)

    async def _respond(self, scope: Scope, receive: Receive, send: Send, span: Span) -> None:
        identifier = request_id.get()
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
        except Exception as error:
            set_error(span, error)
            _logger.exception("unexpected error")
            if status:
                # Too late for an answer: the server cuts the connection. It would log the error
                # with its message, which may hold text of a document; ours has none.
                raise _CutError from None
            response = JSONResponse({"error": "internal error"}, status_code=500)
            await response(scope, receive, send_with_id)
        finally:
            seconds = time.perf_counter() - started
            _logger.info(
                "%s %s %s %.1f ms", scope["method"], _path(scope), status or "-", seconds * 1000
            )
            if self._metrics:
                self._metrics.request(scope["method"], _route(scope), status, seconds)
            if span.is_recording():
                _describe(span, scope, status)


def _describe(span: Span, scope: Scope, status: int) -> None:
    """Give ``span`` the name and attributes of OpenTelemetry's conventions for HTTP servers."""
    method, route = _method(scope), _route(scope)
    span.update_name(f"{method} {route}" if route else method)
    if route:
        span.set_attribute("http.route", route)
    span.set_attribute("http.request.method", method)
    span.set_attribute("http.response.status_code", status)
    span.set_attribute("helix.request_id", request_id.get())


def _method(scope: Scope) -> str:
    method: str = scope["method"]
    return method if method in METHODS else OTHER


def _route(scope: Scope) -> str | None:
    """The template of the route that took a request, which has no id in it; None where none did."""
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) else None


def _path(scope: Scope) -> str:
    """The path as it was sent, still percent-encoded: decoded, it could forge a line of the log."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return raw.decode("ascii", "backslashreplace")


def request_id_of(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The id that the client gives its request, if it is plain; else a new one."""
    for name, value in headers:
        if name == b"x-request-id" and _ACCEPTED_ID.fullmatch(value):
            return str(value.decode())
    return secrets.token_hex(16)


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
            message = str(error) if isinstance(error, HelixError) else type(error).__name__
            await send({"type": "lifespan.startup.failed", "message": f"start failed: {message}"})
            if not isinstance(error, HelixError):
                _logger.exception("unexpected error at start")


_REFUSALS = frozenset({401, 403, 429})
_CHANGES = frozenset({"PUT", "PATCH", "DELETE"})
_ID = re.compile(r"[0-9]{1,19}|[0-9a-f]{32}")
"""The ids of an address that may be told: a number or 32 hex digits; anything else is a text."""


class AuditTrail:
    """Record each request that changed something, and each refused because of its sender.

    A route says itself what it changed (``state.changed``), or that it changed nothing; of one that
    says neither, its method and the scope that it needs do. The event tells that, the route, the
    ids in the address or the reason of the refusal (``state.refused_for``), and nothing else that
    the request holds.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and look at the status of its answer."""
        recorder: AccessRecorder | None = scope.get("state", {}).get("recorder")
        if scope["type"] != "http" or recorder is None:
            await self.app(scope, receive, send)
            return

        async def send_and_record(message: Message) -> None:
            if message["type"] == "http.response.start":
                event = _event(scope, message["status"])
                if event is not None:
                    recorder.record(event)
            await send(message)

        await self.app(scope, receive, send_and_record)


def _event(scope: Scope, status: int) -> Event | None:
    """The event to record of a request that is answered with ``status``; None: nothing."""
    state, method = scope["state"], scope["method"]
    path = getattr(scope.get("route"), "path", None)
    if path is None:  # the page's own routes leave no trace in the scope
        path = scope["path"] if ("GET", scope["path"]) in NEEDED else OTHER
    if status in _REFUSALS:
        about = str(state.get("refused_for", ""))
    elif status < 400 and state.get("changed", _writes(method, path)):
        about = "; ".join(filter(None, (_ids(scope), str(state.get("changed", "")))))
    else:
        return None
    caller: Caller | None = state.get("caller")
    return Event(
        "refusal" if status in _REFUSALS else "write",
        f"{method if method in METHODS else OTHER} {path}",
        caller.tenant if caller else NOBODY,
        caller.key_id if caller else None,
        address_of(scope),
        about,
        status,
        caller.person_id if caller else None,
    )


def _writes(method: str, path: str) -> bool:
    """True if a route that says nothing of itself changes something."""
    return method in _CHANGES or NEEDED.get((method, path)) == "write"


def _ids(scope: Scope) -> str:
    """The ids in the request's address."""
    parts: dict[str, object] = scope.get("path_params", {})
    named = ((name.removesuffix("_id"), str(value)) for name, value in parts.items())
    return "; ".join(f"{name} {value}" for name, value in named if _ID.fullmatch(value))
