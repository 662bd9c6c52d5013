"""Gradient boosting of shallow trees for log-odds, in numpy: histograms of at most 32 values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from helix.evidence.model import Trees
from helix.evidence.words import Floats

_BINS = 32
_L2 = 5.0
_LEAST = 8.0  # of the summed second derivatives in a leaf

Ints = NDArray[np.intp]
Doubles = NDArray[np.floating[Any]]


def boosted(
    rows: Floats, labels: Floats, weights: Floats, *,
    trees: int = 150, depth: int = 4, rate: float = 0.08, share: float = 0.6, seed: int = 1,
) -> Trees:  # fmt: skip
    """Trees for the probability that a row's label is 1.

    ``share`` of the rows and of the columns, chosen anew, is seen by each tree.
    """
    random = np.random.default_rng(seed)
    edges = [
        np.unique(np.quantile(column, np.linspace(0, 1, _BINS + 1)[1:-1])) for column in rows.T
    ]
    binned = np.column_stack(
        [
            np.searchsorted(edge, column, side="left")
            for edge, column in zip(edges, rows.T, strict=True)
        ]
    ).astype(np.uint8)
    mean = float((labels * weights).sum() / weights.sum())
    base = float(np.log(mean / (1 - mean)))
    scores = np.full(len(rows), base, dtype=np.float32)
    columns = np.zeros((trees, 2**depth - 1), dtype=np.uint8)
    cuts = np.full((trees, 2**depth - 1), np.inf, dtype=np.float32)
    leaves = np.zeros((trees, 2**depth), dtype=np.float32)
    for tree in range(trees):
        sure = 1 / (1 + np.exp(-scores))
        slopes, bends = weights * (labels - sure), weights * sure * (1 - sure)
        seen = np.flatnonzero(random.random(len(rows)) < share)
        offered = random.permutation(rows.shape[1])[: int(rows.shape[1] * share)]
        node = np.zeros(len(rows), dtype=np.intp)
        for level in range(depth):
            first, count = 2**level - 1, 2**level
            chosen = _cuts(binned[seen], node[seen], slopes[seen], bends[seen], count, offered)
            for place, (column, cut) in enumerate(chosen):
                if column >= 0:
                    columns[tree, first + place] = column
                    cuts[tree, first + place] = edges[column][cut]
            mine = first + node
            goes = rows[np.arange(len(rows)), columns[tree, mine]] > cuts[tree, mine]
            node = 2 * node + goes
        total = np.bincount(node[seen], slopes[seen], 2**depth)
        bend = np.bincount(node[seen], bends[seen], 2**depth)
        leaves[tree] = rate * total / (bend + _L2)
        scores += leaves[tree, node]
    return Trees(columns, cuts, leaves, base)


def _cuts(
    binned: NDArray[np.uint8],
    node: Ints,
    slopes: Doubles,
    bends: Doubles,
    count: int,
    offered: Ints,
) -> list[tuple[int, int]]:
    """For each node its best column and the place of its cut; -1 where none gains."""
    best: list[tuple[float, int, int]] = [(1e-3, -1, 0)] * count
    for column in offered:
        at = node * _BINS + binned[:, column]
        slope = np.bincount(at, slopes, count * _BINS).reshape(count, _BINS).cumsum(axis=1)
        bend = np.bincount(at, bends, count * _BINS).reshape(count, _BINS).cumsum(axis=1)
        whole, weight = slope[:, -1:], bend[:, -1:]
        gain = (
            slope**2 / (bend + _L2) + (whole - slope) ** 2 / (weight - bend + _L2)
            - whole**2 / (weight + _L2)
        )  # fmt: skip
        gain[(bend < _LEAST) | (weight - bend < _LEAST)] = -1
        cut = gain[:, :-1].argmax(axis=1)
        for place in range(count):
            if gain[place, cut[place]] > best[place][0]:
                best[place] = float(gain[place, cut[place]]), int(column), int(cut[place])
    return [(column, cut) for _, column, cut in best]
