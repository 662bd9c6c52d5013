"""Risk and coverage of a gate by what it asks of a question, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evals.calibration.questions import COVERED
from evals.metrics.statistics import Estimate, wilson

Floats = NDArray[np.float64]

UNCOVERED_SHARE = 0.2
"""Of the questions that are asked, assumed to be uncovered: a log knows better."""
_DRAWN = 1000
_TRIED = 200  # thresholds whose intervals are looked at


@dataclass(frozen=True)
class Point:
    """A gate that lets pass what scores ``least`` and more.

    ``coverage`` is the share of covered questions that pass (the gate's recall); ``risk`` the share
    of those that pass that are not covered (one less its precision), where a set share of all
    questions is uncovered; ``refused`` the refused share of each other kind.
    """

    least: float
    coverage: float
    risk: float
    refused: dict[str, float]


@dataclass(frozen=True)
class Curve:
    """Scores of questions (larger: rather covered) of these kinds; every uncovered kind counts
    the same, and together as ``uncovered`` of all questions."""

    scores: Floats
    kinds: Sequence[str]
    uncovered: float = UNCOVERED_SHARE

    def of(self, kind: str) -> Floats:
        """The scores of one kind."""
        return self._by_kind.get(kind, np.empty(0))

    @cached_property
    def others(self) -> list[str]:
        """The kinds that are not covered."""
        return sorted(set(self.kinds) - {COVERED})

    @cached_property
    def _by_kind(self) -> dict[str, Floats]:
        kinds = np.array(self.kinds)
        return {kind: np.asarray(self.scores[kinds == kind]) for kind in set(self.kinds)}

    def at(self, least: float) -> Point:
        """The coverage, risk and refusals at one threshold."""
        coverage = float((self.of(COVERED) >= least).mean())
        refused = {kind: float((self.of(kind) < least).mean()) for kind in self.others}
        passed = 1 - sum(refused.values()) / max(len(refused), 1)
        return Point(least, coverage, risk_of(coverage, passed, self.uncovered), refused)

    def covering(self, coverage: float) -> Point:
        """The tightest threshold that lets this share of the covered questions through."""
        ordered = np.sort(self.of(COVERED))[::-1]
        return self.at(float(ordered[max(math.ceil(coverage * len(ordered)) - 1, 0)]))

    def points(self, most: int = 200) -> list[Point]:
        """The curve from the tightest threshold to the loosest."""
        ordered = np.unique(self.scores[np.isfinite(self.scores)])[::-1]
        places = np.unique(np.linspace(0, len(ordered) - 1, min(most, len(ordered))).astype(int))
        return [self.at(float(ordered[place])) for place in places]

    def within(self, risk: float) -> Point:
        """The loosest threshold whose risk is at most ``risk``; of least risk where none is."""
        points = [point for point in self.points(1000) if point.coverage > 0]
        allowed = [point for point in points if point.risk <= risk]
        if allowed:
            return max(allowed, key=lambda point: (point.coverage, point.least))
        return min(points, key=lambda point: (point.risk, point.least))

    def surely_within(self, risk: float) -> Point:
        """The loosest threshold whose risk is at most ``risk`` at the upper end of its interval.

        Where there is none, that whose upper end is least.
        """
        points = [point for point in self.points(_TRIED) if point.coverage > 0]
        highest = {point.least: self.estimates(point.least)[1].high for point in points}
        allowed = [point for point in points if highest[point.least] <= risk]
        if allowed:
            return max(allowed, key=lambda point: (point.coverage, point.least))
        return min(points, key=lambda point: (highest[point.least], point.least))

    def estimates(self, least: float) -> tuple[Estimate, Estimate]:
        """Coverage and risk at one threshold, with 95% intervals (Wilson's for the coverage).

        The interval of the risk has the percentiles of draws of each kind's share by Jeffreys'
        prior (Brown, Cai and DasGupta 2001): a kind of which none passed is not sure to have none.
        """
        own = self.of(COVERED) >= least
        source = np.random.default_rng(0)
        shares = [_drawn(own, source)]
        shares += [_drawn(self.of(kind) >= least, source) for kind in self.others]
        passed = np.mean(shares[1:], axis=0) if self.others else np.zeros(_DRAWN)
        wrong, right = self.uncovered * passed, (1 - self.uncovered) * shares[0]
        low, high = np.percentile(wrong / (wrong + right), (2.5, 97.5))
        risk = Estimate(self.at(least).risk, float(low), float(high), len(self.scores))
        return wilson(int(own.sum()), len(own)), risk

    def refusals(self, least: float) -> dict[str, Estimate]:
        """The refused share of each kind that is not covered, at one threshold."""
        return {
            kind: wilson(int((self.of(kind) < least).sum()), len(self.of(kind)))
            for kind in self.others
        }


def _drawn(passed: NDArray[np.bool_], source: np.random.Generator) -> Floats:
    hits = int(passed.sum())
    return source.beta(hits + 0.5, len(passed) - hits + 0.5, _DRAWN)


def risk_of(coverage: float, passed: float, uncovered: float) -> float:
    """The uncovered share of what passes, from the shares of either kind that do."""
    wrong = uncovered * passed
    total = wrong + (1 - uncovered) * coverage
    return wrong / total if total else 0.0
