"""Whether anything that was found is relevant enough to answer from, pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

RRF_MIN_SCORE = 0.030
"""The least RRF score that counts as relevant where there is no reranker's score.

With k = 60 (helix.hybrid_sql.RRF_K) a text that leads both lists has 2/61 = 0.0328, and one that
only one list has at most 1/61 = 0.0164. So both lists must have it, about seventh or better.
"""


def relevant(
    scores: Sequence[float] | None,
    min_score: float | None,
    fused: Sequence[float],
    fused_min: float | None,
) -> bool:
    """Whether the best score reaches its threshold; a threshold of None is always reached.

    With ``scores``, a reranker's, they and ``min_score`` decide. Where they are None, because it
    failed, ``fused`` and ``fused_min`` do: reciprocal rank fusion's scores with RRF_MIN_SCORE, and
    None for a convex sum, which has another scale. Nothing found reaches no threshold.
    """
    if scores is not None:
        return _reaches(scores, min_score)
    return _reaches(fused, fused_min)


def _reaches(scores: Sequence[float], threshold: float | None) -> bool:
    known = [score for score in scores if score == score]  # NaN equals nothing
    return threshold is None or max(known, default=-math.inf) >= threshold
