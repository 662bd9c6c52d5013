"""The refusal decision, pure: is the nearest chunk near enough to ask the model at all?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class GateDecision:
    """``passed``: the model may be asked. ``best``: the nearest cosine distance, None if none."""

    passed: bool
    best: float | None


def decide(distances: Sequence[float], max_distance: float) -> GateDecision:
    """Pass when the nearest of ``distances`` (cosine, 0 to 2) is at most ``max_distance``.

    No chunk, or only chunks at no distance (NaN: a question or chunk whose vector is zero, such
    as a text without one known word), does not pass. A lower ceiling never admits more.
    """
    known = [distance for distance in distances if distance == distance]  # NaN equals nothing
    if not known:
        return GateDecision(passed=False, best=None)
    best = min(known)
    return GateDecision(passed=best <= max_distance, best=best)
