"""Refusals of a full server by a head alone: which questions, and the answer they get."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import httpx
import pytest

from helix.overload import entry as module
from helix.overload.admission import Admission, Overloaded, Place
from helix.overload.entry import EarlyRefusal, Ticket
from tests.support.live_server import live

ASK = (b"GET", b"/ask?q=what")
QUERY = (b"POST", b"/v1/query")
BEARER = (b"authorization", b"Bearer hx_one")


class Later(NamedTuple):
    """The event loop as early refusal uses it; what is to be called later is put down."""

    call_soon: Callable[..., object]
    calls: list[tuple[float, Callable[[], None]]]

    def call_later(self, seconds: float, call: Callable[[], None]) -> None:
        self.calls.append((seconds, call))


def _refusing(most: int = 1, waiting: int = 1, *, keyed: bool = False) -> EarlyRefusal:
    return _early(Admission(most, waiting), keyed=keyed)


def _early(admission: Admission, *, keyed: bool) -> EarlyRefusal:
    return EarlyRefusal(
        admission,
        anybody=None if keyed else "default",
        answer=lambda _: b"refused",
        on_refused=lambda *_: None,
    )


def _enters(
    early: EarlyRefusal, request: tuple[bytes, bytes], *headers: tuple[bytes, bytes]
) -> bool:
    return isinstance(early.look(*request, list(headers)), Ticket)


def test_as_many_enter_as_find_a_place_or_wait_for_one() -> None:
    early = _refusing(most=2, waiting=1)
    tickets = [early.look(*ASK, []) for _ in range(5)]
    assert [isinstance(each, Ticket) for each in tickets] == [True, True, True, False, False]
    ticket = tickets[0]
    assert isinstance(ticket, Ticket)
    for _ in range(2):  # closed when it is decided, and again when its connection goes
        ticket.close()
    assert [_enters(early, ASK) for _ in range(2)] == [True, False]


def test_what_is_no_question_is_not_looked_at() -> None:
    early = _refusing(most=1, waiting=0)
    assert _enters(early, ASK)
    for request in ((b"GET", b"/healthz"), (b"POST", b"/ask"), (b"GET", b"/v1/documents")):
        assert early.look(*request, []) is None


@pytest.mark.parametrize("written", [b"%C3%A9", b"%FF", b"\xe9", b"", b"a&tenant_id=%D9%A1"])
def test_a_tenant_of_any_letters_is_left_to_the_application(written: bytes) -> None:
    assert _enters(_refusing(), (b"GET", b"/ask?q=what&tenant_id=" + written))


def test_where_the_head_does_not_tell_the_tenant_a_few_enter_at_a_time() -> None:
    for request, headers in ((QUERY, []), (ASK, [(b"origin", b"http://localhost")])):
        early = _refusing(most=1, waiting=0)
        assert _enters(early, ASK)
        entered = [_enters(early, request, *headers) for _ in range(module.MOST_UNKNOWN + 2)]
        assert entered == [True] * module.MOST_UNKNOWN + [False] * 2


async def test_another_tenant_enters_where_the_queue_gives_way_to_it() -> None:
    admission = Admission(most=1, waiting=3)
    early = _early(admission, keyed=False)
    held, queued = await _busy(admission, "default", waiting=3)
    assert not _enters(early, ASK)
    other = (b"GET", b"/ask?q=what&tenant_id=other")
    assert [_enters(early, other) for _ in range(3)] == [True, True, False]
    held.leave()
    await asyncio.gather(*queued)


async def _busy(
    admission: Admission, tenant: str, waiting: int
) -> tuple[Place, list[asyncio.Task[None]]]:
    """A place that is held, and questions of ``tenant`` that wait for it."""

    async def nothing() -> None:
        pass

    async def ask() -> None:
        with admission.place(tenant) as place:
            await place.run(nothing)

    held = admission.place(tenant)
    await held.run(nothing)
    queued = [asyncio.create_task(ask()) for _ in range(waiting)]
    await asyncio.sleep(0)
    return held, queued


async def test_a_key_tells_the_tenant_once_it_was_found_good() -> None:
    admission = Admission(most=1, waiting=0)
    early = _early(admission, keyed=True)
    held, _ = await _busy(admission, "a", waiting=0)
    assert _enters(early, ASK, BEARER)  # a stranger is let in: the application refuses the key
    early.knows(BEARER[1], "a")
    assert not _enters(early, ASK, BEARER)
    assert _enters(early, ASK, BEARER, BEARER)  # two headers: the application has a line for that
    held.leave()


def test_keys_are_kept_as_digests_and_in_a_bounded_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_KEYS", 3)
    early = _refusing(keyed=True)
    for number in range(9):
        early.knows(b"Bearer %d" % number, "a")
    kept = vars(early)["_tenants"]
    assert len(kept) == 3
    assert not any(b"Bearer" in digest for digest in kept)


async def test_of_many_that_enter_one_begins_in_each_turn_of_the_loop() -> None:
    early, begun = _refusing(), list[int]()
    for number in range(3):
        early.begin(partial(begun.append, number))
    seen = []
    for _ in range(4):
        await asyncio.sleep(0)
        seen.append(len(begun))
    assert seen == [1, 2, 3, 3]
    early.begin(partial(begun.append, 3))
    await asyncio.sleep(0)
    assert begun == [0, 1, 2, 3]


async def test_none_begins_while_others_are_refused_unless_that_lasts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, begun = [100.0], list[int]()
    monkeypatch.setattr("helix.overload.entry.time.monotonic", lambda: now[0])
    early, loop = _refusing(most=1, waiting=0), asyncio.get_running_loop()
    later = list[tuple[float, Callable[[], None]]]()
    monkeypatch.setattr(
        "helix.overload.entry.asyncio.get_running_loop",
        lambda: Later(loop.call_soon, later),
    )

    async def refused_for(seconds: float) -> None:
        now[0] += seconds
        assert isinstance(early.look(*ASK, []), bytes)
        for _, call in [later.pop() for _ in later]:
            call()
        await asyncio.sleep(0)

    assert _enters(early, ASK)
    await refused_for(0)
    early.begin(partial(begun.append, 1))
    await refused_for(0)
    for _ in range(3):
        await refused_for(module.QUIET_SECONDS / 2)
    assert not begun
    ((pause, quiet),) = later
    now[0] += pause
    quiet()
    assert begun == [1]
    early.begin(partial(begun.append, 2))
    await refused_for(0)
    await refused_for(module.PATIENCE_SECONDS)
    assert begun == [1, 2]


async def test_none_begins_while_many_connect_unless_that_lasts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, begun = [100.0], list[int]()
    monkeypatch.setattr("helix.overload.entry.time.monotonic", lambda: now[0])
    early = _refusing(most=3)

    async def turn(connections: int) -> None:
        for _ in range(connections):
            early.connected()
        await asyncio.sleep(0)

    for number in range(3):
        early.begin(partial(begun.append, number))
    for _ in range(3):
        await turn(module.MANY_CONNECTIONS)
    assert not begun
    await turn(module.MANY_CONNECTIONS - 1)
    assert begun == [0]
    await turn(module.MANY_CONNECTIONS)
    assert begun == [0]
    now[0] += module.PATIENCE_SECONDS
    for _ in range(2):
        await turn(module.MANY_CONNECTIONS)
    assert begun == [0, 1, 2]


@pytest.fixture
def full(module_database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    """A client of a server whose one place is taken, and has no room to wait for it."""
    hold, started = threading.Event(), threading.Event()

    async def held(*_: object) -> object:
        started.set()
        while not hold.is_set():
            await asyncio.sleep(0.01)
        raise Overloaded  # the answer itself is not of interest

    monkeypatch.setattr("helix.answering.pipeline.AnswerRequest.run_json", held)
    with (
        live(module_database_url, answers=1, answers_waiting=0) as client,
        ThreadPoolExecutor(1) as thread,
    ):
        answer = thread.submit(client.post, "/v1/query", json={"question": "How long?"})
        assert started.wait(10)
        yield client
        hold.set()
        assert answer.result().status_code == 503


def test_a_head_is_refused_as_the_application_does_and_counts_it(full: httpx.Client) -> None:
    ids = {"X-Request-ID": "mine"}
    by_head = full.get("/ask", params={"q": "How long?"}, headers=ids)
    # no tenant by its head: the application decides
    inside = full.get(
        "/ask", params={"q": "How long?"}, headers=ids | {"Origin": str(full.base_url)}
    )
    assert by_head.status_code == inside.status_code == 503
    assert by_head.content == inside.content
    for answer in (by_head, inside):
        del answer.headers["date"]
    assert dict(by_head.headers) == dict(inside.headers)
    counted = 'helix_http_requests_total{method="GET",route="/ask",status="503"} 2.0'
    assert counted in full.get("/metrics").text


def test_a_refused_connection_brings_its_next_request(
    full: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_UNKNOWN", 0)
    ask = b"GET /ask?q=what HTTP/1.1\r\nHost: localhost\r\n\r\n"
    query = b"POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n\r\nsecret"
    probe = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", full.base_url.port or 0), timeout=10) as client:
        client.sendall(ask + query + ask + probe)  # the refused body is no request
        received = b"".join(iter(partial(client.recv, 65536), b""))
    assert received.count(b"HTTP/1.1 503 ") == 3
    assert received.count(b"HTTP/1.1 ") == 4
    assert received.endswith(b'{"ok":true}')
    with socket.create_connection(("127.0.0.1", full.base_url.port or 0), timeout=10) as client:
        client.sendall(b"GET /ask?q=what HTTP/1.0\r\n\r\n")
        closed = b"".join(iter(partial(client.recv, 65536), b""))
    assert closed.startswith(b"HTTP/1.1 503 ") and b"connection: close\r\n" in closed


def test_a_question_that_is_refused_otherwise_keeps_no_place(
    module_database_url: str,
) -> None:
    with live(module_database_url, answers=1, answers_waiting=0) as client:
        for _ in range(5):  # a ticket that was kept would keep its place for good
            assert client.get("/ask").status_code == 400
        with contextlib.closing(socket.create_connection(("127.0.0.1", client.base_url.port or 0))):
            pass
        assert client.get("/ask", params={"q": "What is known?"}).status_code == 200
