"""The two gates as scores of searched questions; fits of the calibrated one.

A score is larger the rather the question is covered. A cross-fitted score is by a fit that has not
seen the question's document.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evals.calibration.questions import COVERED, FOREIGN, NEAR_MISS
from evals.calibration.searches import SearchedQuestion
from helix.evidence.vectors import IDENTITY as OFFLINE
from helix.providers.offline import MAX_DISTANCE
from helix.retrieval.calibration.model import PENALTY, GateModel, fit
from helix.retrieval.calibration.signals import SIGNALS

Floats = NDArray[np.float64]
Searched = Sequence[SearchedQuestion]

FOLDS = 4
PASSES, FAILS = np.inf, -np.inf
"""Scores of what a gate lets pass, and refuses, whatever its threshold."""


def distance_scores(asked: Searched) -> Floats:
    """Scores of the plain gate, as helix.domain.gate.decide goes: the nearest distance, negated."""
    return _scores(asked, [FAILS if one.distance is None else -one.distance for one in asked])


def model_scores(asked: Searched, model: GateModel, ceiling: float | None = MAX_DISTANCE) -> Floats:
    """Scores of the calibrated gate, as helix.domain.gate.decide goes where no ceiling was set.

    Where there is nothing to tell by the distance decides, by the embedder's own ``ceiling``.
    """

    def score(one: SearchedQuestion) -> float:
        if one.signals is not None:
            return model.probability(one.signals)
        within = one.distance is not None and ceiling is not None and one.distance <= ceiling
        return PASSES if within else FAILS

    return _scores(asked, [score(one) for one in asked])


def _scores(asked: Searched, scores: Sequence[float]) -> Floats:
    pairs = zip(asked, scores, strict=True)
    return np.array([PASSES if one.exact else score for one, score in pairs])


def _matrix(asked: Searched) -> Floats:
    """The signals, of shape (questions, SIGNALS); where there are none, as bad as can be."""
    worst = (-2.0, *[0.0] * (len(SIGNALS) - 1))
    return np.array([one.signals or worst for one in asked], dtype=np.float64)


def _weights(asked: Searched, ignored: Sequence[str] = ()) -> Floats:
    """Weights for a fit: covered and uncovered count the same, and each uncovered kind as much.

    Kinds that are ``ignored`` weigh nothing.
    """
    kinds = np.array([one.kind for one in asked])
    weights = np.zeros(len(asked))
    uncovered = [kind for kind in sorted(set(kinds)) if kind != COVERED and kind not in ignored]
    for kind in uncovered:
        weights[kinds == kind] = 1 / len(uncovered) / (kinds == kind).sum()
    weights[kinds == COVERED] = 1 / max((kinds == COVERED).sum(), 1)
    return weights


def fitted(
    asked: Searched,
    embedder: str = OFFLINE,
    *,
    ignored: Sequence[str] = (),
    weights: Floats | None = None,
    prior: Sequence[float] | None = None,
    penalty: float = PENALTY,
) -> GateModel:
    """A model of these questions; covered and uncovered ones weigh the same where no ``weights``
    are given."""
    covered = np.array([one.covered for one in asked])
    chosen = _weights(asked, ignored) if weights is None else weights
    return fit(embedder, _matrix(asked), covered, chosen, prior=prior, penalty=penalty)


def fitted_to_all(sets: Sequence[tuple[Searched, Sequence[str]]]) -> GateModel:
    """One model of several corpora, each of the same weight: (questions, ignored kinds) pairs.

    Near misses count as much as if every corpus had them: few sets do, and people ask them of all.
    """
    together = [one for asked, _ in sets for one in asked]
    weights = np.concatenate([_weights(asked, ignored) for asked, ignored in sets])
    near = np.array([one.kind == NEAR_MISS for one in together])
    having = sum(any(one.kind == NEAR_MISS for one in asked) for asked, _ in sets)
    weights[near] *= len(sets) / max(having, 1)
    return fitted(together, weights=weights)


def cross_fitted(
    asked: Searched,
    embedder: str = OFFLINE,
    *,
    ignored: Sequence[str] = (),
    prior: Sequence[float] | None = None,
    penalty: float = PENALTY,
    ceiling: float | None = MAX_DISTANCE,
) -> Floats:
    """A score for each question by a fit without its document; foreign ones fall into folds."""
    folds = np.array([_fold(one, place) for place, one in enumerate(asked)])
    weights = _weights(asked, ignored)
    scores = np.full(len(asked), FAILS)
    for number in range(FOLDS):
        own = folds == number
        kept = [one for one, held_out in zip(asked, own, strict=True) if not held_out]
        if not own.any() or len({one.covered for one in kept}) < 2:
            continue
        model = fitted(kept, embedder, weights=weights[~own], prior=prior, penalty=penalty)
        judged = [one for one, held_out in zip(asked, own, strict=True) if held_out]
        scores[own] = model_scores(judged, model, ceiling)
    return scores


def _fold(one: SearchedQuestion, place: int) -> int:
    own = not one.kind.startswith(FOREIGN)  # what is foreign is of other sets' documents
    return (one.question.document if own else place) % FOLDS
