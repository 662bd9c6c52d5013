"""Limits on one HTTP connection and on their number, for uvicorn: ``http=LimitedConnection``.

uvicorn with httptools keeps an unfinished header of any length for any time, and a connection that
says nothing. Here a request's head has a size and a time, a body and a reader of an answer must
get on, and past a number of connections the one that has waited longest without a request goes. A
question for which there is no place is refused at once (entry.py).
"""

from __future__ import annotations

import asyncio
import json
import resource
import weakref
from collections import OrderedDict
from functools import partial
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from helix.overload.admission import RETRY_SECONDS
from helix.overload.entry import EarlyRefusal, Overload, Ticket

HEAD_BYTES = 64 * 1024
"""Of a request's line and headers, of its trailers, and of what frames a chunk."""
MOST_HEADERS = 128
HEAD_SECONDS = 10
"""For a head: from the connection's first moment, or from the first byte of a later head."""
BODY_SECONDS = 20
"""In each span of this length a body brings at least BODY_BYTES, while the server takes them."""
BODY_BYTES = 10 * 1024
WRITE_SECONDS = 30
"""Longest that a client may take no byte of an answer that waits for it."""
MOST_CONNECTIONS = 2048
_SPARE_FILES = 256  # descriptors for the database, files and model services
_NO_REQUEST = (
    "this is no HTTP request: its line, a header or a chunk is malformed,"
    f" or it has more than {MOST_HEADERS} headers"
)

_shared: weakref.WeakKeyDictionary[ServerState, _Shared] = weakref.WeakKeyDictionary()
"""By server: what its connections share."""


class _TooManyHeaders(Exception):
    """A head has more headers than MOST_HEADERS."""


def most_connections() -> int:
    """The most connections a server holds at once: MOST_CONNECTIONS, or what descriptors allow."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(16, min(MOST_CONNECTIONS, soft - _SPARE_FILES))


class _Shared:
    """State that the connections of one server share.

    Args:
        most: how many it holds at once.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.idle: OrderedDict[LimitedConnection, None] = OrderedDict()
        """Connections without a whole head, the one that has waited longest first."""


def allow_descriptors() -> None:
    """Raise the process's limit of open files to what MOST_CONNECTIONS needs, where it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = MOST_CONNECTIONS + _SPARE_FILES
    if soft < needed:
        wanted = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class LimitedConnection(HttpToolsProtocol):
    """uvicorn's protocol within the limits above; what passes them is refused and closed."""

    processes = 1
    """The number of processes that share the server's connections."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, in place of an idle one where there are too many.

        uvicorn's own part of it waits for a request that is let in (``_learn_addresses``).
        """
        self.connections.add(self)
        self.transport, self.flow = transport, FlowControl(transport)
        self._unparsed = 0  # bytes since the last part of a message was whole
        self._arrived = 0  # bytes of a body since the last look
        self._in_body = False
        self._refused = False  # the request under way was refused by its head
        self._ticket: Ticket | None = None
        self._writing: asyncio.TimerHandle | None = None
        self._watch: asyncio.TimerHandle | None = None
        shared = self._shared_by_server()
        self._idle = shared.idle
        if early := self._early:
            early.connected()
        if len(self.connections) > shared.most:
            if not self._idle:
                self._refuse(503, "too many connections; try again")
                return
            next(iter(self._idle)).transport.abort()
        self._idle[self] = None
        self._watch = self.loop.call_later(HEAD_SECONDS, self._head_is_late)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection and its timers."""
        self._idle.pop(self, None)
        self._close_ticket()
        for timer in (self._watch, self._writing):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse ``data``, unless the head that it belongs to is too large."""
        if self.transport.is_closing():
            return
        self._unparsed += len(data)
        self._arrived += len(data)
        super().data_received(data)
        if self._in_body and self._watch is None:  # a head alone, as most are, needs no timer
            self._watch_with(BODY_SECONDS, self._look_at_body)
        if self._unparsed > HEAD_BYTES and not self.transport.is_closing():
            self._refuse(431, "the head of the request is too large")

    def on_message_begin(self) -> None:
        """Begin a request, on a connection that may have brought others."""
        super().on_message_begin()
        if self._watch is None:
            self._watch_with(HEAD_SECONDS, self._head_is_late)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, of a head or of a trailer."""
        if len(self.headers) >= MOST_HEADERS:
            raise _TooManyHeaders
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start the request; the rest of its body is watched."""
        self._unparsed = self._arrived = 0
        self._in_body = True
        self._idle.pop(self, None)
        self._watch_with(None, None)
        if not self._turned_away():
            self._learn_addresses()
            # the connection's own other end: of scope["client"] X-Forwarded-For makes another
            self.scope["state"]["peer"] = self.client[0] if self.client else ""
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body; that of a refused question is dropped."""
        self._unparsed = 0
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """End the request's body."""
        self._unparsed = 0
        self._in_body = False
        self._watch_with(None, None)
        if self._refused:
            self._after_refusal()
        else:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """End the answer; the connection may bring another request.

        What is left of a body that was refused has one span to come in, and may be cut before.
        """
        self._close_ticket()
        super().on_response_complete()
        if self.cycle.response_complete:
            self._idle[self] = None
            if self._in_body:
                self._watch_with(BODY_SECONDS, self.transport.close)

    def send_400_response(self, msg: str) -> None:
        """Refuse what the parser does not read, in the form of all failures."""
        self._refuse(400, _NO_REQUEST)

    def pause_writing(self) -> None:
        """Wait for a client that reads slower than the answer comes, for WRITE_SECONDS."""
        super().pause_writing()
        self._writing = self.loop.call_later(WRITE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the client has read."""
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None
        super().resume_writing()

    @property
    def _early(self) -> EarlyRefusal | None:
        overload: Overload | None = self.app_state.get("overload")
        return overload.early if overload else None

    def _turned_away(self) -> bool:
        """Refuse a question that finds no place, before the application hears of it."""
        self._refused = False
        early = self._early
        if early is None or self._answering() or self.expect_100_continue:
            return False
        looked = early.look(self.parser.get_method(), self.url, self.headers)
        if not isinstance(looked, bytes):
            self._ticket = self.scope["state"]["ticket"] = looked
            return False
        self._refused = True
        lines = [STATUS_LINE[503]]
        lines += [b"%b: %b\r\n" % each for each in self.server_state.default_headers]
        if not self.parser.should_keep_alive():
            lines.append(b"connection: close\r\n")
        self.transport.write(b"".join([*lines, looked]))
        return True

    def _learn_addresses(self) -> None:
        """Have uvicorn look whom the connection is of, for the application, at its first request.

        That takes two sockets and seven system calls, a tenth of a refusal, which needs none.
        """
        if self.scheme is None:
            flow = self.flow
            super().connection_made(self.transport)
            self.flow = flow  # it may wait for the client
            self.scope["server"], self.scope["client"] = self.server, self.client
            self.scope["scheme"] = self.scheme or "http"

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        """Enter the application; of several questions one after the other."""
        start = partial(super()._start_asgi_task, cycle, app)
        if (early := self._early) and cycle.scope["state"].get("ticket") is not None:
            early.begin(start)
        else:
            start()

    def _after_refusal(self) -> None:
        """Close the connection, or wait for its next request."""
        self.server_state.total_requests += 1
        if not self.parser.should_keep_alive():
            self.transport.close()
            return
        self._idle[self] = None
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )

    def _close_ticket(self) -> None:
        """The question under way, if it is one, waits for no decision any more."""
        if self._ticket is not None:
            self._ticket.close()
            self._ticket = None

    def _head_is_late(self) -> None:
        if self._answering():  # a byte too many behind a request must not cut its answer
            self._watch_with(HEAD_SECONDS, self._head_is_late)
            return
        self._refuse(408, "the head of the request did not come in time")

    def _look_at_body(self) -> None:
        """Cut a body that does not get on while the server waits for its client."""
        if not self.flow.read_paused and self._arrived < BODY_BYTES:
            self._refuse(408, "the body of the request came too slowly")
            return
        self._arrived = 0
        self._watch_with(BODY_SECONDS, self._look_at_body)

    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _watch_with(self, seconds: float | None, look: Any) -> None:
        if self._watch is not None:
            self._watch.cancel()
        self._watch = None if seconds is None else self.loop.call_later(seconds, look)

    def _shared_by_server(self) -> _Shared:
        shared = _shared.get(self.server_state)
        if shared is None:
            shared = _shared[self.server_state] = _Shared(most_connections() // self.processes)
        return shared

    def _refuse(self, status: int, message: str) -> None:
        """Answer with ``status``, where no answer has begun, and close."""
        if self.transport.is_closing():
            return
        answering = self._answering()
        if not (answering and self.cycle.response_started):
            self.transport.write(_refusal(status, message))
        if answering:
            self.cycle.disconnected = True  # the application's own answer has no reader
            self.cycle.message_event.set()
        self.transport.close()


def shared_by(processes: int) -> type[LimitedConnection]:
    """LimitedConnection for one of the processes that a server's connections are spread over."""
    return type("SharedConnection", (LimitedConnection,), {"processes": processes})


def _refusal(status: int, message: str) -> bytes:
    body = json.dumps({"error": message}).encode()
    later = f"retry-after: {RETRY_SECONDS}\r\n" if status == HTTPStatus.SERVICE_UNAVAILABLE else ""
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{later}"
        "content-type: application/json\r\nx-content-type-options: nosniff\r\n"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body
