"""The use of a reranker's scores: an order, or nothing; and when to abstain."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.domain.retrieval import RRF_K
from helix.retrieval.reranking.base import BlockingReranker
from helix.retrieval.reranking.stage import is_relevant, rerank, rrf_min_score
from tests.support.process_counters import rerank_failures
from tests.support.scripted_reranker import (
    HITS,
    KEY,
    QUESTION,
    Scripted,
    hit,
    opened,
)
from tests.support.wire.rerank import Hang, RerankWire


@pytest.fixture
def wire() -> Iterator[RerankWire]:
    with RerankWire() as server:
        yield server


FINITE = st.floats(-1e6, 1e6)


@given(st.lists(FINITE, max_size=12))
async def test_best_first_and_equal_ones_stay_in_their_order(values: list[float]) -> None:
    hits = [hit("text", number) for number in range(len(values))]
    ranked, ranked_scores = await rerank(Scripted(values), QUESTION, hits, timeout=60)
    assert ranked_scores == sorted(values, reverse=True)
    pairs = [(-values[found.chunk_id], found.chunk_id) for found in ranked]
    assert pairs == sorted(pairs)


@given(
    st.lists(FINITE, min_size=1, max_size=6),
    st.sampled_from([math.nan, math.inf, -math.inf]),
    st.integers(0, 6),
)
async def test_a_score_that_is_not_finite_is_a_failure(
    values: list[float], odd: float, place: int
) -> None:
    values.insert(place, odd)
    hits = [hit("text", number) for number in range(len(values))]
    ranked, ranked_scores = await rerank(Scripted(values), QUESTION, hits, timeout=60)
    assert (ranked, ranked_scores) == (hits, None)


@pytest.mark.parametrize("count", [0, 2, 4])
async def test_another_number_of_scores_is_a_failure(count: int) -> None:
    ranked, ranked_scores = await rerank(Scripted([0.5] * count), QUESTION, HITS, timeout=60)
    assert (ranked, ranked_scores) == (HITS, None)


async def test_an_error_of_another_ones_tells_only_its_class(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail() -> None:
        raise ValueError(f"{KEY}: {QUESTION}")

    ranked, _ = await rerank(Scripted([], before=fail), QUESTION, HITS, timeout=60)
    assert ranked == HITS
    (line,) = caplog.messages
    assert line.startswith("scripted:one failed (ValueError)") and KEY not in line


async def test_being_cancelled_is_no_failure(wire: RerankWire) -> None:
    wire.script(Hang())
    before = rerank_failures()
    async with opened(wire, "cohere") as reranker:
        task = asyncio.create_task(rerank(reranker, QUESTION, HITS, timeout=30))
        while not wire.requests:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        wire.released.set()
    assert rerank_failures() == before


async def test_blocking_calls_keep_to_their_limit_and_who_leaves_while_waiting_is_dropped() -> None:
    running, seen = 0, 0
    release, lock = threading.Event(), threading.Lock()

    class Waiting(BlockingReranker):
        def _scores(self, question: str, texts: list[str]) -> list[float]:
            nonlocal running, seen
            with lock:
                running, seen = running + 1, seen + 1
            release.wait(10)
            with lock:
                running -= 1
            return [0.5 for _ in texts]

    reranker = Waiting("test:waiting", None, threads=2)
    tasks = [asyncio.create_task(reranker.scores("q", ["text"])) for _ in range(5)]
    while running < 2:
        await asyncio.sleep(0.005)
    for task in tasks[2:]:
        task.cancel()
    await asyncio.gather(*tasks[2:], return_exceptions=True)
    release.set()
    await asyncio.gather(*tasks[:2])
    await reranker.scores("q", ["text"])  # whatever was queued before it is through
    await reranker.aclose()
    assert (seen, running) == (3, 0)


# --- abstaining ---


@pytest.mark.parametrize(
    ("scores", "min_score", "fused", "fused_min", "expected"),
    [
        ([0.9, 0.1], 0.15, [], 0.03, True),
        ([0.1, 0.15], 0.15, [], 0.03, True),  # reaching it is enough, wherever it stands
        ([0.14, 0.1], 0.15, [0.0328], 0.03, False),  # the reranker's word counts, if it has one
        ([0.0], None, [], 0.03, True),
        ([], 0.15, [0.0328], 0.03, False),
        ([], None, [], None, True),
        (None, 0.15, [0.0328, 0.01], 0.03, True),
        (None, 0.15, [0.0164], 0.03, False),
        (None, 0.15, [], 0.03, False),
        (None, 0.15, [0.01], None, True),
        (None, 0.15, [math.nan, 0.0328], 0.03, True),
    ],
)
def test_what_is_relevant(
    scores: list[float] | None,
    min_score: float | None,
    fused: list[float],
    fused_min: float | None,
    expected: bool,
) -> None:
    assert is_relevant(scores, min_score, fused, fused_min) is expected


@given(st.lists(st.floats(0, 1), max_size=6), st.floats(0, 1), st.floats(0, 1))
def test_a_lower_threshold_never_abstains_more(scores: list[float], one: float, two: float) -> None:
    low, high = sorted((one, two))
    assert is_relevant(scores, low, [], None) >= is_relevant(scores, high, [], None)
    assert is_relevant(None, None, scores, low) >= is_relevant(None, None, scores, high)


@pytest.mark.parametrize("k", [10, RRF_K, 500])
def test_the_fallback_wants_both_lists_to_agree(k: int) -> None:
    def rrf(*ranks: int) -> float:
        return sum(1 / (k + rank) for rank in ranks)

    least = rrf_min_score(k)
    assert rrf(1) < least < rrf(1, 1) and rrf(6, 7) >= least > rrf(7, 7)
    assert rrf_min_score(RRF_K) == pytest.approx(0.030)
