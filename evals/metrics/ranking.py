"""The measures of a ranking: nDCG, recall and reciprocal rank, each a mean over questions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set

RECALLS = (5, 10, 50)
Ranking = list[int]
"""Ids of what was found, best first."""
HEADINGS = ("nDCG@10", *(f"recall@{depth}" for depth in RECALLS), "MRR@10")


def ranking_measures(
    rankings: Sequence[Sequence[int]], relevant: Sequence[Set[int]]
) -> Mapping[str, float]:
    """Means over the questions, by the names of HEADINGS, each from 0 to 1.

    ``rankings`` are ids, best first, and ``relevant`` those that answer the same question, one at
    least. Gains are binary.
    """
    totals = dict.fromkeys(HEADINGS, 0.0)
    for ranking, right in zip(rankings, relevant, strict=True):
        places = [place for place, found in enumerate(ranking) if found in right]
        ideal = sum(1 / math.log2(place + 2) for place in range(min(10, len(right))))
        totals["nDCG@10"] += sum(1 / math.log2(p + 2) for p in places if p < 10) / ideal
        for depth in RECALLS:
            totals[f"recall@{depth}"] += sum(p < depth for p in places) / len(right)
        if places and places[0] < 10:
            totals["MRR@10"] += 1 / (places[0] + 1)
    return {name: total / len(relevant) for name, total in totals.items()}
