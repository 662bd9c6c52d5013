"""The ``debug`` block of POST /v1/query: how an answer came about, as numbers and ids, no text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from helix.domain.context import count_tokens
from helix.domain.gate import GateDecision
from helix.domain.records import Candidate
from helix.domain.retrieval import Retrieval

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
