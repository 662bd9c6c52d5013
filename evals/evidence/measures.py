"""Measures of probabilities: ranking, calibration, and how many are right above a bar."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from helix.evidence.model import Line
from helix.evidence.words import Floats

_BINS = 10
_STEPS = 30


def auroc(scores: ArrayLike, labels: ArrayLike) -> float:
    """The chance that one that is right scores above one that is wrong; NaN without either."""
    values, right = np.asarray(scores, dtype=np.float64), np.asarray(labels, dtype=bool)
    good, bad = values[right], np.sort(values[~right])
    if not len(good) or not len(bad):
        return float("nan")
    below, upto = np.searchsorted(bad, good, "left"), np.searchsorted(bad, good, "right")
    return float((below + upto).mean() / 2 / len(bad))


def calibration_error(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Expected calibration error over ten bins of equal width."""
    values, right = np.asarray(probabilities), np.asarray(labels, dtype=np.float64)
    bins = np.minimum((values * _BINS).astype(int), _BINS - 1)
    gaps = [
        abs(values[bins == one].mean() - right[bins == one].mean()) * (bins == one).mean()
        for one in range(_BINS)
        if (bins == one).any()
    ]
    return float(sum(gaps))


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


def above(probabilities: NDArray[np.float32], right: Sequence[bool], bar: float) -> tuple[int, int]:
    """Count the probabilities that pass the bar, and those of them that are wrong."""
    passed = np.asarray(probabilities) >= bar
    return int(passed.sum()), int((passed & ~np.asarray(right, dtype=bool)).sum())
