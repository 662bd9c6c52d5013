"""The proxy that looks at connections for a client which cannot: tunnels, and what is refused."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from pipelines.sources.guarded_proxy import GuardedProxy


@pytest.fixture
def proxy() -> Iterator[GuardedProxy]:
    with closing(GuardedProxy(["localhost"])) as made:
        yield made


@pytest.fixture
def echo() -> Iterator[int]:
    """The port of a server that says once what it is told."""

    def answer() -> None:
        taken, _ = server.accept()
        with taken:
            taken.sendall(taken.recv(100))

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=answer, daemon=True).start()
        yield server.getsockname()[1]


def _asked(proxy: GuardedProxy, head: str) -> socket.socket:
    parts = urlsplit(proxy.url)
    made = socket.create_connection((parts.hostname, parts.port), 10)
    made.sendall(f"{head}\r\nHost: x\r\n\r\n".encode())
    return made


def test_a_tunnel_leads_where_it_may(proxy: GuardedProxy, echo: int) -> None:
    with _asked(proxy, f"CONNECT localhost:{echo} HTTP/1.1") as made:
        assert made.recv(100) == b"HTTP/1.1 200 OK\r\n\r\n"
        made.sendall(b"\x16\x03hello")
        assert made.recv(100) == b"\x16\x03hello" and made.recv(100) == b""
    assert proxy.refused is None


@pytest.mark.parametrize(
    "head",
    [
        "CONNECT 127.0.0.1:{port} HTTP/1.1",
        "CONNECT [::ffff:127.0.0.1]:{port} HTTP/1.1",
        "CONNECT 169.254.169.254:80 HTTP/1.1",
        "GET http://2130706433:{port}/x HTTP/1.1",
    ],
)
def test_a_tunnel_into_the_network_is_refused(proxy: GuardedProxy, echo: int, head: str) -> None:
    with _asked(proxy, head.format(port=echo)) as made:
        assert made.recv(100).startswith(b"HTTP/1.1 403 ")
    assert proxy.refused and "the address of" in proxy.refused


def test_its_own_server_reads_a_path_alone(proxy: GuardedProxy, echo: int) -> None:
    with _asked(proxy, f"GET http://localhost:{echo}/a%20b?c=1 HTTP/1.1") as made:
        assert made.recv(1000).startswith(b"GET /a%20b?c=1 HTTP/1.1\r\nConnection: close\r\n")
