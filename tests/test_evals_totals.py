"""What outcomes come to: faults, totals, minima, baselines, the page and the comment."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from evals.asking import Outcome
from evals.golden import Case, CaseError, Passage
from evals.judges import Judgement
from evals.metrics.alce import CitationScores
from evals.report.data import Run, baseline_of, compare, to_json
from evals.report.page import STYLE, STYLE_HASH, page
from evals.report.terminal import markdown
from evals.suites import SUITES, Wanted, made
from evals.totals import EVERY, due, failures, minima, totals
from helix.contract import Verdict
from helix.errors import SettingsError


def _judged(good: bool) -> Judgement:
    verdict = Verdict(
        grounded=good, unsupported_claims=[], cited_ids=[1], citations_correct=good, relevant=True
    )
    return Judgement(good, True, CitationScores(float(good), float(good)), verdict)


def _outcomes() -> list[Outcome]:
    """Answered well, answered badly, refused in vain, refused rightly, not refused."""
    passages = (Passage(source="a", text="x"),)
    found = dict.fromkeys(("recall", "hit_rate", "mrr", "ndcg"), 1.0)
    covered = Case(id="good", question="<b>Q</b>?", passages=passages, keywords=("30",))
    foreign = Case(id="foreign", question="?", refusal=True, tags=("uncovered", "foreign"))
    good = Outcome(
        covered, "30 days [1].", None, 0.3, found, ("a",), True, (), None, 0.1,
        {"offline": _judged(True)},
    )  # fmt: skip
    bad = replace(
        good, case=covered.model_copy(update={"id": "bad"}), answer="31 [9]", markers=(9,),
        right_source=False, judgements={"offline": _judged(False)},
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


def _run(outcomes: list[Outcome]) -> Run:
    measured = totals(outcomes, "offline")
    least = minima({}, defaults=True)
    return Run(
        "golden", (), ("offline",), {"llm": "offline"}, 1.0, 0.72, outcomes, measured, least,
        failures(measured, least, EVERY),
    )  # fmt: skip


def test_faults_and_totals() -> None:
    outcomes = _outcomes()
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
    good, *others = _outcomes()
    lost = replace(_judged(True), verdict=None, unreadable=1)
    measured = totals([replace(good, judgements={"offline": lost}), *others], "offline")
    assert round(measured["verdict grounded"].value, 3) == 0.333
    assert round(measured["answers with unreadable replies"].value, 3) == 0.333


def test_the_first_judge_decides() -> None:
    good = _outcomes()[0]
    first, second = _judged(True), _judged(False)
    assert replace(good, judgements={"model": first, "offline": second}).faults == []
    assert replace(good, judgements={"model": second, "offline": first}).faults == ["unfaithful"]


def test_gold_spans_are_told_of_all_and_of_the_answered() -> None:
    good = _outcomes()[0]
    case = good.case.model_copy(update={"golds": ("30 days",)})
    answered = replace(good, case=case, baseline=False)
    refused = replace(answered, reason="below_gate", answer="30 days", judgements={})
    measured = totals([answered, refused], "offline")
    assert measured["gold span, of all answerable"].value == 0.5
    assert measured["gold span, of the answered"].value == 1
    assert measured["keywords, of all answerable"].value == 0.5
    assert measured["first sentence's gold span, of the answered"].value == 0


def test_what_failed_is_named_with_its_variable() -> None:
    measured = totals(_outcomes(), "offline")
    least = {"MIN_RECALL": 1, "MIN_REFUSAL": 0.6, "MIN_FAITHFULNESS": 0.5}
    assert failures(measured, least, EVERY) == ["refusal recall 0.500 is below MIN_REFUSAL=0.6"]
    assert minima({"MIN_RECALL": " 0.5 "}, defaults=False) == {"MIN_RECALL": 0.5}
    assert minima({}, defaults=True)["MIN_RECALL"] > 0.5
    for text in ("high", "1.5", "nan"):
        with pytest.raises(SettingsError, match="MIN_RECALL is malformed"):
            minima({"MIN_RECALL": text}, defaults=True)


def test_what_could_not_be_measured_fails_where_there_are_cases_for_it() -> None:
    good, *_, right, _ = _outcomes()
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


@pytest.mark.parametrize("name", [name for name in SUITES if name != "golden"])
def test_a_public_set_that_is_not_there_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(CaseError, match=r"cannot be read: --data is to have|there are no"):
        made(name, Wanted(tmp_path, tmp_path, 3))
    with pytest.raises(CaseError, match="is no folder"):
        made(name, Wanted(tmp_path / "none", tmp_path, 3))


def test_a_baseline_tells_what_got_worse_and_better() -> None:
    outcomes = _outcomes()
    saved = json.loads(json.dumps(baseline_of(to_json(_run(outcomes)))))
    good, bad, *others = outcomes
    mended = replace(good, case=bad.case)
    broken = replace(bad, case=good.case)
    compared = compare(_run([broken, mended, *others[1:]]), saved, whole=True)
    assert (compared.worse, compared.better) == (["good"], ["bad"])
    assert (compared.new, compared.gone) == ([], ["vain"])
    assert compared.settings == []
    other = replace(_run([good]), settings={"llm": "gemini"})
    compared = compare(other, saved, whole=False)
    assert (compared.gone, compared.settings) == ([], ["llm"])


def test_the_page_stands_alone_under_a_strict_policy() -> None:
    report = json.loads(json.dumps(to_json(_run(_outcomes())), allow_nan=False))
    text = page(report)
    assert STYLE_HASH in text and text.count(STYLE) == 1 and text.count("<style>") == 1
    assert not re.search(r"<script|\sstyle=|\son\w+=|https?://|url\(|@import", text)
    assert "&lt;b&gt;Q&lt;/b&gt;?" in text and "<b>Q" not in text
    assert text.count("<svg") == 2 and "MIN_REFUSAL=0.85" in text
    assert text.count("<circle") == len(report["totals"]) + 4, "one distance is not known"


def test_markdown_names_totals_and_failures() -> None:
    text = markdown(_run(_outcomes()), None)
    assert "| refusal recall | 0.500 [" in text
    assert "- **refusal recall 0.500 is below MIN_REFUSAL=0.85**" in text
    assert text.startswith("### evals: golden, failed, judge: offline")
