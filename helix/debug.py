"""How an answer came about, as numbers and ids: the ``debug`` block of POST /v1/query."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from helix.context import count_tokens
from helix.gate import GateDecision
from helix.records import Candidate
from helix.retrieval import Retrieval

_STAGES = ("rewrite", "embed", "search", "rerank", "model")

Rows = list[dict[str, Any]]


def debug_block(
    retrieval: Retrieval, answer: str, *, ceiling: float, total: float
) -> dict[str, Any]:
    """All of the block; ``total`` is in seconds. No text of a document is in it.

    Distances, scores and seconds have six decimals; a distance that is not known is null.
    """
    trace = retrieval.trace
    sources = [
        {
            "n": n,
            "chunk_ids": [hit.chunk_id for hit in source.hits],
            "tokens": source.tokens,
        }
        for n, source in enumerate(retrieval.sources, 1)
    ]
    seconds = {stage: _number(trace.seconds.get(stage, 0.0)) for stage in _STAGES}
    if retrieval.reason:
        seconds["model"] = 0.0  # it was not asked
    return {
        "candidates": {
            "near": _near(trace.candidates),
            "lexical": _lexical(trace.candidates),
            "fused": _fused(retrieval),
        },
        "gate": _gate(retrieval.decision, ceiling),
        "terms": trace.terms,
        "sources": sources,
        "tokens": {
            "context": sum(source["tokens"] for source in sources),
            "answer": count_tokens(answer),
        },
        "seconds": {**seconds, "total": _number(total)},
    }


def _gate(decision: GateDecision, ceiling: float) -> dict[str, Any]:
    """What was decided by: the distance, or where it was calibrated the score and its least."""
    gate = {"ceiling": ceiling, "best": _number(decision.best), "by_name": decision.by_name}
    if estimate := decision.estimate:
        gate |= {"score": _number(estimate.score), "least": _number(estimate.least)}
    return gate


def _near(candidates: Sequence[Candidate]) -> Rows:
    ranked = sorted(candidates, key=lambda candidate: candidate.near_rank)
    return [
        {
            "chunk_id": candidate.hit.chunk_id,
            "distance": _number(candidate.hit.distance),
            "rank": candidate.near_rank,
        }
        for candidate in ranked
    ]


def _lexical(candidates: Sequence[Candidate]) -> Rows:
    ranked = sorted(
        (candidate.score_rank, candidate.hit.chunk_id, candidate.score)
        for candidate in candidates
        if candidate.score_rank is not None
    )
    return [
        {"chunk_id": chunk_id, "score": _number(score), "rank": rank}
        for rank, chunk_id, score in ranked
    ]


def _fused(retrieval: Retrieval) -> Rows:
    """The candidates in the order of the search; those kept have the reranker's score."""
    scores = retrieval.trace.rerank_scores
    kept = [hit.chunk_id for hit in retrieval.hits]
    reranked = dict(zip(kept, scores, strict=False)) if scores else {}
    rows: Rows = []
    for rank, candidate in enumerate(retrieval.trace.candidates, 1):
        chunk_id = candidate.hit.chunk_id
        row = {"chunk_id": chunk_id, "fused": _number(candidate.fused), "rank": rank}
        if chunk_id in reranked:
            row["rerank_score"] = _number(reranked[chunk_id])
        rows.append(row)
    return rows


def _number(value: float | None) -> float | None:
    """Six decimals; JSON has neither NaN nor infinity."""
    return None if value is None or not math.isfinite(value) else round(value, 6)
