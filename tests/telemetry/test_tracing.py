"""Tracing: a request's spans reach a collector under the answer's trace id, and hold no text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from helix.errors import SettingsError
from helix.providers.factories import build_embedder
from helix.settings import load_settings
from helix.store import ChunkStore
from helix.telemetry.build_info import build_tracing
from helix.telemetry.tracing import (
    current_tracer,
    request_span,
    request_trace_id,
    set_attributes,
    set_request_attributes,
    span,
    stream_span,
    within,
)
from tests.support.fake_embedder import nodes_of, record
from tests.support.live_server import OFFLINE, live
from tests.support.otlp_collector import Collector, attributes_of

TEXT = "Marmalade parcels reach Trondheim within nineteen weekdays of the purchase."
QUESTION = "How soon do marmalade parcels reach Trondheim?"
PRIVATE = ("marmalade", "trondheim", "nineteen", "weekdays", "parcels")
TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SAMPLED = {"traceparent": f"00-{TRACE}-{CALLER}-01"}


@pytest.fixture(scope="module")
def filled(module_database_url: str) -> str:
    """A database with one document, embedded offline."""
    embedder = build_embedder(load_settings(database_url=module_database_url, **OFFLINE))
    store = ChunkStore(module_database_url, embedder.identity)
    document = record("parcels.txt", TEXT)
    reference = store.reserve(document.source_uri)
    nodes = nodes_of(document, str(reference))
    for node in nodes:
        node.embedding = embedder.model.get_text_embedding(node.text)
    store.stage(str(reference), document)
    store.add(nodes)
    store.connections.close_writing()
    return module_database_url


@contextmanager
def _traced(url: str, endpoint: str) -> Iterator[httpx.Client]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        patch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
        with live(url, tracing="otlp") as client:
            yield client


@pytest.fixture(scope="module")
def told(filled: str) -> tuple[dict[str, object], Collector]:
    """The answer to one traced question, and the collector that heard of it."""
    with Collector() as collector:
        with _traced(filled, collector.url) as client:
            response = client.post("/v1/query", json={"question": QUESTION}, headers=SAMPLED)
        return response.json(), collector


def test_the_spans_of_an_answer_have_its_trace_id(
    told: tuple[dict[str, object], Collector],
) -> None:
    answer, collector = told
    assert answer["abstained"] is False and answer["trace_id"] == TRACE
    spans = collector.spans
    assert {one.trace_id.hex() for one in spans} == {TRACE}
    [server] = [one for one in spans if one.kind == Span.SPAN_KIND_SERVER]
    assert server.name == "POST /v1/query"
    assert server.parent_span_id.hex() == CALLER
    ids = {one.span_id for one in spans}
    assert len(ids) == len(spans) > 8
    assert all(one.parent_span_id in ids for one in spans if one is not server)


def test_each_stage_is_a_span_and_llamaindexs_are_below_it(
    told: tuple[dict[str, object], Collector],
) -> None:
    named = {one.name: one for one in told[1].spans}
    assert {"embed", "search", "gate", "model", "prove", "receipt"} <= set(named)
    embedding, chat = (
        named["OfflineEmbedding.aget_query_embedding"],
        named["OfflineLLM.astream_chat"],
    )
    assert embedding.parent_span_id == named["embed"].span_id
    assert chat.parent_span_id == named["model"].span_id
    assert sum(one.name == "model" for one in told[1].spans) == 1, "one span, however many deltas"
    for name in ("embed", "search", "model"):
        assert named[name].end_time_unix_nano > named[name].start_time_unix_nano


def test_the_requests_span_says_what_came_of_it(
    told: tuple[dict[str, object], Collector],
) -> None:
    answer, collector = told
    found = attributes_of(next(one for one in collector.spans if one.name == "POST /v1/query"))
    assert found["http.route"] == "/v1/query"
    assert found["http.response.status_code"] == 200
    assert found["helix.answer_id"] == answer["answer_id"]
    assert found["helix.outcome"] == "answered"
    assert found["helix.citations"] == 1


def test_no_text_is_in_what_the_collector_got(
    told: tuple[dict[str, object], Collector],
) -> None:
    assert "nineteen" in str(told[0]["answer"])
    sent = b"".join(told[1].bodies).lower()
    assert b"parcels.txt" not in sent
    assert [word for word in PRIVATE if word.encode() in sent] == []
    assert b"/v1/query" in sent, "it is readable as it is: not compressed"


def test_a_caller_that_does_not_sample_is_followed(filled: str) -> None:
    with Collector() as collector, _traced(filled, collector.url) as client:
        headers = {"traceparent": f"00-{TRACE}-{CALLER}-00"}
        answer = client.post("/v1/query", json={"question": QUESTION}, headers=headers).json()
        own = client.get("/ask", params={"q": QUESTION}).headers["x-trace-id"]
    assert answer["trace_id"] == TRACE
    assert {one.trace_id.hex() for one in collector.spans} == {own}


def test_a_collector_that_is_gone_costs_no_answer(filled: str) -> None:
    with _traced(filled, "http://127.0.0.1:9") as client:
        answers = [client.post("/v1/query", json={"question": QUESTION}) for _ in range(3)]
    assert [one.status_code for one in answers] == [200, 200, 200]
    assert len({one.json()["trace_id"] for one in answers}) == 3


def test_without_the_extra_the_line_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "helix.telemetry.otlp", None)  # as Python does if it fails
    with pytest.raises(
        SettingsError, match=r"HELIX_TRACING .* pip install 'helix-answers\[otel\]'"
    ):
        build_tracing("otlp")
    assert build_tracing("off").tracer is None


def test_a_malformed_variable_of_the_sdk_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "-1")
    with pytest.raises(SettingsError, match="HELIX_TRACING"):
        build_tracing("otlp")


def test_outside_of_a_traced_request_spans_are_nothing() -> None:
    with span("search", chunks=3), stream_span("model") as model, within(model) as inner:
        set_attributes(found=1)
        set_request_attributes(found=1)
        assert current_tracer() is inner is request_trace_id() is None
        assert not model.is_recording()


@pytest.mark.parametrize(
    ("sent", "is_valid"),
    [
        ([f"00-{TRACE}-{CALLER}-01"], True),
        ([f" 00-{TRACE}-{CALLER}-00 "], True),
        ([f"01-{TRACE}-{CALLER}-03-later"], True),
        ([f"00-{TRACE}-{CALLER}-01-later"], False),
        ([f"00-{TRACE}-{CALLER}-01"] * 2, False),
        ([f"00-{'0' * 32}-{CALLER}-01"], False),
        ([f"00-{TRACE}-{'0' * 16}-01"], False),
        ([f"ff-{TRACE}-{CALLER}-01"], False),
        ([f"00-{TRACE.upper()}-{CALLER}-01"], False),
        (["00-é"], False),
        ([""], False),
        ([], False),
    ],
)
def test_a_traceparent_is_taken_as_it_is_or_not_at_all(sent: list[str], is_valid: bool) -> None:
    headers = [(b"traceparent", value.encode("latin-1")) for value in sent]
    headers += [(b"host", b"x"), (b"tracestate", b"marmalade=parcels")]
    with request_span(None, "GET", headers) as request:
        trace_id = request_trace_id()
        assert len(trace_id or "") == 32 and (trace_id == TRACE) is is_valid
        assert not request.get_span_context().trace_state
        with span("search"):
            assert request_trace_id() == trace_id, "the same for the whole request"
    with request_span(None, "GET", headers):
        assert (request_trace_id() == trace_id) is is_valid, "random without a caller's"
    assert request_trace_id() is None
