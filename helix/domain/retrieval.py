"""The settings of a search, and its outcome: hits, the decision about them, and its trace."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from helix.domain.aggregates import Computed
from helix.domain.context import Source, count_tokens
from helix.domain.contract import DEFAULT_DENSE_WEIGHT
from helix.domain.gate import GateDecision
from helix.domain.records import Candidate, Hit
from helix.domain.tool_calls import Gathered, ToolCall
from helix.domain.usage import Usage

RRF_K = 60
"""Of reciprocal rank fusion, 1 / (k + rank): the value of Cormack et al. 2009."""
LISTED = 50
"""The least number of chunks that a ranking brings before the best of them are chosen."""
Reason = Literal[
    "no_documents", "below_gate", "filtered_empty", "model_refused", "ungrounded", "underspecified"
]
"""The reason for a refusal: nothing is stored, nothing near enough, the filters leave nothing, the
model found no answer in what it was given, its answer was withheld (HELIX_WITHHOLD), or a
turn of a conversation speaks of something that nothing before it names."""
MOST_PASSAGES = 50
"""Of one plain search, which answers nothing."""


@dataclass(frozen=True)
class Fusion:
    """The rule that makes one ranking of two.

    ``dense_weight``, from 0 to 1, is the share of the cosine in a convex sum with the BM25 score,
    which is scaled by the best one; None is reciprocal rank fusion with ``rrf_k``, from 1. The
    cosine stays as it is: scaled over the candidates too, a question that nothing is near to would
    weigh the nearest as much as any. ``near`` and ``by_words`` are how many chunks each brings.
    """

    dense_weight: float | None = None
    rrf_k: int = RRF_K
    near: int = LISTED
    by_words: int = LISTED

    @property
    def is_by_rank(self) -> bool:
        """True for reciprocal rank fusion."""
        return self.dense_weight is None

    @property
    def scored(self) -> int:
        """The most that a search scores: what either ranking brings is scored by both."""
        return self.near + self.by_words


DEFAULT_FUSION = Fusion(DEFAULT_DENSE_WEIGHT)


@dataclass(frozen=True)
class SearchSpace:
    """The vector space that one search was made in, and the rules that judged it there.

    ``embedder`` is an ``Embedder.identity``. ``max_distance`` is the gate's ceiling, a cosine
    distance from 0 to 2; ``fusion`` how BM25 joins the distances, None for not at all; ``lexical``
    whether an exact match passes the gate.
    """

    embedder: str
    max_distance: float
    fusion: Fusion | None = None
    lexical: bool = False


@dataclass
class Trace:
    """The trace of a retrieval.

    ``candidates`` are what the search brought, best first; ``terms`` what was searched beside the
    question; ``rerank_scores`` those of the hits in their order, None without a reranker or where
    it failed; ``seconds`` are by stage, in order.
    """

    candidates: list[Candidate] = field(default_factory=list)
    terms: str | None = None
    rerank_scores: list[float] | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage; one that comes again adds to what it took."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began


@dataclass(frozen=True)
class Retrieval:
    """Hits of a search, best first, and the sources that may be answered from.

    ``space`` is what it was searched and judged in, whatever the database has become since.
    ``reason`` says why nothing may be answered; None: the model may be asked, with ``sources`` as
    the numbered context. ``hits`` is what was found either way; a refusal uses none of it.
    """

    hits: list[Hit]
    decision: GateDecision
    trace: Trace
    space: SearchSpace
    sources: list[Source] = field(default_factory=list)
    reason: Reason | None = None
    named: list[tuple[int, str]] | None = None
    is_reply: bool = False
    """True if the answer rests on no source: Helix's word of itself or the library, or a model's
    word of an image."""
    calculations: tuple[Computed, ...] = ()
    """Calculations that an agent's tools made from the sources."""
    writing: bool = False
    """True if code and drafts are written from it, which may hold what no source states."""
    gathered: Gathered | None = None
    """The agent's gathering of the sources; None where one search brought them."""
    usages: tuple[Usage, ...] = ()
    """Usage of the model's calls that gathered the sources, or found no answer in what is attached;
    empty where a search brought them."""
    attached_alone: bool = False
    """True where only the documents of the conversation were read, because they answer."""
    stands_alone: bool = False
    """True where a tentative follow-up was searched without the questions before it."""

    @property
    def suggested_scope(self) -> list[dict[str, Any]] | None:
        """``document_id`` and ``title`` of each that the question names; None for none, or many."""
        named = [{"document_id": number, "title": title} for number, title in self.named or ()]
        return named or None

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls of an agent for it; empty where one search was made."""
        return self.gathered.calls if self.gathered else ()


_STAGES = ("rewrite", "embed", "search", "rerank", "model")

Rows = list[dict[str, Any]]


def debug_block(retrieval: Retrieval, answer: str, seconds: float) -> dict[str, Any]:
    """The block for ``answer``, which took ``seconds`` in all.

    Distances, scores and seconds have six decimals; a distance that is not known is null.
    """
    trace = retrieval.trace
    sources = [
        {"n": n, "chunk_ids": source.chunk_ids, "tokens": source.tokens}
        for n, source in enumerate(retrieval.sources, 1)
    ]
    stages = {stage: _rounded(trace.seconds.get(stage, 0.0)) for stage in _STAGES}
    if retrieval.reason:
        stages["model"] = 0.0  # the model was not asked
    return {
        "candidates": {
            "near": _by_distance(trace.candidates),
            "lexical": _by_score(trace.candidates),
            "fused": _as_searched(retrieval),
        },
        "gate": _gate(retrieval.decision, retrieval.space.max_distance),
        "terms": trace.terms,
        "sources": sources,
        "tokens": {
            "context": sum(source["tokens"] for source in sources),
            "answer": count_tokens(answer),
        },
        "seconds": {**stages, "total": _rounded(seconds)},
    }


def _gate(decision: GateDecision, ceiling: float) -> dict[str, Any]:
    """The gate's comparison: distances, and if it is calibrated its score and the least to pass."""
    gate = {"ceiling": ceiling, "best": _rounded(decision.best), "by_name": decision.by_name}
    gate["by_evidence"] = decision.by_evidence
    if estimate := decision.estimate:
        gate |= {"score": _rounded(estimate.score), "least": _rounded(estimate.least)}
    return gate


def _by_distance(candidates: Sequence[Candidate]) -> Rows:
    return [
        {
            "chunk_id": candidate.hit.chunk_id,
            "distance": _rounded(candidate.hit.distance),
            "rank": candidate.near_rank,
        }
        for candidate in sorted(candidates, key=lambda candidate: candidate.near_rank)
    ]


def _by_score(candidates: Sequence[Candidate]) -> Rows:
    """The candidates that BM25 found, which have a rank there."""
    ranked = sorted(
        (candidate.score_rank, candidate.hit.chunk_id, candidate.score)
        for candidate in candidates
        if candidate.score_rank is not None
    )
    return [
        {"chunk_id": chunk_id, "score": _rounded(score), "rank": rank}
        for rank, chunk_id, score in ranked
    ]


def _as_searched(retrieval: Retrieval) -> Rows:
    """The candidates in the order of the search; the hits kept have the reranker's score."""
    kept = (hit.chunk_id for hit in retrieval.hits)
    reranked = dict(zip(kept, retrieval.trace.rerank_scores or (), strict=False))
    rows: Rows = []
    for rank, candidate in enumerate(retrieval.trace.candidates, 1):
        chunk_id = candidate.hit.chunk_id
        rows.append({"chunk_id": chunk_id, "fused": _rounded(candidate.fused), "rank": rank})
        if chunk_id in reranked:
            rows[-1]["rerank_score"] = _rounded(reranked[chunk_id])
    return rows


def _rounded(value: float | None) -> float | None:
    """Six decimals; JSON has neither NaN nor infinity."""
    return None if value is None or not math.isfinite(value) else round(value, 6)
