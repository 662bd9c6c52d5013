"""Connections that never end, or never begin, are dropped; the others are served meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from helix.overload import connections
from helix.overload.connections import LimitedConnection

LARGE = 8 * 2**20  # bytes of the answer of /large, more than a socket's buffers hold
HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Read the body, then answer with its length; /slow takes a second, /large is long.

    /ends answers with the addresses that the application hears of.
    """
    assert scope["type"] == "http"
    received, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        received += len(message.get("body", b""))
        more = message.get("more_body", False)
    if scope["path"] == "/slow":
        await asyncio.sleep(1)
    body = b"x" * LARGE if scope["path"] == "/large" else str(received).encode()
    if scope["path"] == "/ends":
        body = repr((scope["server"], scope["client"], scope["scheme"])).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a server whose limits in time are a fraction of a second."""
    for name in ("HEAD_SECONDS", "BODY_SECONDS", "WRITE_SECONDS"):
        monkeypatch.setattr(connections, name, 0.4)
    config = uvicorn.Config(
        application, port=0, http=LimitedConnection, lifespan="off", log_level="critical",
    )  # fmt: skip
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join(timeout=10)
    assert not thread.is_alive()


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=10)


def rest(client: socket.socket) -> bytes:
    """The bytes that come until the server closes."""
    parts = []
    with contextlib.suppress(ConnectionError):  # a reset is how the server closes on unread bytes
        while part := client.recv(65536):
            parts.append(part)
    return b"".join(parts)


def sent_until_refused(client: socket.socket, start: bytes, again: bytes, most: int) -> int:
    """The number of bytes that the server takes, at most ``most``: ``start``, then ``again``s."""
    client.sendall(start)
    sent = len(start)
    with contextlib.suppress(OSError):  # closed, or no longer read: this is the refusal
        while sent < most:
            sent += client.send(again)
    return sent


def served(port: int) -> None:
    answer = httpx.post(f"http://127.0.0.1:{port}/", content=b"12345", timeout=10)
    assert (answer.status_code, answer.text) == (200, "5")


CHUNKED = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
ENDLESS = {
    "one header": (HEAD + b"X-Long: ", b"y" * 4096),
    "the address": (b"GET /", b"z" * 4096),
    "many headers": (HEAD, b"X-A: b\r\n" * 512),
    "a trailer": (CHUNKED + b"0\r\nX-Long: ", b"y" * 4096),
    "many trailers": (CHUNKED + b"0\r\n", b"X-A: b\r\n" * 512),
    "a chunk's extension": (CHUNKED + b"1;", b"e" * 4096),
}


@pytest.mark.parametrize("part", ENDLESS)
def test_what_frames_a_message_has_a_size(port: int, part: str) -> None:
    start, again = ENDLESS[part]
    with closing(connect(port)) as client:
        taken = sent_until_refused(client, start, again, 64 * 2**20)
    assert taken < 16 * 2**20  # the sockets' buffers, and no more of it in the server
    served(port)


def test_an_oversized_head_is_answered(port: int) -> None:
    with closing(connect(port)) as client:
        client.sendall(HEAD + b"X-Long: " + b"y" * connections.HEAD_BYTES)
        answer = rest(client)
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert b'{"error": "the head of the request is too large"}' in answer


MALFORMED = {
    "no method": b"FOO / HTTP/1.1\r\n\r\n",
    "a header without a colon": HEAD + b"nothing\r\n\r\n",
    "a letter in the path": b"GET /\xe9 HTTP/1.1\r\nHost: a\r\n\r\n",
    "many headers": HEAD + b"X-A: b\r\n" * connections.MOST_HEADERS + b"\r\n",
}


@pytest.mark.parametrize("sent", MALFORMED.values(), ids=list(MALFORMED))
def test_what_is_no_request_is_answered_as_any_failure(port: int, sent: bytes) -> None:
    with closing(connect(port)) as client:
        client.sendall(sent)
        head, _, body = rest(client).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: application/json\r\n" in head
    assert set(json.loads(body)) == {"error"}


@pytest.mark.parametrize("start", [b"", b"GET", HEAD])
def test_a_head_must_come_in_time(port: int, start: bytes) -> None:
    with closing(connect(port)) as client:
        client.sendall(start)
        answer = rest(client)
    assert answer.startswith(b"HTTP/1.1 408 ")


def test_a_second_head_must_come_in_time(port: int) -> None:
    with closing(connect(port)) as client:
        client.sendall(HEAD + b"\r\n" + b"GET /second HTTP/1.1\r\nX-Half: ")
        answer = rest(client)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"HTTP/1.1 408 " in answer


def test_a_body_must_get_on(port: int) -> None:
    with closing(connect(port)) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nabc")
        served(port)
        answer = rest(client)
    assert answer.startswith(b"HTTP/1.1 408 ")


def test_a_body_may_take_its_time(port: int) -> None:
    part, parts = b"x" * (connections.BODY_BYTES + 1), 6
    with closing(connect(port)) as client:
        length = len(part) * parts
        client.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % length)
        for _ in range(parts):
            client.sendall(part)
            time.sleep(0.15)
        answer = client.recv(4096)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(str(length).encode()) or str(length).encode() in answer


def test_the_application_hears_whom_each_request_is_of(port: int) -> None:
    with closing(connect(port)) as client:
        ends = repr((("127.0.0.1", port), client.getsockname(), "http")).encode()
        ask = b"GET /ends HTTP/1.1\r\nHost: a\r\n"
        client.sendall(ask + b"\r\n" + ask + b"Connection: close\r\n\r\n")
        assert rest(client).count(ends) == 2


def test_an_answer_is_not_cut_for_a_byte_behind_its_request(port: int) -> None:
    with closing(connect(port)) as client:
        client.sendall(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n\r\n")
        time.sleep(0.6)  # longer than a head may take
        answer = client.recv(4096)
    assert answer.startswith(b"HTTP/1.1 200 ")


def test_a_client_that_does_not_read_is_dropped(port: int) -> None:
    with closing(connect(port)) as client:
        client.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        time.sleep(1.2)
        answer = rest(client)
    assert len(answer) < LARGE


def test_a_client_that_reads_gets_all_of_it(port: int) -> None:
    assert len(httpx.get(f"http://127.0.0.1:{port}/large", timeout=10).content) == LARGE


def test_among_too_many_connections_the_longest_idle_goes(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "most_connections", lambda: 4)
    monkeypatch.setattr(connections, "HEAD_SECONDS", 30)
    busy = connect(port)
    busy.sendall(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
    silent = []
    for _ in range(6):
        silent.append(connect(port))
        time.sleep(0.05)  # so that the server takes them in this order
    assert [rest(client) for client in silent[:3]] == [b"", b"", b""]
    served(port)
    assert busy.recv(4096).startswith(b"HTTP/1.1 200 ")
    for client in (busy, *silent):
        client.close()


def test_a_new_connection_is_refused_where_all_are_busy(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "most_connections", lambda: 2)
    busy = [connect(port) for _ in range(2)]
    for client in busy:
        client.sendall(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
    time.sleep(0.2)
    with closing(connect(port)) as client:
        refusal = rest(client)
    assert refusal.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after: " in refusal
    for client in busy:
        assert client.recv(4096).startswith(b"HTTP/1.1 200 ")
        client.close()
