"""What all outcomes come to: each measure with its 95% interval, and the least it may be."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from evals.asking import Outcome
from evals.metrics.retrieval import NAMES
from evals.metrics.statistics import Agreement, Estimate, agreement, mean, share
from helix.errors import SettingsError

MINIMA: Mapping[str, tuple[float, tuple[str, ...]]] = {
    "MIN_RECALL": (0.85, ("recall@k",)),
    "MIN_FAITHFULNESS": (0.90, ("faithfulness",)),
    "MIN_REFUSAL": (0.85, ("refusal recall",)),
    "MIN_GATE": (0.80, ("foreign refused by the gate",)),
    "MIN_CITATIONS": (0.85, ("citation recall", "citation precision")),
}
"""By the environment variable: its default, for the golden set, and what it is the least of. An
offline build has the golden set's figures of docs/evals.md, some way above each."""

Totals = Mapping[str, Estimate]


def totals(outcomes: Sequence[Outcome], judge: str) -> dict[str, Estimate]:
    """The measures by name, in the order of a report; without those that no case is for."""
    wanted = [o for o in outcomes if not o.case.refusal]
    answered = [o for o in outcomes if not o.refused]
    unanswerable = [o for o in outcomes if o.case.refusal]
    foreign = [o for o in unanswerable if "foreign" in o.case.tags]
    judged = [o.judgements[judge] for o in answered if judge in o.judgements]
    said = [o for o in wanted if not o.refused]
    found: dict[str, Estimate | None] = {
        "cases without a fault": share([not o.faults for o in outcomes]),
        **{
            shown: mean([o.found[name] for o in wanted if o.found]) for name, shown in NAMES.items()
        },
        "answered of the answerable": share([not o.refused for o in wanted]),
        "refusal precision": share([o.case.refusal for o in outcomes if o.refused]),
        "refusal recall": share([o.refused for o in unanswerable]),
        "foreign refused by the gate": share([o.gated for o in foreign]),
        "faithfulness": share([j.faithful for j in judged]),
        "relevancy": share([j.relevant for j in judged]),
        "verdict grounded": share([j.verdict.grounded for j in judged if j.verdict]),
        "citation recall": mean([j.citations.recall for j in judged]),
        "citation precision": mean([j.citations.precision for j in judged]),
        # a bootstrap of ones alone has no width: Wilson tells how sure that is
        "answers with both citation scores 1": share(
            [j.citations.recall == j.citations.precision == 1 for j in judged]
        ),
        "answers without a false marker": share([not o.markers for o in answered]),
        "answers that cite an expected passage": share([o.right_source for o in said]),
        "keyword coverage": mean([o.keywords for o in said if o.keywords is not None]),
        "answers with a gold span": share([o.gold for o in said if o.gold is not None]),
        "first sentence of the best chunk with one": share(
            [o.baseline for o in said if o.baseline is not None]
        ),
    }
    return {name: estimate for name, estimate in found.items() if estimate}


def minima(environment: Mapping[str, str], *, defaults: bool) -> dict[str, float]:
    """What each variable of MINIMA is set to, else its default, or nothing without ``defaults``.

    Raises:
        SettingsError: one is not a number from 0 to 1.
    """
    found = {}
    for name, (default, _) in MINIMA.items():
        if text := environment.get(name, "").strip():
            found[name] = _least(name, text)
        elif defaults:
            found[name] = default
    return found


def _least(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise SettingsError(f"{name} is malformed: set it to a number from 0 to 1, such as 0.85")
    return value


def failures(measured: Totals, least: Mapping[str, float]) -> list[str]:
    """A line for each measure below its minimum; what was not measured fails nothing."""
    return [
        f"{measure} {measured[measure].value:.3f} is below {variable}={value:g}"
        for variable, value in least.items()
        for measure in MINIMA[variable][1]
        if measure in measured and measured[measure].value < value
    ]


def agreements(outcomes: Iterable[Outcome], one: str, other: str) -> dict[str, Agreement]:
    """How far two judges agree, by what they were asked."""
    both = [
        (o.judgements[one], o.judgements[other])
        for o in outcomes
        if one in o.judgements and other in o.judgements
    ]
    asked: Mapping[str, Callable[[int], list[bool]]] = {
        "faithful": lambda n: [pair[n].faithful for pair in both],
        "relevant": lambda n: [pair[n].relevant for pair in both],
        "fully cited": lambda n: [pair[n].citations.recall == 1 for pair in both],
    }
    found = {name: agreement(judged(0), judged(1)) for name, judged in asked.items()}
    return {name: value for name, value in found.items() if value}
