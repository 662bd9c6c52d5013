"""The client with a server that is full, breaks off, or is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

import httpx
import pytest

from helix.client import (
    AsyncHelix,
    Helix,
    IncompleteStream,
    InvalidResponse,
    RateLimited,
    Run,
    ServerTimeout,
    Unreachable,
    calls,
    outcomes,
)
from helix.errors import BadRequest, Unavailable
from tests.support.scripted_server import Reply, scripted

ANSWER = {
    "answer": "Yes. [1]", "citations": [], "abstained": False, "answer_id": "a" * 32,
    "support": {"ratio": None, "statements": []}, "a_key_of_tomorrow": 1,
}  # fmt: skip
GIVEN = Reply(json.dumps(ANSWER).encode())
Uses = tuple[Callable[[], object], ...]
FULL = Reply(b'{"error": "too many questions"}', 503, {"Retry-After": "0"})
TOKENS = b'event: token\ndata: {"t":"Yes\xe2\x80\xa8. "}\n\nevent: token\ndata: {"t":"[1]"}\n\n'
DONE = (
    b'event: citations\ndata: []\n\nevent: done\ndata: {"abstained":false,"answer_id":"b",'
    b'"support":{"ratio":null,"statements":[]}}\n\n'
)


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcomes, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr("helix.client.asynchronous.FIRST_PAUSE_SECONDS", 0.001)


def test_a_full_server_is_asked_again() -> None:
    with scripted(FULL, FULL, GIVEN) as server, Helix(server.url) as client:
        assert client.query("?").answer == "Yes. [1]"
        assert len(server.asked) == 3
    limited = Reply(b'{"error": "HELIX_LIMIT"}', 429, {"Retry-After": "0"})
    with scripted(limited) as server, Helix(server.url, retries=1) as client:
        with pytest.raises(RateLimited, match="HELIX_LIMIT"):
            client.query("?")
        assert len(server.asked) == 2


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b'{"error": "the model failed"}', 502),
        Reply(b'{"error": "the day is over"}', 503, {"Retry-After": "40000"}),
        Reply(b"{", cut=True),  # nobody knows what came of it
    ],
    ids=["failed", "long", "cut"],
)
def test_a_question_is_not_asked_twice_in_vain(reply: Reply) -> None:
    with scripted(reply, GIVEN) as server, Helix(server.url) as client:
        with pytest.raises(Unavailable):
            client.query("?")
        assert len(server.asked) == 1


def test_a_stream_that_breaks_off_is_no_answer() -> None:
    for reply in (Reply(TOKENS), Reply(TOKENS, cut=True)):
        with scripted(reply) as server, Helix(server.url) as client, client.ask("?") as stream:
            pieces = []
            with pytest.raises(IncompleteStream):
                for piece in stream:
                    pieces.append(piece)  # noqa: PERF402  those before the break count
                stream.answer()
            assert pieces == ["Yes\u2028. ", "[1]"]
    with scripted(Reply(TOKENS + DONE)) as server, Helix(server.url) as client:
        with client.ask("?") as stream:
            assert stream.answer().answer == "Yes\u2028. [1]"
        with client.ask("?") as stream:
            assert [frame.event for frame in stream.frames()][-1] == "done"
            assert stream.answer().answer_id == "b"
    told = TOKENS + b'event: error\ndata: {"error":"the model broke off"}\n\n'
    with scripted(Reply(told)) as server, Helix(server.url) as client, client.ask("?") as stream:
        with pytest.raises(Unavailable, match="the model broke off"):
            list(stream)
        with pytest.raises(Unavailable, match="the model broke off"):
            stream.answer()


def test_leaving_early_closes_the_connection() -> None:
    held = Reply(TOKENS, headers={"Content-Type": "text/event-stream"}, held=True)
    with scripted(held) as server, Helix(server.url) as client:
        with client.ask("?") as stream:
            assert next(iter(stream)) == "Yes\u2028. "
        assert server.left.wait(10)


def test_a_run_is_followed_across_connections() -> None:
    first = b'id: 3\nevent: run\ndata: {"id":1,"status":"running","counts":{}}\n\n'
    last = b'id: 4\nevent: run\ndata: {"id":1,"status":"done","counts":{"added":1}}\n\n'
    with scripted(Reply(first, cut=True), Reply(b""), Reply(last)) as server:
        with Helix(server.url) as client:
            assert client.wait(1) == Run(1, "done", {"added": 1})
        sent = [headers.get("last-event-id") for _, _, headers in server.asked]
        assert sent == [None, "3", "3"]
    with scripted(Reply(first), Reply(b"")) as server, Helix(server.url, retries=1) as client:
        changes = client.follow(1)
        assert next(changes) == Run(1, "running")
        with pytest.raises(IncompleteStream):
            next(changes)


def test_who_answers_is_no_helix() -> None:
    for body, status in ((b"<html>", 200), (b"[]", 200), (b"<html>", 500), (b"{}", 200)):
        with scripted(Reply(body, status)) as server, Helix(server.url) as client:
            with pytest.raises(InvalidResponse) as told:
                client.query("?")
            assert "server" in str(told.value)
    with scripted(Reply(b'{"error": "Not Found"}', 404)) as server, Helix(server.url) as client:
        nothing = client.documents()
        with pytest.raises(InvalidResponse):
            next(nothing)
    with Helix("http://127.0.0.1:1") as client, pytest.raises(Unreachable, match="no server"):
        client.query("?")
    held = Reply(b"", held=True)
    with scripted(held) as server, Helix(server.url, timeout=60) as client:
        client._helix._opened.keywords["timeout"] = httpx.Timeout(0.001, connect=60)
        with pytest.raises(ServerTimeout):
            client.query("?")


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (lambda client: client.query("\ud800"), "cannot be sent: 'utf-8' codec can't encode"),
        (lambda client: client.search("\ud800"), "cannot be sent: 'utf-8' codec can't encode"),
        (lambda client: client.query("?", top_k=float("nan")), "cannot be sent: Out of range"),
        (lambda client: client.upload("/no/such"), "'/no/such' cannot be read: No such file or"),
        (lambda client: client.upload("a\0b"), r"'a\\x00b' cannot be read: embedded null"),
        (lambda client: client.upload(metadata={"a": {1}}), "cannot be sent: Object of type set"),
        (lambda client: client.upload(("\ud800", b"")), "cannot be sent: 'utf-8' codec can't"),
    ],
)
def test_what_cannot_be_sent_is_told_and_nothing_is(
    sent: Callable[[Helix], object], told: str
) -> None:
    with scripted(GIVEN) as server, Helix(server.url) as client:
        with pytest.raises(BadRequest, match=told):
            sent(client)
        assert not server.asked


def test_a_closed_client_says_so_and_may_be_closed_again() -> None:
    with scripted(Reply(TOKENS), GIVEN) as server:
        client = Helix(server.url)
        stream = client.ask("?")
        pieces = iter(stream)
        next(pieces)
        stream.close()
        for _ in range(2):
            client.close()
            stream.close()
        later: Uses = (partial(client.query, "?"), stream.answer, partial(list, client.documents()))
        for use in later:
            with pytest.raises(BadRequest, match="the client is closed: make another"):
                use()


async def test_a_closed_client_of_an_event_loop_says_so() -> None:
    client = AsyncHelix("http://127.0.0.1:1")
    await client.aclose()
    with pytest.raises(BadRequest, match="the client is closed: make another"):
        await client.query("?")


@pytest.mark.parametrize(
    "body", [b'{"documents":3,"next":null}', b'{"documents":[3],"next":null}', b'{"results":[3]}']
)
def test_json_of_another_server_is_none_of_helix(body: bytes) -> None:
    with scripted(*[Reply(body)] * 3) as server, Helix(server.url) as client:
        asked: Uses = (partial(client.search, "?"), partial(list, client.documents()),
                 partial(client.upload, ("a", b"")))  # fmt: skip
        for use in asked:
            with pytest.raises(InvalidResponse):
                use()
    garbled = Reply(b"garbage", headers={"Content-Encoding": "gzip"})
    with scripted(garbled) as server, Helix(server.url) as client, pytest.raises(InvalidResponse):
        client.query("?")


@pytest.mark.parametrize(
    "event", [b"token\ndata: 3", b"done\ndata: 3", b"error\ndata: {}", b'token\ndata: {"t":3}']
)
def test_an_event_that_is_none_ends_the_stream(event: bytes) -> None:
    with scripted(Reply(b"event: " + event + b"\n\n")) as server, Helix(server.url) as client:
        with client.ask("?") as stream, pytest.raises(InvalidResponse):
            stream.answer()
        with pytest.raises(InvalidResponse):
            client.query("?")


def test_a_change_of_a_run_that_is_none_ends_its_wait() -> None:
    change = Reply(b"event: run\ndata: 3\n\n")
    with scripted(change) as server, Helix(server.url) as client, pytest.raises(InvalidResponse):
        client.wait(1)


def test_the_moment_of_a_question_is_sent_as_text() -> None:
    moment, text = datetime(2026, 1, 1, tzinfo=UTC), "2026-01-01T00:00:00+00:00"
    sent = calls.query("?", {"as_of": moment, "filters": {"since": moment, "kind": "a"}}).json
    assert sent == {"question": "?", "as_of": text, "filters": {"since": text, "kind": "a"}}


def test_what_is_left_out_of_an_address_is_nothing_but_what_was_not_given() -> None:
    assert calls.search("?", {"top_k": 0, "company": ""}).params == {"q": "?", "top_k": 0}


@pytest.mark.parametrize(
    "url",
    [
        "", "localhost:8080", "http://", "http://localhost:99999", "http://localhost:abc",
        "http://\ud800",
    ],
)  # fmt: skip
def test_what_is_no_address_is_told_before_anything_is_sent(url: str) -> None:
    with pytest.raises(BadRequest, match="is no address: give one like http://localhost:8080"):
        Helix(url)


def test_a_key_read_with_its_line_end_is_the_key() -> None:
    with scripted(GIVEN) as server, Helix(server.url, key="hx_abc\n") as client:
        client.query("?")
        assert server.asked[0][2]["authorization"] == "Bearer hx_abc"


@pytest.mark.parametrize("key", ["hx_…", "ключ", "hx_a\nb"])
def test_a_key_that_no_header_can_hold_is_told_in_one_line(key: str) -> None:
    with pytest.raises(BadRequest, match=r"^the API key has characters that none has"):
        Helix("http://127.0.0.1:1", key=key)
