"""Rerankers: the vendors' own packages over HTTP, failures that cost nothing, choosing one."""

from __future__ import annotations

import asyncio
import logging
import math
import sys
from collections.abc import Iterator

import pytest
from pydantic import SecretStr

from helix.errors import SettingsError, UpstreamError
from helix.retrieval.reranking import RERANKERS, build_reranker
from helix.retrieval.reranking.stage import rerank
from tests.support.process_counters import rerank_failures
from tests.support.scripted_reranker import (
    HITS,
    KEY,
    KEYS,
    QUESTION,
    SECRETS,
    TEXTS,
    VENDORS,
    opened,
)
from tests.support.wire.rerank import Failure, Hang, Reply, RerankWire, Scores, Text, word_share


@pytest.fixture
def wire() -> Iterator[RerankWire]:
    with RerankWire() as server:
        yield server


@pytest.mark.parametrize("vendor", VENDORS)
async def test_every_text_gets_its_score_in_its_place(wire: RerankWire, vendor: str) -> None:
    async with opened(wire, vendor) as reranker:
        scores = await reranker.scores(QUESTION, TEXTS)
    assert scores == [word_share(QUESTION, text) for text in TEXTS]
    assert scores[1] > scores[2] > scores[0]
    (request,) = wire.requests
    assert (request.vendor, request.key) == (vendor, KEY)
    assert request.body["query"] == QUESTION and request.texts == TEXTS


@pytest.mark.parametrize(
    ("choice", "model"),
    [
        ("cohere", "rerank-v3.5"),
        ("cohere:", "rerank-v3.5"),
        ("cohere:rerank-v4.0-fast", "rerank-v4.0-fast"),
        ("voyage", "rerank-2.5"),
        ("voyage:rerank-2.5-lite", "rerank-2.5-lite"),
    ],
)
async def test_the_model_is_the_one_named_or_the_default(
    wire: RerankWire, choice: str, model: str
) -> None:
    async with opened(wire, choice) as reranker:
        await reranker.scores(QUESTION, TEXTS)
        assert reranker.identity == f"{choice.partition(':')[0]}:{model}"
    assert wire.requests[0].body["model"] == model


@pytest.mark.parametrize("vendor", VENDORS)
async def test_nothing_but_the_contents_of_hits_is_sent(wire: RerankWire, vendor: str) -> None:
    async with opened(wire, vendor) as reranker:
        hits, scores = await rerank(reranker, QUESTION, HITS, timeout=60)
    assert wire.requests[0].texts == TEXTS
    assert "secret" not in str(wire.requests[0].body).lower()
    assert [found.chunk_id for found in hits] == [1, 2, 0]
    assert scores == sorted(scores or [], reverse=True)


@pytest.mark.parametrize("vendor", VENDORS)
async def test_fifty_texts_are_not_cut(wire: RerankWire, vendor: str) -> None:
    texts = [f"text {number}" for number in range(50)]
    wire.script(Scores([number / 50 for number in range(50)]))
    async with opened(wire, vendor) as reranker:
        assert await reranker.scores(QUESTION, texts) == [number / 50 for number in range(50)]


@pytest.mark.parametrize("vendor", VENDORS)
async def test_no_text_is_no_request(wire: RerankWire, vendor: str) -> None:
    async with opened(wire, vendor) as reranker:
        assert await reranker.scores(QUESTION, []) == []
        hits, scores = await rerank(reranker, QUESTION, [], timeout=60)
    assert (hits, scores) == ([], [])
    assert not wire.requests


FAULTS: dict[str, Reply] = {
    "busy": Failure(429, retry_after=30),
    "broken": Failure(500),
    "away": Failure(503),
    "wrong key": Failure(401),
    "malformed": Text("<html>"),
    "another shape": Text('{"answer": 42}'),
    "empty": Text(""),
    "no results": Scores([]),
    "too few": Scores([0.5, 0.4]),
    "one twice": Scores([0.5, 0.4, 0.3], repeat=True),
    "no number": Scores([0.5, None, 0.3]),
    "a word": Scores([0.5, "high", 0.3]),
    "not finite": Scores([0.5, math.nan, 0.3]),
    "infinite": Scores([0.5, math.inf, 0.3]),
}


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_failure_leaves_the_hits_as_they_came(
    wire: RerankWire, vendor: str, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    wire.script(FAULTS[fault])
    before = rerank_failures()
    with caplog.at_level(logging.INFO):
        async with opened(wire, vendor) as reranker:
            hits, scores = await rerank(reranker, QUESTION, HITS, timeout=60)
    assert (hits, scores) == (HITS, None)
    assert rerank_failures() == before + 1
    assert len(wire.requests) == 1  # nobody tries again: an answer waits
    ours = [record for record in caplog.records if record.name.startswith("helix")]
    assert [record.levelname for record in ours] == ["WARNING"]
    assert not [secret for secret in SECRETS if secret in ours[0].getMessage()]
    assert ours[0].exc_info is None


@pytest.mark.parametrize("vendor", VENDORS)
async def test_an_error_tells_its_class_and_no_text_of_others(
    wire: RerankWire, vendor: str
) -> None:
    wire.script(Failure(429))
    async with opened(wire, vendor) as reranker:
        with pytest.raises(UpstreamError, match=rf"{vendor}:\S+ failed \(\w+Error\)") as caught:
            await reranker.scores(QUESTION, TEXTS)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__
    assert not [secret for secret in SECRETS if secret in str(caught.value)]


@pytest.mark.parametrize("vendor", VENDORS)
async def test_a_silent_vendor_costs_the_timeout_and_its_own_thread_ends(
    wire: RerankWire, vendor: str
) -> None:
    wire.script(Hang())
    async with opened(wire, vendor, timeout=0.3) as reranker:
        hits, scores = await rerank(reranker, QUESTION, HITS, timeout=0.05)
        assert (hits, scores) == (HITS, None)
        # the vendor's own client gives up too
        wire.script(Hang())
        with pytest.raises(UpstreamError, match="Time"):
            await reranker.scores(QUESTION, TEXTS)
        while not (await rerank(reranker, QUESTION, HITS, timeout=60))[1]:
            continue  # a busy machine may take longer than the client's 0.3 s


@pytest.mark.parametrize("vendor", VENDORS)
async def test_an_address_that_nobody_listens_at_is_a_failure(vendor: str) -> None:
    with RerankWire() as wire:
        gone = wire.base_url
    reranker = build_reranker(vendor, keys=KEYS, timeout=60, base_url=gone)
    assert reranker is not None
    assert (await rerank(reranker, QUESTION, HITS, timeout=60))[1] is None
    await reranker.aclose()


@pytest.mark.parametrize("vendor", VENDORS)
async def test_questions_at_once_each_get_their_own_scores(wire: RerankWire, vendor: str) -> None:
    questions = [f"{QUESTION} {word}" for word in ("shipping", "day", "leave", "monday", "on")]
    async with opened(wire, vendor) as reranker:
        given = await asyncio.gather(*(reranker.scores(asked, TEXTS) for asked in questions))
    assert given == [[word_share(asked, text) for text in TEXTS] for asked in questions]


@pytest.mark.parametrize("vendor", VENDORS)
async def test_questions_that_nobody_waits_for_do_not_pile_up(
    wire: RerankWire, vendor: str
) -> None:
    wire.script(*[Hang()] * 40)
    async with opened(wire, vendor) as reranker:
        results = await asyncio.gather(
            *(rerank(reranker, QUESTION, HITS, timeout=0.3) for _ in range(40))
        )
        assert all(scores is None for _, scores in results)
        while not wire.most_at_once:
            await asyncio.sleep(0.01)
        assert wire.most_at_once <= 8
        wire.released.set()
    assert len(wire.requests) <= 8


async def test_cohere_is_asked_at_its_own_variable(
    wire: RerankWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CO_API_URL", wire.base_url)
    reranker = build_reranker("cohere", keys=KEYS, timeout=60)
    assert reranker is not None
    await reranker.scores(QUESTION, TEXTS)
    await reranker.aclose()
    assert len(wire.requests) == 1


async def test_a_closed_reranker_fails_open(wire: RerankWire) -> None:
    async with opened(wire, "cohere") as reranker:
        pass
    assert (await rerank(reranker, QUESTION, HITS, timeout=60))[1] is None


# --- choosing one ---


def test_none_is_none() -> None:
    assert build_reranker("none", keys={}, timeout=1) is None


@pytest.mark.parametrize("choice", ["", "jina", "none:x", "Cohere", ":rerank-v3.5"])
def test_an_unknown_reranker_is_told_with_those_there_are(choice: str) -> None:
    with pytest.raises(
        SettingsError, match=r"HELIX_RERANKER .* cohere, cross-encoder, none, voyage$"
    ):
        build_reranker(choice, keys=KEYS, timeout=1)


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("key", [None, "", " \n", "two words", "clé"])
def test_a_missing_or_unusable_key_names_its_variable(vendor: str, key: str | None) -> None:
    variable = f"{vendor.upper()}_API_KEY"
    secret = None if key is None else SecretStr(key)
    with pytest.raises(SettingsError, match=rf"^{variable} .*HELIX_RERANKER={vendor} ") as caught:
        build_reranker(vendor, keys={variable: secret}, timeout=1)
    assert "\n" not in str(caught.value)
    assert not (key and key.strip()) or key not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "package"),
    [
        ("cohere", "llama_index.postprocessor.cohere_rerank"),
        ("cohere", "cohere"),
        ("voyage", "llama_index.postprocessor.voyageai_rerank"),
        ("voyage", "voyageai.client"),
        ("cross-encoder", "sentence_transformers"),
    ],
)
def test_a_missing_extra_is_named(kind: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, RERANKERS[kind].factory.partition(":")[0], raising=False)
    monkeypatch.setitem(sys.modules, package, None)  # as if not installed
    with pytest.raises(SettingsError) as caught:
        build_reranker(kind, keys=KEYS, timeout=1)
    assert f"HELIX_RERANKER is {kind}" in str(caught.value)
    assert f"pip install 'helix-answers[{kind}]'" in str(caught.value)


@pytest.mark.parametrize(
    ("vendor", "asked", "given"),
    [
        ("cohere", None, 0.15),
        ("cohere", 0.0, 0.0),
        ("cohere", 0.4, 0.4),
        ("voyage", None, None),
        ("voyage", 0.4, 0.4),
    ],
)
def test_the_least_score_is_the_one_set_or_the_vendors(
    vendor: str, asked: float | None, given: float | None
) -> None:
    reranker = build_reranker(vendor, keys=KEYS, timeout=1, min_score=asked)
    assert reranker is not None and reranker.min_score == given
