"""The settings of a search: whose vectors, how near is near enough, and how rankings are joined."""

from __future__ import annotations

from dataclasses import dataclass

from helix.domain.contract import DEFAULT_DENSE_WEIGHT

RRF_K = 60
"""Of reciprocal rank fusion, 1 / (k + rank): the value of Cormack et al. 2009."""
LISTED = 50
"""The least number of chunks that a ranking brings before the best of them are chosen."""


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
