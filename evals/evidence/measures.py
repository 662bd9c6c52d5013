"""Measures and fits of probabilities: ranking, the line that calibrates, logistic regression."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evals.metrics.statistics import RESAMPLES, SEED, Estimate
from helix.evidence.model import Line
from helix.evidence.words import Floats

_STEPS = 30


def auroc(scores: ArrayLike, labels: ArrayLike) -> float:
    """The chance that one that is right scores above one that is wrong; NaN without either."""
    values, right = np.asarray(scores, dtype=np.float64), np.asarray(labels, dtype=bool)
    good, bad = values[right], np.sort(values[~right])
    if not len(good) or not len(bad):
        return float("nan")
    below, upto = np.searchsorted(bad, good, "left"), np.searchsorted(bad, good, "right")
    return float((below + upto).mean() / 2 / len(bad))


def auroc_estimate(scores: ArrayLike, labels: ArrayLike) -> Estimate | None:
    """``auroc`` with its percentile bootstrap interval; None without right or without wrong ones.

    Right and wrong ones are drawn again by themselves.
    """
    values, right = np.asarray(scores, dtype=np.float64), np.asarray(labels, dtype=bool)
    groups = values[right], values[~right]
    if not all(map(len, groups)):
        return None
    draw = np.random.default_rng(SEED)
    drawn = [
        auroc(np.concatenate([draw.choice(one, len(one)) for one in groups]), np.sort(right)[::-1])
        for _ in range(RESAMPLES)
    ]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Estimate(auroc(values, right), float(low), float(high), len(values))


def fitted_line(log_odds: Floats, labels: Floats, weights: Floats) -> Line:
    """Platt's calibration: the line that makes the labels likeliest."""
    slope, shift = logistic(np.asarray(log_odds)[:, None], labels, weights)
    return Line(float(slope), float(shift))


def logistic(
    rows: Floats, labels: Floats, weights: Floats, ridge: float = 0.0, given: Floats | float = 0.0
) -> NDArray[np.float64]:
    """The weight of each column, then the constant, that make the labels likeliest.

    By Newton's method; a step is halved until it makes them likelier, for whole steps may lead
    away. ``ridge`` counts the squares of all weights but the constant against them; ``given`` are
    log-odds that are added as they are.
    """
    wide = np.column_stack([rows, np.ones(len(rows))]).astype(np.float64)
    cost = np.append(np.full(wide.shape[1] - 1, ridge), 0.0)

    def loss(line: NDArray[np.float64]) -> float:
        said = wide @ line + given
        return float((weights * (np.logaddexp(0, said) - labels * said)).sum() + cost @ line**2 / 2)

    line = np.zeros(wide.shape[1])
    for _ in range(_STEPS):
        sure = 1 / (1 + np.exp(-np.clip(wide @ line + given, -500, 500)))
        slope = wide.T @ (weights * (labels - sure)) - cost * line
        bend = (wide * (weights * sure * (1 - sure))[:, None]).T @ wide + np.diag(cost)
        step = np.linalg.solve(bend + 1e-9 * np.eye(len(line)), slope)
        while loss(line + step) > loss(line) and np.abs(step).max() > 1e-9:
            step = step / 2
        line = line + step
    return line
