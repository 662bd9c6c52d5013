"""Outcomes of the evals, one of each kind, and the run that they make."""

from __future__ import annotations

from dataclasses import replace

from evals.cases import Case, Passage
from evals.judges import Judgement
from evals.metrics.alce import CitationScores
from evals.report.data import Run
from evals.runner import Outcome
from evals.totals import EVERY, failures, minima, totals
from helix.domain.contract import Verdict


def offline_judgement(good: bool) -> Judgement:
    """All good, or unfaithful and wrongly cited."""
    verdict = Verdict(
        grounded=good, unsupported_claims=[], cited_ids=[1], citations_correct=good, relevant=True
    )
    return Judgement(good, True, CitationScores(float(good), float(good)), verdict)


def eval_outcomes() -> list[Outcome]:
    """Answered well, answered badly, refused in vain, refused rightly, not refused."""
    passages = (Passage(source="a", text="x"),)
    found = dict.fromkeys(("recall", "hit_rate", "mrr", "ndcg"), 1.0)
    covered = Case(id="good", question="<b>Q</b>?", passages=passages, keywords=("30",))
    foreign = Case(id="foreign", question="?", refusal=True, tags=("uncovered", "foreign"))
    good = Outcome(
        covered, "30 days [1].", None, 0.3, found, ("a",), True, (), None, 0.1,
        {"offline": offline_judgement(True)},
    )  # fmt: skip
    bad = replace(
        good, case=covered.model_copy(update={"id": "bad"}), answer="31 [9]", markers=(9,),
        right_source=False, judgements={"offline": offline_judgement(False)},
    )  # fmt: skip
    vain = replace(
        good, case=covered.model_copy(update={"id": "vain"}), reason="model_refused", answer="",
        cited=(), right_source=False, judgements={},
    )  # fmt: skip
    right = replace(vain, case=foreign, reason="below_gate", found={}, distance=float("nan"))
    wrong = replace(
        good, case=foreign.model_copy(update={"id": "answered"}), found={}, distance=0.6
    )
    return [good, bad, vain, right, wrong]


def eval_run(outcomes: list[Outcome]) -> Run:
    """The run of the golden set that these came of."""
    measured = totals(outcomes, "offline")
    least = minima({}, defaults=True)
    return Run(
        "golden", (), ("offline",), {"llm": "offline"}, 1.0, 0.72, outcomes, measured, least,
        failures(measured, least, EVERY),
    )  # fmt: skip
