"""The reranking of a search's candidates, as serving calls it."""

from __future__ import annotations

from dataclasses import dataclass

from helix.hybrid_sql import Fusion
from helix.records import Found, Hit
from helix.reranking.abstaining import RRF_MIN_SCORE, relevant
from helix.reranking.base import Reranker
from helix.reranking.ordering import reranked

RERANKED = 30
"""Candidates that a reranker is given."""


@dataclass(frozen=True)
class Reranking:
    """A reranker with its limits: ``timeout`` in seconds, and how candidates were fused."""

    reranker: Reranker
    timeout: float
    fusion: Fusion | None = None

    async def apply(
        self, question: str, found: Found
    ) -> tuple[list[Hit], list[float] | None, bool]:
        """(hits in their new order, their scores, whether the best of them is relevant enough).

        Where the reranker fails the hits come as they were, without scores; whether they are
        relevant is then for reciprocal rank fusion to say, if that is what fused them.
        """
        hits, rest = found.hits[:RERANKED], found.hits[RERANKED:]
        result = await reranked(self.reranker, question, hits, timeout=self.timeout)
        # the threshold is one of the two lists of one search, not of several searches
        by_rank = self.fusion == Fusion(None) and found.searches == 1
        enough = relevant(
            result.scores,
            self.reranker.min_score,
            [candidate.fused for candidate in found.candidates],
            RRF_MIN_SCORE if by_rank else None,
        )
        return [*result.hits, *rest], result.scores, enough
