"""Many clients that are slow at once, of every kind: the others are served, and all of them go."""

from __future__ import annotations

import contextlib
import random
import resource
import selectors
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from helix.overload import connections
from tests.overload.test_connections import HEAD, LARGE
from tests.overload.test_connections import application as small_answers
from tests.support.live_server import limited

SECONDS = 2.0
"""Each of the server's limits in time, in these tests."""
PATIENCE = 120.0
"""The seconds to give up after: the limits, on a machine that has much else to do."""
STARTS = {
    "slow head": HEAD,
    "slow body": b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n",
    "slow reader": b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "flood": b"",
}
"""The bytes that each kind of client begins with; the first two then send a byte now and then."""


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """The other tests' application, but /large is sent in parts, as a server that streams does."""
    if scope["path"] != "/large":
        await small_answers(scope, receive, send)
        return
    part = b"x" * 65536
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(LARGE // len(part)):
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[uvicorn.Server]:
    """A server of shorter limits, of which one process may have as many clients as it likes."""
    for name in ("HEAD_SECONDS", "BODY_SECONDS", "WRITE_SECONDS"):
        monkeypatch.setattr(connections, name, SECONDS)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16384), hard))
    with limited(application, backlog=4096) as running:
        yield running
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _open(port: int, kind: str) -> socket.socket:
    client = socket.socket()
    # as of a client far away: else the kernel takes megabytes for a reader that reads nothing
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(30)
    client.connect(("127.0.0.1", port))
    client.sendall(STARTS[kind])
    client.setblocking(False)
    return client


def _is_closed(client: socket.socket) -> bool:
    """True where the server has closed; bytes that it sent before are passed over."""
    try:
        return client.recv(4096) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def _outlived(clients: dict[socket.socket, str], seconds: float) -> Iterator[None]:
    """Keep the slow ones going until the server has closed all of them; pauses now and then.

    A slow reader cannot tell that it was cut without reading: it is left out here.
    """
    waiting = {client for client, kind in clients.items() if kind != "slow reader"}
    began = time.monotonic()
    with selectors.DefaultSelector() as selector:
        for client in waiting:
            selector.register(client, selectors.EVENT_READ)
        while waiting and time.monotonic() - began < seconds:
            for key, _ in selector.select(0.1):
                ready = key.fileobj
                assert isinstance(ready, socket.socket)
                if _is_closed(ready):
                    selector.unregister(ready)
                    waiting.discard(ready)
            for client in waiting:
                if clients[client] in ("slow head", "slow body"):
                    with contextlib.suppress(OSError):  # closed just now: seen in the next round
                        client.send(b"x")
            yield
    assert not waiting, _by_kind(clients, waiting)


def _by_kind(clients: dict[socket.socket, str], some: set[socket.socket]) -> dict[str, int]:
    return {kind: sum(clients[each] == kind for each in some) for kind in STARTS}


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _attack(server: uvicorn.Server, of_each: int, seed: int) -> int:
    """Slow clients of each kind beside a polite one, until all are gone; descriptors left over."""
    port = server.servers[0].sockets[0].getsockname()[1]
    before = _descriptors()
    order = [kind for kind in STARTS for _ in range(of_each)]
    random.Random(seed).shuffle(order)
    with contextlib.ExitStack() as stack:
        clients = {stack.enter_context(_open(port, kind)): kind for kind in order}
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as polite:
            for _ in _outlived(clients, PATIENCE):
                assert polite.post("/", content=b"12345").text == "5"
            began = time.monotonic()
            while len(server.server_state.connections) > 1:  # the slow readers', by the write limit
                assert polite.post("/", content=b"12345").text == "5"
                assert time.monotonic() - began < PATIENCE
    # the server hears of the last ones' end
    while _descriptors() > before and time.monotonic() - began < PATIENCE:
        time.sleep(0.05)
    return max(0, _descriptors() - before)


def test_forty_of_each_kind(server: uvicorn.Server) -> None:
    assert _attack(server, 40, seed=1) == 0


@pytest.mark.soak
def test_five_hundred_of_each_kind(server: uvicorn.Server) -> None:
    assert _attack(server, 500, seed=2) == 0
