"""What a search is made in: whose vectors, how near is near enough, and how rankings are joined."""

from __future__ import annotations

from dataclasses import dataclass

from helix.contract import DEFAULT_DENSE_WEIGHT

RRF_K = 60
"""Of reciprocal rank fusion, 1 / (k + rank): the value of Cormack et al. 2009."""


@dataclass(frozen=True)
class Fusion:
    """How two rankings become one.

    ``dense_weight``, from 0 to 1, is the share of the cosine in a convex sum with the BM25 score,
    which is scaled by the best one; None is reciprocal rank fusion with RRF_K. The cosine stays as
    it is: scaled over the candidates too, a question that nothing is near to would weigh the
    nearest as much as any.
    """

    dense_weight: float | None = None


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
