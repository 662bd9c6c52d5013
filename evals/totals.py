"""The totals of all outcomes: each measure with its 95% interval, and the least it may be."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from evals.cases import Case
from evals.metrics.retrieval import NAMES
from evals.metrics.statistics import Agreement, Estimate, agreement, mean, share
from evals.runner import Outcome
from helix.errors import SettingsError

MINIMA: Mapping[str, tuple[float, tuple[str, ...]]] = {
    "MIN_RECALL": (0.85, ("recall@k",)),
    "MIN_ANSWERED": (0.75, ("answered of the answerable",)),
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
        "verdict grounded": share([bool(j.verdict and j.verdict.grounded) for j in judged]),
        "answers with unreadable replies": share([j.unreadable > 0 for j in judged]),
        "citation recall": mean([j.citations.recall for j in judged]),
        "citation precision": mean([j.citations.precision for j in judged]),
        # a bootstrap of ones alone has no width: Wilson tells how sure that is
        "answers with both citation scores 1": share(
            [j.citations.recall == j.citations.precision == 1 for j in judged]
        ),
        "answers without a false marker": share([not o.markers for o in answered]),
        "answers that cite an expected passage": share([o.right_source for o in said]),
        "keywords, of all answerable": mean(_known([o.keywords for o in wanted])),
        "keywords, of the answered": mean(_known([o.keywords for o in said])),
        "gold span, of all answerable": share(_known([o.gold for o in wanted])),
        "gold span, of the answered": share(_known([o.gold for o in said])),
        "first sentence's gold span, of the answered": share(_known([o.baseline for o in said])),
    }
    return {name: estimate for name, estimate in found.items() if estimate}


_Value = TypeVar("_Value", float, bool)


def _known(values: Iterable[_Value | None]) -> list[_Value]:
    return [value for value in values if value is not None]


def minima(environment: Mapping[str, str], *, defaults: bool) -> dict[str, float]:
    """The value of each variable of MINIMA, else its default, or nothing without ``defaults``.

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


EVERY = frozenset(measure for _, measures in MINIMA.values() for measure in measures)
"""The measures that have a minimum."""


def due(cases: Iterable[Case]) -> frozenset[str]:
    """The measures of EVERY that these cases are there for: of others nothing can be measured."""
    of_refusals = {"refusal recall", "foreign refused by the gate"}
    found: set[str] = set()
    for case in cases:
        if not case.refusal:
            found |= EVERY - of_refusals
        else:
            found.add("refusal recall")
            if "foreign" in case.tags:
                found |= of_refusals
    return frozenset(found)


def failures(measured: Totals, least: Mapping[str, float], wanted: Collection[str]) -> list[str]:
    """A line for each measure below its minimum, and for each that is ``wanted`` and is not there:
    where nothing is answered there is nothing to judge."""
    lines = []
    for variable, value in least.items():
        for measure in MINIMA[variable][1]:
            if measure not in measured:
                if measure in wanted and value > 0:
                    lines.append(f"{measure} could not be measured, and has {variable}={value:g}")
            elif measured[measure].value < value:
                lines.append(
                    f"{measure} {measured[measure].value:.3f} is below {variable}={value:g}"
                )
    return lines


def agreements(outcomes: Iterable[Outcome], one: str, other: str) -> dict[str, Agreement]:
    """The agreement of two judges, by what they were asked."""
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
