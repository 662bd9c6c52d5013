"""Gemini's embeddings through the real SDK over real HTTP: batches, tasks, width, length."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from anyio.from_thread import start_blocking_portal

from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.errors import SettingsError, UpstreamError
from helix.providers.base import Embedder
from helix.providers.factories import build_embedder
from helix.providers.gemini.embedding import GeminiEmbedding, gemini_embedder
from helix.providers.retries import INTERACTIVE, PATIENT, RetryPolicy
from helix.settings import Settings, load_settings
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import (
    Drop,
    Failure,
    Hang,
    Reply,
    Vectors,
    daily_quota,
    no_quota,
    rate_limited,
    refused_key,
    unavailable,
    unknown_model,
)

KEY = "AIza-not-a-real-key-0123456789"
FAST = RetryPolicy(attempts=4, first_wait=0.01, longest_wait=0.5, budget=1.0)

Embed = Callable[[Embedder, list[str]], Awaitable[list[list[float]]]]


def _settings(timeout: float = 20.0) -> Settings:
    settings = load_settings(database_url="embedded", gemini_api_key=KEY)
    return settings.model_copy(update={"model_timeout": timeout})


@pytest.fixture
async def embedder(wire: GeminiWire, request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    params: dict[str, Any] = getattr(getattr(request.node, "callspec", None), "params", {})
    timeout = 0.3 if isinstance(params.get("reply"), Hang) else 20.0
    made = gemini_embedder(_settings(timeout), policy=FAST)
    yield made
    await made.aclose()


async def _waiting(embedder: Embedder, texts: list[str]) -> list[list[float]]:
    return await embedder.model.aget_text_embedding_batch(texts)


async def _blocking(embedder: Embedder, texts: list[str]) -> list[list[float]]:
    return await asyncio.to_thread(embedder.model.get_text_embedding_batch, texts)


both_ways = pytest.mark.parametrize("embed", [_waiting, _blocking])


@both_ways
async def test_vectors_are_1536_wide_and_of_length_one(
    wire: GeminiWire, embedder: Embedder, embed: Embed
) -> None:
    vectors = np.array(await embed(embedder, ["refund policy", "refunds", "quantum physics"]))
    assert vectors.shape == (3, EMBEDDING_DIMENSIONS)
    assert embedder.raw_norm() == pytest.approx(wire.norm)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-12)
    assert vectors[0] @ vectors[1] > 0.5 > abs(vectors[0] @ vectors[2])


@pytest.fixture
async def second(wire: GeminiWire) -> AsyncIterator[Embedder]:
    made = gemini_embedder(_settings(), "gemini-embedding-2", policy=FAST)
    yield made
    await made.aclose()


@both_ways
async def test_the_second_model_is_told_its_task_in_the_text(
    wire: GeminiWire, second: Embedder, embed: Embed
) -> None:
    passages = await embed(second, ["Refunds {take} 30 days.", "task: x | query: y"])
    question = await second.model.aget_query_embedding("How long do refunds take?")
    [stored, asked] = wire.requests
    texts = [each["content"]["parts"][0]["text"] for each in stored.body["requests"]]
    assert texts == [
        "title: none | text: Refunds {take} 30 days.",
        "title: none | text: task: x | query: y",
    ]
    [one] = asked.body["requests"]
    assert one["content"]["parts"] == [
        {"text": "task: search result | query: How long do refunds take?"}
    ]
    for each in (*stored.body["requests"], one):
        assert "taskType" not in each
        assert each["outputDimensionality"] == EMBEDDING_DIMENSIONS
    near, far = np.array(passages) @ np.array(question)
    assert near > 0.3 > abs(far)


async def test_the_second_model_has_a_space_of_its_own(
    embedder: Embedder, second: Embedder
) -> None:
    assert embedder.identity == "gemini:gemini-embedding-001:1536"
    assert second.identity == "gemini:gemini-embedding-2:1536"
    [one], [two] = await _waiting(embedder, ["refunds"]), await _waiting(second, ["refunds"])
    assert abs(np.dot(one, two)) < 0.2


@both_ways
async def test_250_texts_cost_three_requests_and_keep_their_order(
    wire: GeminiWire, embedder: Embedder, embed: Embed
) -> None:
    texts = [f"text {number} of many" for number in range(250)]
    vectors = await embed(embedder, texts)
    # LlamaIndex sends batches at once, so which arrives first is chance
    sizes = sorted(len(request.body["requests"]) for request in wire.requests)
    assert sizes == [50, 100, 100]
    alone = await embed(embedder, texts[199:201])
    assert np.allclose(vectors[199:201], alone)


async def test_a_caller_with_larger_batches_is_split_too(
    wire: GeminiWire, embedder: Embedder
) -> None:
    embedder.model.embed_batch_size = 2000
    assert len(await _waiting(embedder, ["word"] * 201)) == 201
    assert len(wire.requests) == 3


async def test_the_wire_refuses_an_over_long_batch_as_the_api_does(
    wire: GeminiWire, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("helix.providers.gemini.embedding.MAX_BATCH", 101)
    embedder.model.embed_batch_size = 101
    with pytest.raises(UpstreamError, match="400 INVALID_ARGUMENT"):
        await _waiting(embedder, ["word"] * 101)
    assert len(wire.requests) == 1


async def test_questions_and_documents_are_embedded_as_such(
    wire: GeminiWire, embedder: Embedder
) -> None:
    await embedder.model.aget_query_embedding("q")
    await asyncio.to_thread(embedder.model.get_query_embedding, "q")
    await embedder.model.aget_text_embedding("t")
    await asyncio.to_thread(embedder.model.get_text_embedding, "t")
    tasks = [part["taskType"] for r in wire.requests for part in r.body["requests"]]
    assert tasks == ["RETRIEVAL_QUERY"] * 2 + ["RETRIEVAL_DOCUMENT"] * 2
    part = wire.requests[0].body["requests"][0]
    assert part["outputDimensionality"] == EMBEDDING_DIMENSIONS
    assert part["content"]["parts"] == [{"text": "q"}]
    assert wire.requests[0].path == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert wire.requests[0].headers["x-goog-api-key"] == KEY


async def test_each_text_has_a_vector_of_its_own_with_the_second_model_too(
    wire: GeminiWire,
) -> None:
    embedder = gemini_embedder(_settings(), "gemini-embedding-2", policy=FAST)
    vectors = await _waiting(embedder, ["one", "two"])
    assert len(vectors) == 2
    assert vectors[0] != vectors[1]
    assert embedder.identity == "gemini:gemini-embedding-2:1536"
    await embedder.aclose()


@both_ways
@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Vectors(missing=1), "1 vectors for 2 texts"),
        (Vectors(missing=2), "0 vectors for 2 texts"),
        (Vectors(width=768), "a vector of 768 numbers, not 1536: set EMBED_MODEL"),
        (Vectors(value=0.0), "zeros or of no finite length"),
        (Vectors(value=float("nan")), "zeros or of no finite length"),
        (Vectors(value=float("inf")), "zeros or of no finite length"),
        (Failure(200, "", text="{}"), "0 vectors for 2 texts"),
        (Failure(200, "", text="<html>"), "could not be read"),
    ],
)
async def test_a_wrong_vector_is_an_error(
    wire: GeminiWire, embedder: Embedder, embed: Embed, reply: Reply, words: str
) -> None:
    wire.script(reply)
    with pytest.raises(UpstreamError, match=words):
        await embed(embedder, ["one", "two"])
    assert len(wire.requests) == 1


@both_ways
@pytest.mark.parametrize(
    ("reply", "requests", "words", "transient"),
    [
        (unavailable(), 4, "503 UNAVAILABLE", True),
        (rate_limited("0.01s"), 4, "rate limit", True),
        (rate_limited("40s"), 1, "asks to wait 40 seconds", False),
        (daily_quota(), 1, "today's quota for gemini-embedding-001", False),
        (no_quota(), 1, "no quota", False),
        (refused_key(), 1, "GEMINI_API_KEY was refused", False),
        (unknown_model(), 1, "set EMBED_MODEL to a model", False),
        (Drop(), 4, "RemoteProtocolError", True),
        (Hang(), 1, "fell silent", True),
    ],
)
async def test_what_each_failed_request_costs(
    wire: GeminiWire,
    embedder: Embedder,
    embed: Embed,
    reply: Reply,
    requests: int,
    words: str,
    transient: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    wire.script(*[reply] * 5)
    with pytest.raises(UpstreamError, match=words) as caught:
        await embed(embedder, ["a private text"])
    assert caught.value.transient is transient
    assert len(wire.requests) == requests
    printed = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + caplog.text
    assert KEY not in printed
    assert "a private text" not in printed.replace('["a private text"]', "")  # this test's source


@both_ways
async def test_a_passing_failure_costs_one_more_request(
    wire: GeminiWire, embedder: Embedder, embed: Embed
) -> None:
    wire.script(rate_limited("0.05s"))
    assert len(await embed(embedder, ["one"])) == 1
    first, second = (request.at for request in wire.requests)
    assert second - first >= 0.05


def test_what_the_factory_says_of_itself_without_a_request(wire: GeminiWire) -> None:
    embedder = build_embedder(_settings())
    assert embedder.identity == "gemini:gemini-embedding-001:1536"
    assert embedder.max_distance == 0.55
    assert embedder.max_batch == 100
    assert embedder.raw_norm() is None
    assert wire.connections == 0


@pytest.mark.parametrize("vertex", ["false", "0", ""])
async def test_a_vertex_variable_that_says_no_keeps_the_key(
    wire: GeminiWire, monkeypatch: pytest.MonkeyPatch, vertex: str
) -> None:
    """LlamaIndex's own embedding takes any value for a yes, and drops the key."""
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", vertex)
    embedder = gemini_embedder(_settings(), policy=FAST)
    assert len(await embedder.model.aget_query_embedding("q")) == EMBEDDING_DIMENSIONS
    assert wire.requests[0].headers["x-goog-api-key"] == KEY
    await embedder.aclose()


@pytest.mark.parametrize("key", ["AIza key", "AIza\nkey", "AIzaké", "AIza\x00"])
def test_a_key_that_no_header_can_carry_stops_at_once(key: str) -> None:
    settings = load_settings(database_url="embedded", gemini_api_key=key)
    with pytest.raises(SettingsError, match="GEMINI_API_KEY has characters") as caught:
        gemini_embedder(settings)
    assert key not in str(caught.value)


@both_ways
async def test_a_batch_of_an_ingest_costs_five_requests_at_most(
    wire: GeminiWire, embed: Embed
) -> None:
    wire.script(*[rate_limited("0.1s")] * 6)
    policy = replace(PATIENT, first_wait=0.01)
    embedder = gemini_embedder(_settings(), patient=True, policy=policy)
    with pytest.raises(UpstreamError, match="after 5 attempts"):
        await embed(embedder, ["one", "two"])
    at = [request.at for request in wire.requests]
    assert len(at) == 5
    assert all(later - earlier >= 0.1 for earlier, later in pairwise(at)), "as RetryInfo says"
    await embedder.aclose()


def test_an_ingest_is_patient_and_serving_is_not(wire: GeminiWire) -> None:
    def policy(embedder: Embedder) -> RetryPolicy:
        assert isinstance(embedder.model, GeminiEmbedding)
        http: Any = embedder.model._client._api_client._async_httpx_client
        given: RetryPolicy = http._policy
        return given

    assert policy(build_embedder(_settings())) == INTERACTIVE
    assert policy(build_embedder(_settings(), patient=True)) == PATIENT
    assert (PATIENT.attempts, PATIENT.longest_wait, PATIENT.through_silence) == (5, 30.0, True)


async def test_each_event_loop_has_connections_of_its_own(
    wire: GeminiWire, embedder: Embedder
) -> None:
    """Blocking code runs in a loop of its own, and may take turns with the application's."""
    with start_blocking_portal() as portal:
        for _ in range(3):
            assert await embedder.model.aget_query_embedding("q")
            assert await asyncio.to_thread(portal.call, embedder.model.aget_query_embedding, "q")
    assert len(wire.received("embed")) == 6
