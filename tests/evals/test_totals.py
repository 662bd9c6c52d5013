"""Outcomes: faults, totals, minima."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from evals.totals import EVERY, due, failures, minima, totals
from helix.errors import SettingsError
from tests.support.eval_outcomes import eval_outcomes, offline_judgement


def test_faults_and_totals() -> None:
    outcomes = eval_outcomes()
    assert [outcome.faults for outcome in outcomes] == [
        [], ["false marker", "keywords", "wrong source", "unfaithful"], ["refused"], [],
        ["answered"],
    ]  # fmt: skip
    measured = totals(outcomes, "offline")
    assert {name: round(value.value, 3) for name, value in measured.items()} == {
        "cases without a fault": 0.4,
        "recall@k": 1.0,
        "hit rate@k": 1.0,
        "MRR@k": 1.0,
        "nDCG@k": 1.0,
        "answered of the answerable": 0.667,
        "refusal precision": 0.5,
        "refusal recall": 0.5,
        "foreign refused by the gate": 0.5,
        "faithfulness": 0.667,
        "relevancy": 1.0,
        "verdict grounded": 0.667,
        "answers with unreadable replies": 0.0,
        "citation recall": 0.667,
        "citation precision": 0.667,
        "answers with both citation scores 1": 0.667,
        "answers without a false marker": 0.667,
        "answers that cite an expected passage": 0.5,
        "keywords, of all answerable": 0.333,
        "keywords, of the answered": 0.5,
    }


def test_a_verdict_that_could_not_be_read_grounds_nothing() -> None:
    good, *others = eval_outcomes()
    lost = replace(offline_judgement(True), verdict=None, unreadable=1)
    measured = totals([replace(good, judgements={"offline": lost}), *others], "offline")
    assert round(measured["verdict grounded"].value, 3) == 0.333
    assert round(measured["answers with unreadable replies"].value, 3) == 0.333


def test_the_first_judge_decides() -> None:
    good = eval_outcomes()[0]
    first, second = offline_judgement(True), offline_judgement(False)
    assert replace(good, judgements={"model": first, "offline": second}).faults == []
    assert replace(good, judgements={"model": second, "offline": first}).faults == ["unfaithful"]


def test_gold_spans_are_told_of_all_and_of_the_answered() -> None:
    good = eval_outcomes()[0]
    case = good.case.model_copy(update={"golds": ("30 days",)})
    answered = replace(good, case=case, baseline=False)
    refused = replace(answered, reason="below_gate", answer="30 days", judgements={})
    measured = totals([answered, refused], "offline")
    assert measured["gold span, of all answerable"].value == 0.5
    assert measured["gold span, of the answered"].value == 1
    assert measured["keywords, of all answerable"].value == 0.5
    assert measured["first sentence's gold span, of the answered"].value == 0


def test_what_failed_is_named_with_its_variable() -> None:
    measured = totals(eval_outcomes(), "offline")
    least = {"MIN_RECALL": 1, "MIN_REFUSAL": 0.6, "MIN_FAITHFULNESS": 0.5}
    assert failures(measured, least, EVERY) == ["refusal recall 0.500 is below MIN_REFUSAL=0.6"]
    assert minima({"MIN_RECALL": " 0.5 "}, defaults=False) == {"MIN_RECALL": 0.5}
    assert minima({}, defaults=True)["MIN_RECALL"] > 0.5
    for text in ("high", "1.5", "nan"):
        with pytest.raises(SettingsError, match="MIN_RECALL is malformed"):
            minima({"MIN_RECALL": text}, defaults=True)


def test_what_could_not_be_measured_fails_where_there_are_cases_for_it() -> None:
    good, *_, right, _ = eval_outcomes()
    vain = replace(good, reason="model_refused", answer="", judgements={})
    outcomes = [vain, right]
    least, cases = minima({}, defaults=True), [outcome.case for outcome in outcomes]
    failed = failures(totals(outcomes, "offline"), least, due(cases))
    assert [re.findall(r"MIN_[A-Z]+", line)[0] for line in failed] == [
        "MIN_ANSWERED", "MIN_FAITHFULNESS", "MIN_CITATIONS", "MIN_CITATIONS",
    ]  # fmt: skip
    assert failed[1] == "faithfulness could not be measured, and has MIN_FAITHFULNESS=0.9"
    assert due(cases) == EVERY and due([]) == set()
    assert failures(totals([right], "offline"), least, due([right.case])) == []
    assert len(failures({}, least, EVERY)) == len(EVERY)
