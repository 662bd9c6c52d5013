"""A proxy on loopback for a client whose own connections cannot be looked at: it checks each.

obstore follows redirects and looks names up by itself, which no option changes; but it goes by a
proxy. So wherever a server leads it, the address is checked, and is the one that is connected to.
"""

from __future__ import annotations

import selectors
import socket
import socketserver
import threading
from collections.abc import Collection, Iterable
from typing import Any
from urllib.parse import urlsplit

from pipelines.sources.base import SourceError
from pipelines.sources.peers import checked_addresses

_HEAD_BYTES = 64 * 1024
_CONNECT_SECONDS = 5.0
_IDLE_SECONDS = 300.0
_AT_ONCE = 64 * 1024


class GuardedProxy:
    """A proxy for HTTP, and for HTTPS by CONNECT, until it is closed.

    ``allow_hosts``: which private hosts it may go to.
    """

    def __init__(self, allow_hosts: Collection[str]) -> None:
        self._server = _Server(allow_hosts)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def refused(self) -> str | None:
        """The reason for which it did not go where it was last to go; None: it went everywhere."""
        return self._server.refused

    def close(self) -> None:
        """Take no more connections."""
        self._server.shutdown()
        self._server.server_close()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, allow_hosts: Collection[str]) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.allow_hosts = allow_hosts
        self.refused: str | None = None

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: a connection that breaks is its client's to tell."""


class _Connection(socketserver.BaseRequestHandler):
    server: _Server
    request: socket.socket

    def handle(self) -> None:
        """Answer one request, or carry one connection."""
        self.request.settimeout(_CONNECT_SECONDS)
        head, rest = self._head()
        method, target, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
        tunnel = method == "CONNECT"
        parts = urlsplit(f"//{target}" if tunnel else target)
        try:
            addresses = checked_addresses(parts.hostname or "", self.server.allow_hosts)
        except SourceError as error:
            self.server.refused = str(error)
            self.request.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            return
        with _connected(addresses, parts.port or 80) as upstream:
            if tunnel:
                self.request.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                upstream.sendall(_of_origin(head, parts.path, parts.query))
            upstream.sendall(rest)
            _carry(self.request, upstream)

    def _head(self) -> tuple[bytes, bytes]:
        """The head of the request, and what came behind it."""
        data = b""
        while b"\r\n\r\n" not in data:
            more = self.request.recv(_AT_ONCE)
            if not more or len(data) > _HEAD_BYTES:
                raise ConnectionError("no request came")
            data += more
        head, end, rest = data.partition(b"\r\n\r\n")
        return head + end, rest


def _connected(addresses: Iterable[str], port: int) -> socket.socket:
    failure = OSError("no address")
    for address in addresses:
        try:
            return socket.create_connection((address, port), _CONNECT_SECONDS)
        except OSError as error:
            failure = error
    raise failure


def _of_origin(head: bytes, path: str, query: str) -> bytes:
    """The head as its own server reads it, whose connection ends with the answer."""
    first, _, fields = head.partition(b"\r\n")
    method, _, version = first.split(b" ")
    target = (path or "/") + (f"?{query}" if query else "")
    first = b" ".join((method, target.encode("latin-1"), version))
    return b"\r\n".join((first, b"Connection: close", fields))


def _carry(client: socket.socket, upstream: socket.socket) -> None:
    """Pass on what either sends until one of them ends, or both are silent for too long."""
    with selectors.DefaultSelector() as selector:
        for pair in ((client, upstream), (upstream, client)):
            pair[0].settimeout(_IDLE_SECONDS)
            selector.register(pair[0], selectors.EVENT_READ, pair)
        while ready := selector.select(_IDLE_SECONDS):
            for key, _ in ready:
                source, sink = key.data
                if not (data := source.recv(_AT_ONCE)):
                    return
                sink.sendall(data)
