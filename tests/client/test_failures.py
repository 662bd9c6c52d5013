"""The client with a server that is full, breaks off, or is none."""

from __future__ import annotations

import json

import pytest

from helix.client import (
    Helix,
    IncompleteStream,
    InvalidResponse,
    RateLimited,
    Run,
    ServerTimeout,
    Unreachable,
    outcomes,
)
from helix.errors import BadRequest, Unavailable
from tests.support.scripted_server import Reply, scripted

ANSWER = {
    "answer": "Yes. [1]", "citations": [], "abstained": False, "answer_id": "a" * 32,
    "support": {"ratio": None, "statements": []}, "a_key_of_tomorrow": 1,
}  # fmt: skip
GIVEN = Reply(json.dumps(ANSWER).encode())
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
        client._helix._client.timeout = 0.001
        with pytest.raises(ServerTimeout):
            client.query("?")


@pytest.mark.parametrize(
    "url", ["", "localhost:8080", "http://", "http://localhost:99999", "http://localhost:abc"]
)
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
