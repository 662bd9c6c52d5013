"""The reranking of a search's candidates: a reranker that fails costs an answer nothing."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass

from helix.domain.records import Hit, SearchResult
from helix.domain.retrieval import Fusion
from helix.errors import HelixError, UpstreamError
from helix.retrieval.reranking.base import Reranker
from helix.telemetry.usage_meter import RERANK_FAILURES

RERANKED = 30
"""Candidates that a reranker is given."""
_LAST_RANK = 20 / 3

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Reranking:
    """A reranker, and the seconds it may take."""

    reranker: Reranker
    timeout: float

    async def apply(
        self, question: str, result: SearchResult, fusion: Fusion | None = None
    ) -> tuple[list[Hit], list[float] | None, bool]:
        """(hits in their new order, their scores, whether the best of them is relevant enough).

        ``fusion`` is how the candidates were fused. Where the reranker fails the hits come as they
        were, without scores; whether they are relevant is then for reciprocal rank fusion to say,
        if that is what fused them.
        """
        hits, rest = result.hits[:RERANKED], result.hits[RERANKED:]
        hits, scores = await rerank(self.reranker, question, hits, timeout=self.timeout)
        # the threshold is one of the two lists of one search, not of several searches
        by_rank = fusion and fusion.is_by_rank and result.searches == 1
        least = rrf_min_score(fusion.rrf_k) if fusion and by_rank else None
        fused = [candidate.fused for candidate in result.candidates]
        enough = is_relevant(scores, self.reranker.min_score, fused, least)
        return [*hits, *rest], scores, enough


def rrf_min_score(k: int) -> float:
    """The least RRF score that counts as relevant where there is no reranker's score.

    With a k of 60 it is 0.030: a text that leads both lists has 2/61 = 0.0328, and one that only
    one list has at most 1/61 = 0.0164. So both lists must have it, about seventh or better.
    """
    return 2 / (k + _LAST_RANK)


async def rerank(
    reranker: Reranker,
    question: str,
    hits: Sequence[Hit],
    *,
    timeout: float,  # noqa: ASYNC109 - a caller's own would cost it the hits
) -> tuple[list[Hit], list[float] | None]:
    """``hits`` in the order that ``reranker`` gives them, best first, and their scores.

    Hits of equal score stay in their order. Only their contents are sent. Any failure, and more
    than ``timeout`` seconds, gives the hits as they came, with None; it is counted and logged,
    without a word of question or text. Being cancelled is no failure and passes through.
    """
    if not hits:
        return [], []
    try:
        async with asyncio.timeout(timeout):
            scores = await reranker.scores(question, [hit.content for hit in hits])
        checked = _checked(scores, len(hits), reranker.identity)
    except Exception as error:  # noqa: BLE001 - whatever it is, the search's order is there
        RERANK_FAILURES.inc()
        # our own errors hold no text of others; of any other one only the class may be told
        failed = f"{reranker.identity} failed ({type(error).__name__})"
        reason = str(error) if isinstance(error, HelixError) else failed
        _logger.warning("%s: hits stay as the search ordered them", reason)
        return list(hits), None
    order = sorted(range(len(hits)), key=lambda place: -checked[place])
    return [hits[place] for place in order], [checked[place] for place in order]


def _checked(scores: Sequence[float], count: int, identity: str) -> list[float]:
    if len(scores) != count:
        raise UpstreamError(f"{identity} gave {len(scores)} scores for {count} texts: try again")
    checked = [float(score) for score in scores]
    if not all(map(math.isfinite, checked)):
        raise UpstreamError(f"{identity} gave a score that is not finite: try again")
    return checked


def is_relevant(
    scores: Sequence[float] | None,
    min_score: float | None,
    fused: Sequence[float],
    fused_min: float | None,
) -> bool:
    """True if the best score reaches its threshold; a threshold of None is always reached.

    With ``scores``, a reranker's, they and ``min_score`` decide. Where they are None, because it
    failed, ``fused`` and ``fused_min`` do: reciprocal rank fusion's scores with rrf_min_score, and
    None for a convex sum, which has another scale. Nothing found reaches no threshold.
    """
    judged, threshold = (fused, fused_min) if scores is None else (scores, min_score)
    known = [score for score in judged if score == score]  # NaN equals nothing
    return threshold is None or max(known, default=-math.inf) >= threshold
