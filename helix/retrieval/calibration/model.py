"""The calibrated gate: a logistic model of a search's signals whose weights are never negative."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from helix.retrieval.calibration.signals import SIGNALS

Floats = NDArray[np.float64]

PENALTY = 0.01
"""Of the squared distance of the standardised weights to their prior, where the questions' weights
sum to one. From 0.001 to 0.03 nothing changes by more than half a point."""
_STEPS = 200
_SETTLED = 1e-9


@dataclass(frozen=True)
class GateModel:
    """A model of how likely the documents answer, by SIGNALS; ``least`` is enough to pass.

    ``weights`` (0 and more), ``means`` and ``deviations`` are of one number a signal: a signal
    counts as standardised by the questions that the model was fitted on. ``embedder`` is the
    identity whose distances it knows.
    """

    embedder: str
    weights: tuple[float, ...]
    means: tuple[float, ...]
    deviations: tuple[float, ...]
    intercept: float
    least: float

    def probability(self, signals: Sequence[float]) -> float:
        """The probability, from 0 to 1; never smaller where a signal is larger."""
        total = self.intercept
        for value, weight, mean, deviation in zip(
            signals, self.weights, self.means, self.deviations, strict=True
        ):
            total += weight * (value - mean) / deviation
        return 1 / (1 + math.exp(-max(min(total, 500.0), -500.0)))

    def asking(self, least: float) -> GateModel:
        """The same that lets pass what reaches ``least``."""
        return replace(self, least=least)

    def to_json(self) -> dict[str, Any]:
        """The model as ``gate_fits.model`` keeps it."""
        return {
            "signals": list(SIGNALS),
            "weights": list(self.weights),
            "means": list(self.means),
            "deviations": list(self.deviations),
            "intercept": self.intercept,
            "least": self.least,
        }

    @staticmethod
    def from_json(embedder: str, stored: dict[str, Any]) -> GateModel | None:
        """The model that ``to_json`` gave; None where this release knows other signals."""
        if stored.get("signals") != list(SIGNALS):
            return None
        weights, means, deviations = (
            tuple(map(float, stored[name])) for name in ("weights", "means", "deviations")
        )
        intercept, least = float(stored["intercept"]), float(stored["least"])
        return GateModel(embedder, weights, means, deviations, intercept, least)


def fit(
    embedder: str,
    signals: Floats,
    covered: NDArray[np.bool_],
    weights: Floats,
    *,
    prior: Sequence[float] | None = None,
    penalty: float = PENALTY,
) -> GateModel:
    """Fit to ``signals`` of shape (questions, SIGNALS), which of them are covered, their weights.

    Regularised logistic regression by Newton's method, weights below zero held at zero (projected
    Newton, Bertsekas 1982). ``prior`` are standardised weights to stay near to, zeros by default.
    ``least`` is 0.5: choose it by what is to pass. Deterministic.

    Raises:
        ValueError: there is no covered question, or no other.
    """
    if covered.all() or not covered.any():
        raise ValueError("a fit needs covered questions and others")
    shares = weights / weights.sum()
    means = shares @ signals
    deviations = np.maximum(np.sqrt(shares @ (signals - means) ** 2), 1e-6)
    rows = np.hstack([(signals - means) / deviations, np.ones((len(signals), 1))])
    centre = np.zeros(len(SIGNALS)) if prior is None else np.asarray(prior, dtype=np.float64)
    found = _minimised(rows, covered.astype(np.float64), shares, centre, penalty)
    return GateModel(
        embedder,
        tuple(map(float, found[:-1])),
        tuple(map(float, means)),
        tuple(map(float, deviations)),
        float(found[-1]),
        0.5,
    )


def _minimised(
    rows: Floats, covered: Floats, shares: Floats, centre: Floats, penalty: float
) -> Floats:
    """Weights and intercept of the least penalised loss; the last column of ``rows`` is ones."""
    found = np.append(centre, 0.0)
    bounded = np.append(np.ones(len(centre), dtype=bool), False)
    ridge = np.append(np.full(len(centre), penalty), 1e-9)
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-np.clip(rows @ found, -500, 500)))
        slope = rows.T @ (shares * (likely - covered)) + ridge * (found - np.append(centre, 0.0))
        free = ~(bounded & (found <= 0) & (slope > 0))
        curve = (rows * (shares * likely * (1 - likely))[:, None]).T @ rows + np.diag(ridge)
        step = np.zeros(len(found))
        step[free] = np.linalg.solve(curve[np.ix_(free, free)], slope[free])
        moved = np.where(bounded, np.maximum(found - step, 0), found - step)
        if np.abs(moved - found).max() < _SETTLED:
            return np.asarray(moved)
        found = moved
    return np.asarray(found)
