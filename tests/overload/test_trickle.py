"""Bodies that come by the byte: each is cut in its time, and none keeps others from the server."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator

import httpx
import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from helix.overload import connections
from tests.support.live_server import limited

SECONDS = 1.0
"""The span in which a body must get on, in these tests."""
PATIENCE = 60.0
"""The seconds after which something is wrong, on however busy a machine."""
POST = b"POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n"


_EMPTY = [(b"content-length", b"0")]


async def refusing(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers without reading a body, as a refusal of a key does."""
    await send({"type": "http.response.start", "status": 401, "headers": _EMPTY})
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[uvicorn.Server]:
    """A server of short limits that holds few connections."""
    monkeypatch.setattr(connections, "BODY_SECONDS", SECONDS)
    monkeypatch.setattr(connections, "most_connections", lambda: 8)
    with limited(refusing, timeout_keep_alive=60) as running:
        yield running


def _refused(server: uvicorn.Server) -> socket.socket:
    """A client that was answered, and goes on sending its body."""
    port = server.servers[0].sockets[0].getsockname()[1]
    client = socket.create_connection(("127.0.0.1", port), timeout=10)
    client.sendall(POST)
    assert client.recv(4096).startswith(b"HTTP/1.1 401")
    return client


def _goes_on(client: socket.socket) -> bool:
    """Send as much as a body must bring in a third of its span; False once the server closed."""
    try:
        client.sendall(b"x" * connections.BODY_BYTES)
    except ConnectionError:
        return False
    client.settimeout(SECONDS / 3)
    with contextlib.suppress(TimeoutError):
        return client.recv(4096) != b""
    return True


def test_a_body_behind_its_answer_is_not_read_for_ever(server: uvicorn.Server) -> None:
    with _refused(server) as client:
        began = time.monotonic()
        while _goes_on(client):
            assert time.monotonic() - began < PATIENCE, "it may send for ever"


def test_bodies_behind_their_answers_keep_nobody_out(server: uvicorn.Server) -> None:
    port = server.servers[0].sockets[0].getsockname()[1]
    with contextlib.ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(_refused(server))
        polite = httpx.get(f"http://127.0.0.1:{port}/", timeout=PATIENCE)
        assert polite.status_code == 401, "a refused client is in the way of the next"
