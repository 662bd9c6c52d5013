"""Intervals and agreement: Wilson for shares, a seeded bootstrap for means, Cohen's kappa."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

Z = 1.959963984540054
"""The 97.5% quantile of the normal distribution: intervals are of 95%."""
RESAMPLES = 2000
SEED = 5


@dataclass(frozen=True)
class Estimate:
    """A value with its 95% interval over ``n`` observations."""

    value: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"

    def to_json(self) -> dict[str, float]:
        """Its fields, rounded to six places."""
        return {name: round(value, 6) for name, value in asdict(self).items()}


def wilson(hits: int, n: int) -> Estimate:
    """A share and Wilson's score interval (Wilson 1927), which holds at 0 and 1 and for few.

    Raises:
        ValueError: ``n`` is below 1 or ``hits`` not from 0 to ``n``.
    """
    if not 0 <= hits <= n or n < 1:
        raise ValueError(f"{hits} of {n} is no share")
    share, square = hits / n, Z * Z
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = Z / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    low = 0.0 if hits == 0 else max(0.0, middle - half)
    high = 1.0 if hits == n else min(1.0, middle + half)
    return Estimate(share, low, high, n)


def share(values: Sequence[bool]) -> Estimate | None:
    """``wilson`` of how many are true; None of none."""
    return wilson(sum(values), len(values)) if values else None


def mean(values: Sequence[float]) -> Estimate | None:
    """A mean and its percentile bootstrap interval, the same for the same values; None of none."""
    if not values:
        return None
    given = np.asarray(values, dtype=np.float64)
    places = np.random.default_rng(SEED).integers(len(given), size=(RESAMPLES, len(given)))
    low, high = np.quantile(given[places].mean(axis=1), (0.025, 0.975))
    return Estimate(float(given.mean()), float(low), float(high), len(given))


@dataclass(frozen=True)
class Agreement:
    """Of two judges over the same ``n`` answers: how often they agree, and beyond chance.

    ``kappa`` is Cohen's (1960), -1 to 1; None where both always say the same one thing, for chance
    alone would agree as often.
    """

    raw: float
    kappa: float | None
    n: int


def agreement(one: Sequence[bool], other: Sequence[bool]) -> Agreement | None:
    """Of the judgements in order; None of none.

    Raises:
        ValueError: they are not as many.
    """
    if len(one) != len(other):
        raise ValueError("the judges judged not as many answers")
    if not one:
        return None
    n = len(one)
    raw = sum(a == b for a, b in zip(one, other, strict=True)) / n
    first, second = sum(one) / n, sum(other) / n
    chance = first * second + (1 - first) * (1 - second)
    return Agreement(raw, None if chance == 1 else (raw - chance) / (1 - chance), n)
