"""Fits of the calibrated gate: to all questions, or so that none is judged by a fit it was in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evals.calibration.asked import (
    FOREIGN,
    NEAR_MISS,
    OFFLINE,
    Asked,
    by_model,
    matrix,
    weights_of,
)
from helix.calibration.model import PENALTY, GateModel, fit
from helix.providers.offline import MAX_DISTANCE

Floats = NDArray[np.float64]

FOLDS = 4


def fitted(
    asked: Sequence[Asked],
    embedder: str = OFFLINE,
    *,
    ignored: Sequence[str] = (),
    weights: Floats | None = None,
    prior: Sequence[float] | None = None,
    penalty: float = PENALTY,
) -> GateModel:
    """A model of these questions; ``weights`` are as weights_of has them where not given."""
    covered = np.array([one.covered for one in asked])
    chosen = weights_of(asked, ignored) if weights is None else weights
    return fit(embedder, matrix(asked), covered, chosen, prior=prior, penalty=penalty)


def fitted_to_all(sets: Sequence[tuple[Sequence[Asked], Sequence[str]]]) -> GateModel:
    """One model of several corpora, each of the same weight: (questions, ignored kinds) pairs.

    Near misses count as much as if every corpus had them: few sets do, and people ask them of all.
    """
    together = [one for asked, _ in sets for one in asked]
    weights = np.concatenate([weights_of(asked, ignored) for asked, ignored in sets])
    near = np.array([one.kind == NEAR_MISS for one in together])
    having = sum(any(one.kind == NEAR_MISS for one in asked) for asked, _ in sets)
    weights[near] *= len(sets) / max(having, 1)
    return fitted(together, weights=weights)


def cross_fitted(
    asked: Sequence[Asked],
    embedder: str = OFFLINE,
    *,
    ignored: Sequence[str] = (),
    prior: Sequence[float] | None = None,
    penalty: float = PENALTY,
    ceiling: float | None = MAX_DISTANCE,
) -> Floats:
    """A score for each question by a fit without its document; foreign ones fall into folds."""
    folds = np.array([_fold(one, place) for place, one in enumerate(asked)])
    weights = weights_of(asked, ignored)
    scores = np.full(len(asked), -np.inf)
    for number in range(FOLDS):
        own = folds == number
        kept = [one for one, held_out in zip(asked, own, strict=True) if not held_out]
        if not own.any() or len({one.covered for one in kept}) < 2:
            continue
        model = fitted(kept, embedder, weights=weights[~own], prior=prior, penalty=penalty)
        judged = [one for one, held_out in zip(asked, own, strict=True) if held_out]
        scores[own] = by_model(judged, model, ceiling)
    return scores


def _fold(one: Asked, place: int) -> int:
    own = not one.kind.startswith(FOREIGN)  # what is foreign is of other sets' documents
    return (one.question.document if own else place) % FOLDS
