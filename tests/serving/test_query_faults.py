"""POST /v1/query where it fails: bad requests, broken models, changed sources, clients gone."""

from __future__ import annotations

import json
import random
import socket
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import httpx
import psycopg
import pytest

from helix.store import ChunkStore
from tests.support.fuzzed_requests import encoded, request_body
from tests.support.query_service import (
    QUESTION,
    events_of,
    post,
    store_text,
)
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer, refused_key


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("{", "body"),
        ('{"question":"a","q":1}', '"q"'),
        ('{"question":"a","filters":{"since":"2026-01-01"}}', "filters.since"),
        ('{"question":"a","tenant_id":"a b"}', "tenant_id"),
        ('{"question":"%s"}' % ("x" * 4001), "question"),
    ],
)
def test_a_bad_request_is_one_line_that_names_the_key(
    client: httpx.Client, body: str, named: str
) -> None:
    response = client.post("/v1/query", content=body)
    assert response.status_code == 400, response.text
    (line,) = response.json().values()
    assert list(response.json()) == ["error"] and "\n" not in line and named in line


def test_fuzzed_requests_are_answered_or_refused(client: httpx.Client) -> None:
    draw = random.Random(1)
    sent = [encoded(request_body(draw, list(range(1, 9)))) for _ in range(40)]
    statuses = Counter(client.post("/v1/query", content=each).status_code for each in sent)
    assert set(statuses) == {200, 400} and min(statuses.values()) > 5


def test_a_body_without_end_is_refused(client: httpx.Client) -> None:
    response = client.post("/v1/query", content=(b" " * 2**16 for _ in range(64)))
    assert (response.status_code, response.json()) == (
        400, {"error": "the body is larger than 1 MB, the limit"},
    )  # fmt: skip


@pytest.mark.parametrize("stream", [False, True])
def test_a_model_or_embedder_that_fails_is_a_502(
    client: httpx.Client, wire: GeminiWire, stream: bool
) -> None:
    wire.script(Answer(deltas=(), block="SAFETY"), on="generate")
    failed = [post(client, stream=stream)]
    wire.script(refused_key(), on="embed")
    failed += [post(client, question=f"Unheard of, {stream}", stream=stream)]
    for response in failed:
        assert response.status_code == 502, response.text
        assert list(response.json()) == ["error"] and "wire-test-key" not in response.text


@pytest.mark.parametrize(
    "broken",
    [
        Answer(deltas=("Half an ", "ans"), then="cut"),
        Answer(deltas=("Half an ", "ans"), finish="SAFETY"),
    ],
    ids=["cut", "safety"],
)
def test_a_model_that_breaks_off(client: httpx.Client, wire: GeminiWire, broken: Answer) -> None:
    wire.script(broken, broken, on="generate")
    response = post(client)
    assert (response.status_code, list(response.json())) == (502, ["error"])
    events = events_of(post(client, stream=True).content)
    assert [name for name, _ in events] == ["token", "token", "error"]
    assert list(events[-1][1]) == ["error"]


def test_a_database_that_refuses_is_a_500(client: httpx.Client, module_database_url: str) -> None:
    with psycopg.connect(module_database_url, autocommit=True) as owner:
        owner.execute("ALTER TABLE documents RENAME TO gone")
        try:
            response = post(client)
        finally:
            owner.execute("ALTER TABLE gone RENAME TO documents")
    assert response.status_code == 500 and "schema" in response.json()["error"]
    assert post(client).status_code == 200


class _Changing:
    """A document that is replaced while it is answered from."""

    def __init__(self, client: httpx.Client, wire: GeminiWire, store: ChunkStore) -> None:
        self.client, self.wire, self.store = client, wire, store
        self.version = 0
        self.replace()

    def replace(self) -> None:
        self.version += 1
        text = f"The harbour opens at {self.version} o'clock."
        store_text(self.store, "c/harbour.md", "Harbour", text)

    def asked(self, changes: int, **body: Any) -> httpx.Response:
        """An answer during which, and then during its repetition, the document is replaced."""
        slow = Answer(deltas=("The harbour opens [1]",), delay=0.5)
        before = len(self.wire.received("generate"))
        self.wire.script(*[slow] * changes, on="generate")
        with ThreadPoolExecutor() as pool:
            answer: Future[httpx.Response] = pool.submit(
                post, self.client, question="When does the harbour open?", **body
            )
            for asked in range(before + 1, before + changes + 1):
                assert self._requests(asked)
                self.replace()
            return answer.result(timeout=30)

    def _requests(self, count: int) -> bool:
        return self.wire.wait_until(lambda wire: len(wire.received("generate")) >= count)


@pytest.fixture(scope="module")
def changing(client: httpx.Client, wire: GeminiWire, store: ChunkStore) -> _Changing:
    return _Changing(client, wire, store)


def test_an_answer_from_a_replaced_version_is_made_anew(changing: _Changing) -> None:
    answer = changing.asked(1).json()
    assert answer["answer"] == f"The harbour opens at {changing.version} o'clock [1]."
    (citation,) = answer["citations"]
    assert citation["quote"] == f"The harbour opens at {changing.version} o'clock."


def test_an_answer_whose_source_changes_twice_is_a_500(changing: _Changing) -> None:
    response = changing.asked(2)
    assert response.status_code == 500 and "changed" in response.json()["error"]


def test_a_stream_whose_source_changes_ends_with_an_error(changing: _Changing) -> None:
    events = events_of(changing.asked(1, stream=True).content)
    assert [name for name, _ in events] == ["token", "error"]
    assert "changed" in events[-1][1]["error"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_leaves_closes_the_models_stream(
    client: httpx.Client, wire: GeminiWire, stream: bool
) -> None:
    abandoned = wire.abandoned
    wire.script(Answer(deltas=("word ",) * 400, delay=0.05), on="generate")
    body = json.dumps({"question": QUESTION, "stream": stream})
    with socket.create_connection((client.base_url.host, client.base_url.port or 80)) as leaving:
        head = f"POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        leaving.sendall((head + body).encode())
        assert wire.wait_until(lambda w: w.open_streams == 1)
        while stream and b"word" not in leaving.recv(4096):
            continue
    assert wire.wait_until(lambda w: w.open_streams == 0)
    assert wire.wait_until(lambda w: w.abandoned == abandoned + 1)
