"""A web server that says what it was told to, reply after reply, and knows what it was asked."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Semaphore, Thread


class LoopbackServer(ThreadingHTTPServer):
    """A server whose clients may leave at any time.

    ``http.server`` prints a traceback then, into the output of whichever test runs.
    """

    def handle_error(self, request: object, client_address: object) -> None:
        """Report any error but that of a connection which a client broke."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


@contextmanager
def loopback(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server that answers by ``handler``, from a thread."""
    server = LoopbackServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def send_json(handler: BaseHTTPRequestHandler, status: int, body: object, **headers: str) -> None:
    """Answer a request with ``body`` as JSON; a header's name has ``_`` for ``-``."""
    data = json.dumps(body).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data)))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(data)


@dataclass(frozen=True)
class Reply:
    """One reply. ``cut``: the connection breaks off behind the body, which was to be longer.

    ``held``: the body goes on with ``filler`` until the client leaves. ``steps`` follow the
    body, each once the test has released ``ScriptedServer.go``. ``silent``: nothing is ever sent,
    and the connection ends then.
    """

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False
    held: bool = False
    filler: bytes = b": still here\n\n"
    steps: Sequence[bytes] = ()
    silent: bool = False


@dataclass
class ScriptedServer:
    """A server's address, its requests (method, path, headers), and the event of a client leaving.

    ``broken`` counts the requests whose body broke off.
    """

    url: str
    replies: Sequence[Reply]
    asked: list[tuple[str, str, Mapping[str, str]]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    left: Event = field(default_factory=Event)
    broken: int = 0
    go: Semaphore = field(default_factory=lambda: Semaphore(0))


@contextmanager
def scripted(*replies: Reply) -> Iterator[ScriptedServer]:
    """A server that gives ``replies`` in turn; the last one again and again."""
    told = ScriptedServer("", replies)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            told.asked.append((self.command, self.path, headers))
            try:
                told.bodies.append(_body(self))
            except ValueError:
                told.broken += 1
                self.close_connection = True
                return
            _send(self, told)

        do_POST = do_DELETE = do_GET  # noqa: N815  the base class's own names

        def log_message(self, *_: object) -> None:
            return

    with loopback(Handler) as told.url:
        yield told


def _send(handler: BaseHTTPRequestHandler, told: ScriptedServer) -> None:
    reply = told.replies[min(len(told.asked), len(told.replies)) - 1]
    if reply.silent:
        told.go.acquire(timeout=30)
        return
    handler.send_response(reply.status)
    for name, value in reply.headers.items():
        handler.send_header(name, value)
    if not reply.held:
        size = len(reply.body) + sum(map(len, reply.steps)) + reply.cut
        handler.send_header("Content-Length", str(size))
    handler.end_headers()
    handler.wfile.write(reply.body)
    handler.wfile.flush()
    try:
        for step in reply.steps:
            told.go.acquire(timeout=30)
            handler.wfile.write(step)
        while reply.held:
            handler.wfile.write(reply.filler)
            told.left.wait(0.01)
    except OSError:
        told.left.set()
    handler.close_connection = True


def _body(handler: BaseHTTPRequestHandler) -> bytes:
    """The body of a request, in chunks or of a known length.

    Raises:
        ValueError: its chunks were cut off.
    """
    if handler.headers.get("Transfer-Encoding", "") != "chunked":
        return handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
    body = b""
    while size := int(handler.rfile.readline(), 16):
        body += handler.rfile.read(size)
        handler.rfile.readline()
    return body
