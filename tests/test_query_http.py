"""POST /v1/query of the real application: answers, reasons, events, failures, clients gone."""

from __future__ import annotations

import json
import random
import re
import socket
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx
import psycopg
import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import TextNode

from helix.answering import NEARLY
from helix.contract import REFUSAL
from helix.providers import build_embedder
from helix.settings import load_settings
from helix.store import ChunkStore
from tests.fakes import WordEmbedding, nodes_of, record, rows
from tests.live import live
from tests.service import eventually
from tests.test_filter_fuzz import encoded, request_body
from tests.wire.gemini import GeminiWire
from tests.wire.gemini_replies import Answer, refused_key

QUESTION = "How long do I have to request a refund?"
REFUNDS = """\
Refunds are accepted within 30 days of purchase, request a refund by letter.

Gift cards cannot be returned once they were opened by the buyer.

Opened software stays with whoever bought it, süß ☃ 𝕏 and all."""
SHIPPING = "Standard parcels take four working days to Norway.\n\nExpress parcels take one day."
KEYS = [
    "answer", "citations", "abstained", "reason", "clarifying_question", "support", "answer_id",
    "trace_id",
]  # fmt: skip
LONG = [
    "n", "chunk_id", "document_id", "title", "heading_path", "page", "snippet", "quote", "start",
    "end",
]  # fmt: skip


def _write(
    store: ChunkStore,
    uri: str,
    title: str,
    text: str,
    tags: tuple[str, ...] = (),
    model: BaseEmbedding | None = None,
) -> int:
    """Store ``text`` as an ingest does, a chunk a paragraph, each under the heading ``Rules``."""
    document = replace(record(uri, text, title), tags=tags)
    reference = store.reserve(uri)
    nodes: list[TextNode] = nodes_of(document, str(reference))
    for node in nodes:
        node.id_ = f"{reference}-{node.id_}"
        node.metadata |= {"page": 3, "heading_path": [title, "Rules"]}
        if model:
            node.embedding = model.get_text_embedding(node.text)
    store.stage(str(reference), document)
    store.add(nodes)
    return reference


@pytest.fixture(scope="module")
def wire() -> Iterator[GeminiWire]:
    with GeminiWire() as server, pytest.MonkeyPatch.context() as patch:
        for name in ("GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"):
            patch.delenv(name, raising=False)
        patch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        yield server


@pytest.fixture(scope="module")
def store(module_database_url: str) -> Iterator[ChunkStore]:
    store = ChunkStore(module_database_url, "gemini:gemini-embedding-001:1536")
    yield store
    store._connections._writing.close()


@pytest.fixture(scope="module")
def stored(store: ChunkStore) -> dict[str, int]:
    """Ids by name; ``bare`` says of no chunk where it lies."""
    bare = TextNode(
        id_="bare", text="Warranty claims need a receipt.", embedding=WordEmbedding(model_name="w")
        .get_text_embedding("Warranty claims need a receipt."), metadata={"title": "Bare"},
    )  # fmt: skip
    store.add([bare])
    unmark = (
        "UPDATE chunks SET metadata_ = metadata_ - '{start_char,end_char}'::text[] RETURNING id"
    )
    rows(store.url, unmark)
    ids = {
        "refunds": _write(store, "a/refunds.md", "Refund Policy", REFUNDS, ("policy", "eu")),
        "shipping": _write(store, "b/shipping.md", "Shipping", SHIPPING, ("policy",)),
        "acme": _write(store.of("acme"), "a/refunds.md", "Acme", "Acme refunds a request never."),
    }
    rows(
        store.url,
        "UPDATE documents SET updated_at = '2020-01-01T12:00:00Z' WHERE id = %s RETURNING id",
        ids["shipping"],
    )
    return ids


@pytest.fixture(scope="module")
def client(
    wire: GeminiWire, stored: dict[str, int], module_database_url: str
) -> Iterator[httpx.Client]:
    with live(
        module_database_url, llm="gemini", embedder="gemini", gemini_api_key="wire-test-key",
        retrieval_max_distance=0.8,
    ) as client:  # fmt: skip
        yield client


def _post(client: httpx.Client, **body: Any) -> httpx.Response:
    return client.post("/v1/query", json={"question": QUESTION, **body})


def _asked(client: httpx.Client, **body: Any) -> dict[str, Any]:
    response = _post(client, **body)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def _events(content: bytes) -> list[tuple[str, Any]]:
    frames = [frame for frame in content.decode().split("\n\n") if not frame.startswith(":")]
    assert frames.pop() == ""
    found = [re.fullmatch(r"event: (\w+)\ndata: (.*)", frame) for frame in frames]
    return [(match[1], json.loads(match[2])) for match in found if match or pytest.fail(str(found))]


def _lasting(answer: dict[str, Any]) -> dict[str, Any]:
    """What two answers to one question have in common."""
    return {key: answer[key] for key in KEYS[:5]}


def test_an_answer_and_the_exact_characters_it_cites(
    client: httpx.Client, stored: dict[str, int], module_database_url: str
) -> None:
    response = _post(client, conversation_id="c\n1")
    answer = response.json()
    assert list(answer) == [*KEYS, "conversation_id"]
    assert answer["answer"].startswith("Refunds are accepted within 30 days")
    assert (answer["abstained"], answer["reason"], answer["clarifying_question"]) == (
        False, None, None,
    )  # fmt: skip
    assert answer["conversation_id"] == "c\n1"
    for name in ("answer_id", "trace_id"):
        assert re.fullmatch("[0-9a-f]{32}", answer[name])
        assert response.headers["x-" + name.replace("_", "-")] == answer[name]
    (citation,) = answer["citations"]
    assert list(citation) == LONG
    (text,) = rows(
        module_database_url, "SELECT text FROM documents WHERE id = %s", stored["refunds"]
    )[0]
    assert citation["quote"] == text[citation["start"] : citation["end"]]
    assert citation["quote"].startswith("Refunds are accepted")
    assert (citation["document_id"], citation["title"]) == (stored["refunds"], "Refund Policy")
    assert (citation["heading_path"], citation["page"]) == (["Refund Policy", "Rules"], 3)


def test_a_chunk_without_marks_has_no_quote(client: httpx.Client) -> None:
    (citation,) = _asked(client, question="Do warranty claims need a receipt?")["citations"]
    assert citation["snippet"] == "Warranty claims need a receipt."
    assert [citation[key] for key in ("quote", "start", "end")] == [None, None, None]


def test_the_same_as_events(client: httpx.Client) -> None:
    whole = _asked(client, question="software ☃ süß 𝕏 stays with whoever bought it")
    response = _post(
        client, question="software ☃ süß 𝕏 stays with whoever bought it", stream=True,
        conversation_id="c-1",
    )  # fmt: skip
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["cache-control"] == "no-cache"
    assert response.headers["x-accel-buffering"] == "no"
    *tokens, (cited, citations), (last, done) = _events(response.content)
    assert {name for name, _ in tokens} == {"token"} and (cited, last) == ("citations", "done")
    assert "".join(data["t"] for _, data in tokens) == whole["answer"]
    assert "☃" in whole["answer"]
    assert citations == whole["citations"]
    assert list(done) == [*KEYS[2:], "conversation_id"]
    assert response.headers["x-answer-id"] == done["answer_id"] != whole["answer_id"]
    assert response.headers["x-trace-id"] == done["trace_id"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"tenant_id": "nobody"}, "no_documents"),
        ({"tenant_id": "nobody", "document_ids": [1]}, "no_documents"),
        ({"filters": {"tags": ["policy", "us"]}}, "filtered_empty"),
        ({"filters": {"source_prefix": "A/"}}, "filtered_empty"),
        ({"filters": {"until": "2019-12-31T00:00:00Z"}}, "filtered_empty"),
        ({"document_ids": [2**63 - 1, 0]}, "filtered_empty"),
        ({"question": "zebra quagga okapi"}, "below_gate"),
    ],
)
def test_reasons_without_a_model_call(
    client: httpx.Client, wire: GeminiWire, body: dict[str, Any], reason: str
) -> None:
    before = len(wire.received("generate"))
    answer = _asked(client, **body)
    assert _lasting(answer) == {
        "answer": REFUSAL, "citations": [], "abstained": True, "reason": reason,
        "clarifying_question": None,
    }  # fmt: skip
    (token, citations, (_, done)) = _events(_post(client, **body, stream=True).content)
    assert (token, citations) == (("token", {"t": REFUSAL}), ("citations", []))
    assert (done["abstained"], done["reason"]) == (True, reason)
    assert len(wire.received("generate")) == before


def test_a_question_just_beyond_the_gate_is_asked_back(client: httpx.Client) -> None:
    question = "quagga okapi zebra giraffe lion Norway"
    answer = _asked(client, question=question, debug=True)
    gate = answer["debug"]["gate"]
    assert gate["ceiling"] < gate["best"] <= gate["ceiling"] + NEARLY
    assert answer["reason"] == "below_gate"
    assert answer["clarifying_question"] == 'Do you mean something in "Shipping" ("Rules")?'


def test_a_model_that_refuses(client: httpx.Client, wire: GeminiWire) -> None:
    wire.script(Answer(deltas=("“I don’t have that ", "in the provided documents” [1]")))
    answer = _asked(client, top_k=1, debug=True)
    assert _lasting(answer) == {
        "answer": REFUSAL, "citations": [], "abstained": True, "reason": "model_refused",
        "clarifying_question": 'Do you mean something in "Refund Policy" ("Rules")?',
    }  # fmt: skip
    assert answer["debug"]["seconds"]["model"] > 0


def test_debug_changes_no_answer_and_tells_no_text(client: httpx.Client) -> None:
    for body in ({"top_k": 1}, {"top_k": 2, "question": "parcels working days"}):
        plain, told = _asked(client, **body), _asked(client, **body, debug=True)
        debug = told.pop("debug")
        assert list(told) == list(plain)
        assert _lasting(told) == _lasting(plain)
        near = debug["candidates"]["near"]
        assert len(near) > 2
        assert [row["rank"] for row in near] == list(range(1, len(near) + 1))
        distances = [row["distance"] for row in near]
        assert distances == sorted(distances) == [round(d, 6) for d in distances]
        assert debug["gate"] == {"ceiling": 0.8, "best": distances[0], "by_name": False}
        fused = debug["candidates"]["fused"]
        assert {row["chunk_id"] for row in fused} == {row["chunk_id"] for row in near}
        assert [set(row) for row in fused] == [{"chunk_id", "fused", "rank"}] * len(fused)
        scores = [row["score"] for row in debug["candidates"]["lexical"]]
        assert scores == sorted(scores, reverse=True) and min(scores) > 0
        cited = [chunk for source in debug["sources"] for chunk in source["chunk_ids"]]
        assert set(cited) == {row["chunk_id"] for row in fused[: body["top_k"]]}
        assert debug["tokens"]["context"] == sum(source["tokens"] for source in debug["sources"])
        assert debug["tokens"]["answer"] > 0 and debug["terms"] is None
        seconds = debug["seconds"]
        assert list(seconds) == ["rewrite", "embed", "search", "rerank", "model", "total"]
        assert sum(seconds.values()) - seconds["total"] <= seconds["total"] + 1e-5
        assert seconds["search"] > 0 and seconds["model"] > 0
        spoken = re.findall(r"[A-Za-z]{5,}", REFUNDS + SHIPPING)
        assert not [word for word in spoken if word in json.dumps(debug)]


def test_debug_of_a_stream_comes_with_its_end(client: httpx.Client) -> None:
    events = _events(_post(client, stream=True, debug=True).content)
    assert events[-1][1]["debug"]["sources"]
    assert "debug" not in _events(_post(client, stream=True).content)[-1][1]


@pytest.mark.parametrize(
    ("body", "titles"),
    [
        ({}, {"Refund Policy", "Shipping", "Bare"}),
        ({"tenant_id": "default"}, {"Refund Policy", "Shipping", "Bare"}),
        ({"tenant_id": "acme"}, {"Acme"}),
        ({"document_ids": ["shipping"]}, {"Shipping"}),
        ({"document_ids": ["shipping", "acme"]}, {"Shipping"}),
        ({"filters": {"source_prefix": "a/"}}, {"Refund Policy"}),
        ({"filters": {"tags": ["eu"]}}, {"Refund Policy"}),
        (
            {"filters": {"tags": ["policy"], "since": "2021-01-01T00:00:00+02:00"}},
            {"Refund Policy"},
        ),
        (
            {"filters": {"since": "2020-01-01T12:00:00Z", "until": "2020-01-01T13:00:00+01:00"}},
            {"Shipping"},
        ),
        (
            {"filters": {"since": None}, "top_k": None, "stream": None},
            {"Refund Policy", "Shipping", "Bare"},
        ),
    ],
)
def test_only_what_was_asked_for_is_searched(
    client: httpx.Client,
    stored: dict[str, int],
    module_database_url: str,
    body: dict[str, Any],
    titles: set[str],
) -> None:
    if "document_ids" in body:
        body = body | {"document_ids": [stored[name] for name in body["document_ids"]]}
    found = _asked(client, **body, debug=True)["debug"]["candidates"]["near"]
    held = "SELECT DISTINCT title FROM chunks JOIN documents d ON d.id = document_id"
    ids = [row["chunk_id"] for row in found]
    named = rows(module_database_url, held + " WHERE chunks.id = ANY(%s)", ids)
    assert {title for (title,) in named} == titles


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


TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        (f"00-{TRACE}-00f067aa0ba902b7-01", True),
        (f"cc-{TRACE}-00f067aa0ba902b7-01-more", True),
        (f"00-{TRACE}-00f067aa0ba902b7-01-more", False),
        (f"ff-{TRACE}-00f067aa0ba902b7-01", False),
        (f"00-{TRACE.upper()}-00f067aa0ba902b7-01", False),
        (f"00-{TRACE}-0000000000000000-01", False),
        (f"00-{'0' * 32}-00f067aa0ba902b7-01", False),
        (TRACE, False),
    ],
)
def test_a_trace_goes_on(client: httpx.Client, sent: str, taken: bool) -> None:
    asked = {"question": QUESTION, "tenant_id": "nobody"}
    response = client.post("/v1/query", json=asked, headers={"traceparent": sent})
    found = response.json()["trace_id"]
    assert (found == TRACE) is taken and re.fullmatch("[0-9a-f]{32}", found) and found != "0" * 32
    assert response.headers["x-trace-id"] == found


@pytest.mark.parametrize("stream", [False, True])
def test_a_model_or_embedder_that_fails_is_a_502(
    client: httpx.Client, wire: GeminiWire, stream: bool
) -> None:
    wire.script(Answer(deltas=(), block="SAFETY"), on="generate")
    failed = [_post(client, stream=stream)]
    wire.script(refused_key(), on="embed")
    failed += [_post(client, question=f"Unheard of, {stream}", stream=stream)]
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
    response = _post(client)
    assert (response.status_code, list(response.json())) == (502, ["error"])
    events = _events(_post(client, stream=True).content)
    assert [name for name, _ in events] == ["token", "token", "error"]
    assert list(events[-1][1]) == ["error"]


def test_a_database_that_refuses_is_a_500(client: httpx.Client, module_database_url: str) -> None:
    with psycopg.connect(module_database_url, autocommit=True) as owner:
        owner.execute("ALTER TABLE documents RENAME TO gone")
        try:
            response = _post(client)
        finally:
            owner.execute("ALTER TABLE gone RENAME TO documents")
    assert response.status_code == 500 and "schema" in response.json()["error"]
    assert _post(client).status_code == 200


class _Changing:
    """A document that is replaced while it is answered from."""

    def __init__(self, client: httpx.Client, wire: GeminiWire, store: ChunkStore) -> None:
        self.client, self.wire, self.store = client, wire, store
        self.version = 0
        self.replace()

    def replace(self) -> None:
        self.version += 1
        text = f"The harbour opens at {self.version} o'clock."
        _write(self.store, "c/harbour.md", "Harbour", text)

    def asked(self, changes: int, **body: Any) -> httpx.Response:
        """An answer during which, and then during its repetition, the document is replaced."""
        slow = Answer(deltas=("The harbour opens [1]",), delay=0.5)
        before = len(self.wire.received("generate"))
        self.wire.script(*[slow] * changes, on="generate")
        with ThreadPoolExecutor() as pool:
            answer: Future[httpx.Response] = pool.submit(
                _post, self.client, question="When does the harbour open?", **body
            )
            for asked in range(before + 1, before + changes + 1):
                assert self._requests(asked)
                self.replace()
            return answer.result(timeout=30)

    def _requests(self, count: int) -> bool:
        return self.wire.wait_until(lambda wire: len(wire.received("generate")) >= count, 10)


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
    events = _events(changing.asked(1, stream=True).content)
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
        head = f"POST /v1/query HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        leaving.sendall((head + body).encode())
        assert wire.wait_until(lambda w: w.open_streams == 1, 5)
        while stream and b"word" not in leaving.recv(4096):
            continue
    assert wire.wait_until(lambda w: w.open_streams == 0, 5)
    assert wire.wait_until(lambda w: w.abandoned == abandoned + 1, 5)


def test_no_text_is_logged(client: httpx.Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG", "helix"):
        _asked(client, question="zanzibar okapi", conversation_id="secret-conversation")
        _asked(client)
        assert eventually(lambda: caplog.text.count("POST /v1/query 200") >= 2)
    assert "gate refused" in caplog.text
    for told in ("zanzibar", "secret-conversation", "refund", "30 days", "wire-test-key"):
        assert told not in caplog.text


def test_the_offline_provider_answers(database_url: str) -> None:
    model = build_embedder(
        load_settings(database_url=database_url, llm="offline", embedder="offline")
    )
    store = ChunkStore(database_url, model.identity)
    _write(store, "a/refunds.md", "Refund Policy", REFUNDS, model=model.model)
    store._connections._writing.close()
    with live(database_url) as client:
        answer = _asked(client)
        assert answer["answer"].startswith("Refunds are accepted within 30 days of purchase")
        assert answer["citations"][0]["quote"] == REFUNDS.split("\n\n")[0]
        refused = _asked(client, question="What is the capital of Mongolia?")
        assert (refused["reason"], refused["citations"]) == ("below_gate", [])


def test_the_request_is_described(client: httpx.Client) -> None:
    operation = client.get("/openapi.json").json()["paths"]["/v1/query"]["post"]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    assert {"question", "tenant_id", "filters", "stream"} <= set(schema["properties"])
    assert set(schema["properties"]["filters"]["properties"]) == {
        "source_prefix", "tags", "since", "until",
    }  # fmt: skip
    assert {"400", "502", "default"} <= set(operation["responses"])
