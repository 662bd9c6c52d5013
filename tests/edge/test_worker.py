"""The worker of edge/ before an origin: what passes, unchanged, at its own pace; what stops."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator

import httpx
import pytest

from tests.support.edge_worker import EDGE, REFUSED_ADDRESS, edge_worker, settings_file
from tests.support.scripted_server import Reply, ScriptedServer, scripted
from tests.support.service_process import eventually

pytestmark = pytest.mark.node

SITE, SECRET = "https://app.example.com", "only-in-a-binding"
STREAM = {"Content-Type": "text/event-stream", "X-Answer-Id": "a" * 32}
FRAMES = [f'data: {{"t":"süß {n} \u2028"}}\n\n'.encode() for n in range(4)]
LIMITS = {"MAX_BODY_BYTES": "1000", "FIRST_BYTE_SECONDS": "1"}


@pytest.fixture(scope="module")
def origin() -> Iterator[ScriptedServer]:
    with scripted(Reply(b"")) as server:
        yield server


@pytest.fixture(scope="module")
def edge(origin: ScriptedServer) -> Iterator[httpx.Client]:
    with (
        edge_worker(ORIGIN=origin.url, SITES=SITE, ORIGIN_SECRET=SECRET, **LIMITS) as address,
        httpx.Client(base_url=address, timeout=30) as client,
    ):
        yield client


def test_a_stream_passes_byte_by_byte_and_frame_by_frame(
    edge: httpx.Client, origin: ScriptedServer
) -> None:
    origin.replies = (Reply(FRAMES[0], headers=STREAM, steps=FRAMES[1:]),)
    with edge.stream("GET", "/ask?q=O%C3%B9%20%3F") as response:
        assert response.status_code == 200 and response.headers["x-answer-id"] == "a" * 32
        received = response.iter_raw()
        for frame in FRAMES:  # each is here before the origin may send the next
            got = b""
            while len(got) < len(frame):
                got += next(received)
            assert got == frame
            origin.go.release()
        assert list(received) == []
    method, path, headers = origin.asked[-1]
    assert (method, path) == ("GET", "/ask?q=O%C3%B9%20%3F")
    assert headers["x-edge-secret"] == SECRET and "authorization" not in headers


def test_a_client_that_leaves_is_heard_of_at_the_origin(
    edge: httpx.Client, origin: ScriptedServer
) -> None:
    origin.replies = (Reply(FRAMES[0], headers=STREAM, held=True),)
    origin.left.clear()
    with edge.stream("POST", "/v1/query", json={"question": "q", "stream": True}) as response:
        assert next(response.iter_raw()).startswith(FRAMES[0][:5])
        assert not origin.left.is_set()
    assert origin.left.wait(10)


def test_what_is_sent_arrives_as_it_was(edge: httpx.Client, origin: ScriptedServer) -> None:
    origin.replies = (Reply(b'{"error": "no"}', 403, {"X-Trace-Id": "t"}),)
    body = bytes(range(256)) * 3
    told = edge.post(
        "/v1/documents?a=%2F&b=", content=body,
        headers={"Authorization": "Bearer hx_mine", "X-Edge-Secret": "guess"},
    )  # fmt: skip
    assert (told.status_code, told.content) == (403, b'{"error": "no"}')
    assert told.headers["x-trace-id"] == "t" and "access-control-allow-origin" not in told.headers
    method, path, headers = origin.asked[-1]
    assert (method, path, origin.bodies[-1]) == ("POST", "/v1/documents?a=%2F&b=", body)
    assert (headers["authorization"], headers["x-edge-secret"]) == ("Bearer hx_mine", SECRET)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/metrics", 404),
        ("GET", "/docs", 404),
        ("GET", "/v2/query", 404),
        ("GET", "/web/%2e%2e/metrics", 404),
        ("GET", "/v1/", 404),
        ("PUT", "/v1/query", 405),
        ("POST", "/ask", 405),
        ("DELETE", "/", 405),
        ("OPTIONS", "/v1/query", 405),
        ("TRACE", "/v1/query", 405),
    ],
)
def test_what_may_not_pass_stops_here(
    edge: httpx.Client, origin: ScriptedServer, method: str, path: str, status: int
) -> None:
    before = len(origin.asked)
    told = edge.request(method, path)
    assert told.status_code == status and told.json()["error"]
    assert len(origin.asked) == before


def test_a_body_over_the_limit_stops_here(edge: httpx.Client, origin: ScriptedServer) -> None:
    origin.replies = (Reply(b"{}"),)
    before = len(origin.asked)
    told = edge.post("/v1/documents", content=b"x" * 1001)
    assert told.status_code == 413 and "MAX_BODY_BYTES" in told.json()["error"]
    assert len(origin.asked) == before
    # one that does not say how long it is: the origin never sees its end
    taken = len(origin.bodies)
    told = edge.post("/v1/documents", content=(b"x" * 400 for _ in range(5)))
    assert told.status_code == 413
    short = edge.post("/v1/documents", content=(b"x" * 400 for _ in range(2)))
    assert short.status_code == 200 and origin.bodies[taken:] == [b"x" * 800]
    assert edge.post("/v1/documents", content=b"x" * 1000).status_code == 200


def test_a_body_that_breaks_off_is_not_taken_for_whole(
    edge: httpx.Client, origin: ScriptedServer
) -> None:
    origin.replies = (Reply(b"{}"),)
    before, taken, broken = len(origin.asked), len(origin.bodies), origin.broken
    with socket.create_connection((edge.base_url.host, edge.base_url.port or 80)) as sender:
        head = "POST /v1/documents HTTP/1.1\r\nHost: edge\r\nTransfer-Encoding: chunked\r\n\r\n"
        sender.sendall(f"{head}5\r\nhello\r\n".encode())
        assert eventually(lambda: len(origin.asked) > before, 30)
    assert eventually(lambda: len(origin.bodies) + origin.broken > taken + broken, 30)
    assert (len(origin.bodies), origin.broken) == (taken, broken + 1)


def test_an_address_that_asks_too_much_is_told_so(
    edge: httpx.Client, origin: ScriptedServer
) -> None:
    origin.replies = (Reply(b"{}"),)
    before = len(origin.asked)
    told = edge.get("/ask?q=1", headers={"CF-Connecting-IP": REFUSED_ADDRESS})
    assert (told.status_code, told.headers["retry-after"]) == (429, "60")
    assert len(origin.asked) == before
    forged = {"CF-Connecting-IP": "192.0.2.1", "X-Forwarded-For": "10.0.0.1"}
    assert edge.get("/ask?q=1", headers=forged).status_code == 200
    assert origin.asked[-1][2]["x-forwarded-for"] == "192.0.2.1"


def test_named_sites_may_ask_and_no_others(edge: httpx.Client, origin: ScriptedServer) -> None:
    origin.replies = (Reply(FRAMES[0], headers=STREAM),)
    asked = {"Origin": SITE, "Sec-Fetch-Site": "cross-site"}
    allowed = edge.options("/v1/query", headers=asked)
    assert allowed.status_code == 204 and "POST" in allowed.headers["access-control-allow-methods"]
    told = edge.post("/v1/query", json={}, headers=asked)
    assert told.headers["access-control-allow-origin"] == SITE
    assert "x-answer-id" in told.headers["access-control-expose-headers"]
    assert told.headers["vary"] == "Origin" and told.content == FRAMES[0]
    sent = origin.asked[-1][2]
    assert "origin" not in sent and "sec-fetch-site" not in sent
    refused = edge.put("/v1/query", headers=asked)  # what stops here can be read there as well
    assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (405, SITE)
    before = len(origin.asked)
    for strange in ("https://evil.example", f"{SITE}.evil.example", "null"):
        stopped = edge.post("/v1/query", json={}, headers={"Origin": strange})
        assert stopped.status_code == 403
        assert "access-control-allow-origin" not in stopped.headers
    assert len(origin.asked) == before
    own = str(edge.base_url).rstrip("/")
    assert edge.post("/v1/query", json={}, headers={"Origin": own}).status_code == 200


def test_an_origin_that_is_silent_or_gone_is_said(edge: httpx.Client) -> None:
    late = Reply(b"", steps=[b"late"], silent=True)
    with scripted(late) as silent, edge_worker(ORIGIN=silent.url, **LIMITS) as address:
        told = httpx.get(f"{address}/ask?q=1", timeout=30)
        assert told.status_code == 504 and "for 1 seconds" in told.json()["error"]
        silent.go.release()
    with edge_worker(ORIGIN="http://127.0.0.1:1") as address:
        told = httpx.get(f"{address}/ask?q=1", timeout=30)
        assert (told.status_code, told.headers["retry-after"]) == (502, "5")


def test_there_is_no_secret_in_it() -> None:
    files = [file for file in EDGE.iterdir() if file.is_file()]
    assert {"worker.js", "wrangler.jsonc", "README.md"} <= {file.name for file in files}
    for file in files:
        if file.name == "package-lock.json":  # hashes of packages
            continue
        text = file.read_text()
        assert not re.search(r"\b(hx_|sk-|AIza|ghp_)\w{8}|BEGIN [A-Z ]*PRIVATE", text), file
        assert not re.search(r"[A-Za-z0-9+/_-]{32,}", text), f"{file} has what may be a key"
    names = settings_file()
    assert "SECRET" not in str(names) and not {"API_KEY", "KEY", "TOKEN"} & names["vars"].keys()
    assert len((EDGE / "worker.js").read_text().splitlines()) <= 150
