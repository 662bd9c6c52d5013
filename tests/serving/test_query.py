"""POST /v1/query of the real application: answers, reasons, scopes, events, traces."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest

from helix.answering.question import CEILING_MARGIN
from helix.domain.contract import REFUSAL
from helix.providers.factories import build_embedder
from helix.settings import load_settings
from helix.store import ChunkStore
from tests.support.fake_embedder import rows
from tests.support.live_server import live
from tests.support.query_service import (
    KEYS,
    LABEL,
    LONG,
    QUESTION,
    REFUNDS,
    SHIPPING,
    asked,
    events_of,
    lasting,
    post,
    store_text,
)
from tests.support.service_process import eventually
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer


def test_an_answer_and_the_exact_characters_it_cites(
    client: httpx.Client, stored: dict[str, int], module_database_url: str
) -> None:
    response = post(client, conversation_id="c\n1")
    answer = response.json()
    assert list(answer) == [*KEYS[:-2], "turn", *KEYS[-2:], "conversation_id"]
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
    assert citation["snippet"].startswith(citation["quote"])
    (statement,) = answer["support"]["statements"]
    assert {citation["label"], *(span["label"] for span in statement["spans"])} == {LABEL}


def test_a_chunk_without_marks_has_no_quote(client: httpx.Client) -> None:
    (citation,) = asked(client, question="Do warranty claims need a receipt?")["citations"]
    assert citation["snippet"] == "Warranty claims need a receipt."
    assert [citation[key] for key in ("quote", "start", "end")] == [None, None, None]


def test_the_same_as_events(client: httpx.Client) -> None:
    whole = asked(client, question="software ☃ süß 𝕏 stays with whoever bought it")
    response = post(
        client, question="software ☃ süß 𝕏 stays with whoever bought it", stream=True,
        conversation_id="c-1",
    )  # fmt: skip
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["cache-control"] == "no-cache"
    assert response.headers["x-accel-buffering"] == "no"
    *tokens, (cited, citations), (last, done) = events_of(response.content)
    assert {name for name, _ in tokens} == {"token"} and (cited, last) == ("citations", "done")
    assert "".join(data["t"] for _, data in tokens) == whole["answer"]
    assert "☃" in whole["answer"]
    assert citations == whole["citations"]
    assert list(done) == [*KEYS[2:-2], "turn", *KEYS[-2:], "conversation_id"]
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
    answer = asked(client, **body)
    assert lasting(answer) == {
        "answer": REFUSAL, "citations": [], "abstained": True, "reason": reason,
        "clarifying_question": None,
    }  # fmt: skip
    (token, citations, (_, done)) = events_of(post(client, **body, stream=True).content)
    assert (token, citations) == (("token", {"t": REFUSAL}), ("citations", []))
    assert (done["abstained"], done["reason"]) == (True, reason)
    assert len(wire.received("generate")) == before


def test_a_question_just_beyond_the_gate_is_asked_back(client: httpx.Client) -> None:
    question = "quagga okapi zebra giraffe lion Norway"
    answer = asked(client, question=question, debug=True)
    gate = answer["debug"]["gate"]
    assert gate["ceiling"] < gate["best"] <= gate["ceiling"] + CEILING_MARGIN
    assert answer["reason"] == "below_gate"
    assert answer["clarifying_question"] == 'Do you mean something in "Shipping" ("Rules")?'


def test_a_model_that_refuses(client: httpx.Client, wire: GeminiWire) -> None:
    wire.script(Answer(deltas=("“I don’t have that ", "in the provided documents” [1]")))
    answer = asked(client, top_k=1, debug=True)
    assert lasting(answer) == {
        "answer": REFUSAL, "citations": [], "abstained": True, "reason": "model_refused",
        "clarifying_question": 'Do you mean something in "Refund Policy" ("Rules")?',
    }  # fmt: skip
    assert answer["debug"]["seconds"]["model"] > 0


def test_debug_changes_no_answer_and_tells_no_text(client: httpx.Client) -> None:
    for body in ({"top_k": 1}, {"top_k": 2, "question": "parcels working days"}):
        plain, told = asked(client, **body), asked(client, **body, debug=True)
        debug = told.pop("debug")
        assert list(told) == list(plain)
        assert lasting(told) == lasting(plain)
        near = debug["candidates"]["near"]
        assert len(near) > 2
        assert [row["rank"] for row in near] == list(range(1, len(near) + 1))
        distances = [row["distance"] for row in near]
        assert distances == sorted(distances) == [round(d, 6) for d in distances]
        gate = {"ceiling": 0.8, "best": distances[0], "by_name": False, "by_evidence": False}
        assert debug["gate"] == gate
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
    events = events_of(post(client, stream=True, debug=True).content)
    assert events[-1][1]["debug"]["sources"]
    assert "debug" not in events_of(post(client, stream=True).content)[-1][1]


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
    found = asked(client, **body, debug=True)["debug"]["candidates"]["near"]
    held = "SELECT DISTINCT title FROM chunks JOIN documents d ON d.id = document_id"
    ids = [row["chunk_id"] for row in found]
    named = rows(module_database_url, held + " WHERE chunks.id = ANY(%s)", ids)
    assert {title for (title,) in named} == titles


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


def test_no_text_is_logged(client: httpx.Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG", "helix"):
        asked(client, question="zanzibar okapi", conversation_id="secret-conversation")
        asked(client)
        assert eventually(lambda: caplog.text.count("POST /v1/query 200") >= 2)
    assert "gate refused" in caplog.text
    for told in ("zanzibar", "secret-conversation", "refund", "30 days", "wire-test-key"):
        assert told not in caplog.text


def test_the_offline_provider_answers(database_url: str) -> None:
    model = build_embedder(
        load_settings(database_url=database_url, llm="offline", embedder="offline")
    )
    store = ChunkStore(database_url, model.identity)
    store_text(store, "a/refunds.md", "Refund Policy", REFUNDS, model=model.model)
    store.connections._writing.close()
    with live(database_url) as client:
        answer = asked(client)
        assert answer["answer"].startswith("Refunds are accepted within 30 days of purchase")
        assert answer["citations"][0]["quote"] == REFUNDS.split("\n\n")[0]
        refused = asked(client, question="What is the capital of Mongolia?")
        assert (refused["reason"], refused["citations"]) == ("below_gate", [])


def test_the_request_is_described(client: httpx.Client) -> None:
    operation = client.get("/openapi.json").json()["paths"]["/v1/query"]["post"]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    assert {"question", "tenant_id", "filters", "stream"} <= set(schema["properties"])
    assert set(schema["properties"]["filters"]["properties"]) == {
        "source_prefix", "tags", "since", "until", "company", "kind", "metadata",
    }  # fmt: skip
    assert {"400", "502", "default"} <= set(operation["responses"])
