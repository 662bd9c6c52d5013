"""Both gates swept over searched questions: what each lets pass, and the gate to recommend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evals.calibration.curves import Curve, Floats, Point
from evals.calibration.gates import cross_fitted, distance_scores, fitted, model_scores
from evals.calibration.questions import COVERED
from evals.calibration.searches import SearchedQuestion
from helix.errors import BadRequest
from helix.retrieval.calibration.fits import PACKAGED, GateFit
from helix.retrieval.calibration.model import PENALTY, GateModel

GENERATED_PENALTY = 1.0
"""Questions made of sentences are worded as these are: the weights stay near to those that Helix
brings, and what the corpus tells is the level."""
MADE_COVERAGE = 0.97
"""A model fitted to made questions refuses at least the rest of them: people's are worded less like
the documents. On SQuAD and COVID-QA 0.87 and 0.94 of the real ones then pass."""
LEAST_COVERAGE = 0.5
"""A gate that refuses more of what the documents answer is recorded only with ``--force``."""


@dataclass(frozen=True)
class SearchedCorpus:
    """The questions that a corpus was asked, its size, its embedder and the ceiling as set.

    ``generated``: the questions were made of the corpus; ``ignored`` kinds are not fitted to.
    """

    asked: Sequence[SearchedQuestion]
    embedder: str
    ceiling: float | None
    documents: int
    chunks: int
    generated: bool = False
    ignored: Sequence[str] = ()


@dataclass(frozen=True)
class Calibration:
    """The curves of both gates, points of them, and the model fitted to all questions.

    ``plain`` and ``best`` are recommended: the upper end of their risk's interval is within the
    target. Of ``likely_plain`` and ``likely_best`` the risk itself is.
    """

    distance: Curve
    estimate: Curve | None
    model: GateModel | None
    plain: Point
    best: Point | None
    likely_plain: Point
    likely_best: Point | None

    @property
    def served(self) -> Point:
        """The point that ``--apply`` sets."""
        return self.best or self.plain


def calibrate(corpus: SearchedCorpus, target: float, uncovered: float) -> Calibration:
    """Sweep both gates; the calibrated one is judged by fits that did not see the question.

    Raises:
        BadRequest: there is no covered question, or no other, or no chunk is at any distance.
    """
    kinds = [one.kind for one in corpus.asked]
    if COVERED not in kinds or len(set(kinds)) < 2:
        raise BadRequest("calibration needs covered questions and others: see docs/calibration.md")
    distance = Curve(distance_scores(corpus.asked), kinds, uncovered)
    if not any(point.coverage for point in distance.points()):
        raise BadRequest("no covered question is near any chunk: ask of documents that are stored")
    plain, likely = distance.surely_within(target), distance.within(target)
    if not any(one.signals for one in corpus.asked):
        return Calibration(distance, None, None, plain, None, likely, None)
    prior = PACKAGED.get(corpus.embedder) or next(iter(PACKAGED.values()), None)
    weights = prior.weights if prior else None
    penalty = GENERATED_PENALTY if corpus.generated else PENALTY
    scores = cross_fitted(
        corpus.asked, corpus.embedder, ignored=corpus.ignored, prior=weights, penalty=penalty,
        ceiling=corpus.ceiling,
    )  # fmt: skip
    model = fitted(
        corpus.asked, corpus.embedder, ignored=corpus.ignored, prior=weights, penalty=penalty
    )
    estimate = Curve(scores, kinds, uncovered)
    whole = Curve(model_scores(corpus.asked, model, corpus.ceiling), kinds, uncovered)
    least = max(whole.surely_within(target).least, estimate.surely_within(target).least)
    loosest = whole.within(target).least
    if corpus.generated:
        least, loosest = (_tight(whole, one) for one in (least, loosest))
    return Calibration(distance, estimate, model.asking(least), plain, estimate.at(least),
                      likely, estimate.at(loosest))  # fmt: skip


def _tight(curve: Curve, least: float) -> float:
    """``least``, or what lets MADE_COVERAGE pass where ``least`` lets pass more."""
    bound = curve.covering(MADE_COVERAGE).least
    return bound if curve.at(least).coverage > MADE_COVERAGE and np.isfinite(bound) else least


def report(corpus: SearchedCorpus, found: Calibration, target: float) -> Iterator[str]:
    """The findings, line by line."""
    kinds = [one.kind for one in corpus.asked]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    chunks = f"{corpus.chunks} chunks, " if corpus.chunks else ""
    yield f"{corpus.documents} documents, {chunks}embedder {corpus.embedder}"
    yield f"questions: {counts}"
    share = found.distance.uncovered
    yield f"risk: the share of what passes that is not covered, {share:.0%} of questions being so"
    yield ""
    yield from _table(corpus, found, target)
    yield ""
    for gate, curve, point in (
        ("ceiling", found.distance, found.plain), ("calibrated gate", found.estimate, found.best)
    ):  # fmt: skip
        if curve and point and curve.estimates(point.least)[1].high > target:
            yield f"no {gate} is sure to reach a risk of {target:.3f}: the surest one is named"
    yield f"recommended RETRIEVAL_MAX_DISTANCE={recommended(found):.2f}"
    yield "recommended: the upper end of the risk's interval is within the target; likely: the risk"


def recommended(found: Calibration) -> float:
    """The ceiling of the plain gate, rounded down to two places: rounding admits nothing."""
    return float(np.floor(round(-found.plain.least, 6) * 100) / 100)


def _table(corpus: SearchedCorpus, found: Calibration, target: float) -> Iterator[str]:
    others = found.distance.others
    head = f"{'gate':<34}{'coverage':<24}{'risk':<24}{'precision':<11}{'recall@5':<10}"
    yield head + "".join(f"{kind + ' refused':<28}" for kind in others)
    rows = [
        (f"distance <= {-point.least:.3f} ({name})", found.distance, point.least)
        for name, point in (("recommended", found.plain), ("likely", found.likely_plain))
    ]
    if corpus.ceiling is not None:
        now = f"distance <= {corpus.ceiling:.3f} (as set)"
        rows.insert(0, (now, found.distance, -corpus.ceiling))
    if found.estimate and found.best and found.likely_best:
        for name, point in (("recommended", found.best), ("likely", found.likely_best)):
            rows.append((f"calibrated >= {point.least:.3f} ({name})", found.estimate, point.least))
        for coverage in (0.80, 0.85):
            for name, curve in (("distance", found.distance), ("calibrated", found.estimate)):
                rows.append((f"{name} at {coverage:.2f}", curve, curve.covering(coverage).least))
    for name, curve, least in rows:
        yield _row(name, curve, least, corpus.asked)


def _row(name: str, curve: Curve, least: float, asked: Sequence[SearchedQuestion]) -> str:
    coverage, risk = curve.estimates(least)
    cells = f"{name:<34}{coverage!s:<24}{risk!s:<24}"
    cells += f"{1 - risk.value:<11.3f}{_recall(asked, curve.scores, least):<10}"
    cells += "".join(f"{refused!s:<28}" for refused in curve.refusals(least).values())
    return cells.rstrip()


def _recall(asked: Sequence[SearchedQuestion], scores: Floats, least: float) -> str:
    """The share of the covered questions that pass and whose answer is among the first five."""
    known = [(one.found, s >= least) for one, s in zip(asked, scores, strict=True)
             if one.covered and one.found is not None]  # fmt: skip
    if not known:
        return "-"
    return f"{sum(bool(right and passed) for right, passed in known) / len(known):.3f}"


def check_coverage(found: Calibration, *, force: bool) -> None:
    """Raise BadRequest for a gate that refuses too much to be recorded, unless by ``force``."""
    coverage = found.served.coverage
    if coverage < LEAST_COVERAGE and not force:
        raise BadRequest(
            f"not recorded: the gate would let pass {coverage:.2f} of the covered questions, below"
            f" {LEAST_COVERAGE:g}; raise --target-risk, label more questions, or give --force"
        )


def fit_of(corpus: SearchedCorpus, found: Calibration, target: float) -> GateFit:
    """The fit that ``--apply`` records."""
    best = found.served
    measured = {
        "questions": len(corpus.asked), "generated": corpus.generated,
        "distance": {"coverage": found.plain.coverage, "risk": found.plain.risk},
        "calibrated": {"coverage": best.coverage, "risk": best.risk},
    }  # fmt: skip
    ceiling = recommended(found)
    return GateFit(
        corpus.embedder, ceiling if 0 <= ceiling <= 2 else None, found.model, corpus.documents,
        corpus.chunks, target, measured,
    )  # fmt: skip
