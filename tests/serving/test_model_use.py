"""The model that answered, its tokens and their cost: in answers, receipts, metrics and traces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from tests.support.live_server import live
from tests.support.otlp_collector import Collector, attributes_of
from tests.support.query_service import QUESTION, asked, events_of, post
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer, call_part, calling

GEMINI_2_5 = "gemini-2.5-flash"
LITE = "gemini-3.5-flash-lite"
COUNTS = {
    "promptTokenCount": 1000, "cachedContentTokenCount": 400, "candidatesTokenCount": 50,
    "thoughtsTokenCount": 150,
}  # fmt: skip
SAID = Answer(("Ask within 30 days of purchase [1].",), usage=COUNTS)
ROUTED = replace(SAID, model_version=LITE)
COST = (600 * 0.30 + 400 * 0.03 + 200 * 2.50) / 1_000_000
"""Of COUNTS, by 2.5 Flash and by 3.5 Flash-Lite."""
TOLD = {
    "asked": f"gemini:{GEMINI_2_5}", "answered": f"gemini:{GEMINI_2_5}", "routed": False,
    "title": "Gemini 2.5 Flash", "input_tokens": 1000, "output_tokens": 50, "cached_tokens": 400,
    "thought_tokens": 150, "cost_usd": pytest.approx(COST),
}  # fmt: skip
TOLD_ROUTED = TOLD | {
    "answered": f"gemini:{LITE}", "routed": True, "title": "Gemini 3.5 Flash-Lite",
}  # fmt: skip


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with Collector() as collector:
        yield collector


@pytest.fixture(scope="module")
def client(
    module_database_url: str, stored: dict[str, int], wire: GeminiWire, collector: Collector
) -> Iterator[httpx.Client]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        patch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")  # milliseconds, in place of five seconds
        with live(
            module_database_url, llm="gemini", embedder="gemini", gemini_api_key="wire-test-key",
            gemini_model=GEMINI_2_5, retrieval_max_distance=0.8, tracing="otlp",
        ) as opened:  # fmt: skip
            yield opened


def _receipt(client: httpx.Client, answer: dict[str, Any]) -> dict[str, Any]:
    receipt: dict[str, Any] = client.get(f"/v1/answers/{answer['answer_id']}").json()
    return receipt


def test_an_answer_and_its_receipt_tell_of_the_model_that_answered(
    client: httpx.Client, wire: GeminiWire
) -> None:
    wire.script(SAID, on="generate")
    answer = asked(client)
    assert answer["model"] == TOLD
    assert _receipt(client, answer)["model"] == TOLD


def test_a_model_that_is_not_the_one_asked_for_is_shown_as_such(
    client: httpx.Client, wire: GeminiWire
) -> None:
    wire.script(ROUTED, on="generate")
    answer = asked(client)
    assert answer["model"] == TOLD_ROUTED
    receipt = _receipt(client, answer)
    assert receipt["model"] == TOLD_ROUTED
    assert receipt["models"]["llm"] == f"gemini:{GEMINI_2_5}"
    labels = f'{{answered="gemini:{LITE}",asked="gemini:{GEMINI_2_5}"}}'
    assert f"helix_routed_answers_total{labels} 1.0" in client.get("/metrics").text


def test_a_version_of_the_model_is_the_model(client: httpx.Client, wire: GeminiWire) -> None:
    wire.script(replace(SAID, model_version=f"{GEMINI_2_5}-001"), on="generate")
    assert asked(client)["model"] == TOLD


def test_a_stream_tells_of_it_at_its_end(client: httpx.Client, wire: GeminiWire) -> None:
    wire.script(ROUTED, on="generate")
    events = events_of(post(client, stream=True).content)
    assert dict(events)["done"]["model"] == TOLD_ROUTED


def test_a_conversation_tells_of_it_at_the_end_of_a_turn(
    client: httpx.Client, wire: GeminiWire
) -> None:
    wire.script(ROUTED, on="generate")
    client.post("/v1/conversations", json={"id": "routed"})
    turn = client.post("/v1/conversations/routed/messages", json={"question": QUESTION})
    done = turn.text.partition("event: done\n")[2].partition("data: ")[2].splitlines()[0]
    assert json.loads(done)["model"] == TOLD_ROUTED


def test_a_service_that_tells_no_counts_has_no_cost(client: httpx.Client, wire: GeminiWire) -> None:
    wire.script(replace(SAID, usage={}), on="generate")
    unknown = dict.fromkeys(("input_tokens", "output_tokens", "cached_tokens", "thought_tokens"))
    assert asked(client)["model"] == TOLD | unknown | {"cost_usd": None}


def test_all_turns_of_the_agent_are_counted(client: httpx.Client, wire: GeminiWire) -> None:
    search = calling(call_part("search_library", {"query": "request a refund within days"}))
    enough = Answer(("DONE",), usage=COUNTS)
    wire.script(replace(search, usage=COUNTS), enough, SAID, on="generate")
    answer = asked(client, mode="agent")
    assert answer["model"] == TOLD | {
        "input_tokens": 3000, "output_tokens": 150, "cached_tokens": 1200, "thought_tokens": 450,
        "cost_usd": pytest.approx(3 * COST),
    }  # fmt: skip


def test_where_no_model_was_called_there_is_none(client: httpx.Client) -> None:
    for question in ("Who won the cup in 1978?", "Hello"):
        answer = client.post("/v1/query", json={"question": question}).json()
        assert answer["model"] is None
        assert _receipt(client, answer)["model"] is None


def test_the_calls_are_counted_by_the_model_that_answered(
    client: httpx.Client, wire: GeminiWire
) -> None:
    name = "gemini-3.6-flash"

    def figure(metric: str, **labels: str) -> float:
        told = ",".join(f'{key}="{value}"' for key, value in labels.items())
        lines = client.get("/metrics").text.splitlines()
        found = [line for line in lines if line.startswith(f"{metric}{{{told}}} ")]
        return float(found[0].split()[-1]) if found else 0.0

    kinds = ("input", "output", "cached", "thought")

    def figures() -> list[float]:
        tokens = [figure("helix_model_tokens_total", kind=kind, model=name) for kind in kinds]
        cost = figure("helix_model_cost_usd_total", model=name)
        return [figure("helix_model_calls_total", model=name), *tokens, cost]

    before = figures()  # of the process, and so of other tests too
    wire.script(replace(SAID, model_version=name), on="generate")
    asked(client)
    added = [now - then for now, then in zip(figures(), before, strict=True)]
    assert added[:-1] == [1, 1000, 50, 400, 150]
    assert added[-1] > 0


def test_the_span_of_the_model_names_the_one_that_answered(
    client: httpx.Client, wire: GeminiWire, collector: Collector
) -> None:
    wire.script(ROUTED, on="generate")
    trace = asked(client)["trace_id"]
    collector.wait_for(trace)
    spans = [one for one in collector.spans if one.trace_id.hex() == trace]
    model = attributes_of(next(one for one in spans if one.name == "model"))
    assert model["helix.model"] == f"gemini:{GEMINI_2_5}"
    assert (model["helix.answered"], model["helix.thought_tokens"]) == (LITE, 150)
    request = attributes_of(next(one for one in spans if one.name == "POST /v1/query"))
    assert request["helix.model"] == f"gemini:{LITE}"
    assert request["helix.cost_usd"] == pytest.approx(COST)
