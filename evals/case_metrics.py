"""Five metrics of each case, as the third specification names them, and how long answers took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evals.metrics.statistics import Estimate, mean
from evals.runner import Outcome
from helix.domain.citations import marker_numbers

CASE_METRICS = (
    "retrieval recall", "grounding", "citation precision", "refusal correctness",
    "keyword coverage",
)  # fmt: skip
PERCENTILES = (50, 95)


def case_metrics(outcome: Outcome) -> dict[str, float | None]:
    """Each of CASE_METRICS from 0 to 1; None where the case has nothing to measure it by.

    - retrieval recall: the share of what should be found that was; None of a refusal case.
    - grounding: 1 where no citation names a source that there is not, else 0.
    - citation precision: the share of the citations that name a source that there is; None where
      nothing is cited.
    - refusal correctness: 1 where it was refused as it should be, or answered as it should be.
    - keyword coverage: the share of the keywords that the answer has; None of a case without.
    """
    cited = len(set(marker_numbers(outcome.answer)))
    values: tuple[float | None, ...] = (
        outcome.found.get("recall"),
        float(not outcome.markers),
        1 - len(set(outcome.markers)) / cited if cited else None,
        float(outcome.refused == outcome.case.refusal),
        outcome.keywords,
    )
    return dict(zip(CASE_METRICS, values, strict=True))


def mean_metrics(outcomes: Sequence[Outcome]) -> dict[str, Estimate]:
    """The mean of each of CASE_METRICS over the cases that have it."""
    found = [case_metrics(outcome) for outcome in outcomes]
    known = {name: [one[name] for one in found] for name in CASE_METRICS}
    means = {name: mean([v for v in values if v is not None]) for name, values in known.items()}
    return {name: value for name, value in means.items() if value}


def latency(outcomes: Sequence[Outcome]) -> Mapping[str, float]:
    """Seconds to the end of an answer, ``p50`` and ``p95``; empty of no outcome."""
    if not outcomes:
        return {}
    seconds = np.percentile([outcome.seconds for outcome in outcomes], PERCENTILES)
    return {f"p{n}": float(value) for n, value in zip(PERCENTILES, seconds, strict=True)}
