"""The report: comparison with a baseline, the page, the comment on a pull request."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from rich.console import Console

from evals.case_metrics import CASE_METRICS, case_metrics
from evals.report.data import baseline_of, compare, to_json
from evals.report.page import STYLE, STYLE_HASH, page
from evals.report.terminal import markdown, show
from tests.support.eval_outcomes import eval_outcomes, eval_run


def test_a_baseline_tells_what_got_worse_and_better() -> None:
    outcomes = eval_outcomes()
    saved = json.loads(json.dumps(baseline_of(to_json(eval_run(outcomes)))))
    good, bad, *others = outcomes
    mended = replace(good, case=bad.case)
    broken = replace(bad, case=good.case)
    compared = compare(eval_run([broken, mended, *others[1:]]), saved, whole=True)
    assert (compared.worse, compared.better) == (["good"], ["bad"])
    assert (compared.new, compared.missing) == ([], ["vain"])
    assert compared.settings == []
    other = replace(eval_run([good]), settings={"llm": "gemini"})
    compared = compare(other, saved, whole=False)
    assert (compared.missing, compared.settings) == ([], ["llm"])


def test_the_page_stands_alone_under_a_strict_policy() -> None:
    report = json.loads(json.dumps(to_json(eval_run(eval_outcomes())), allow_nan=False))
    text = page(report)
    assert STYLE_HASH in text and text.count(STYLE) == 1 and text.count("<style>") == 1
    assert not re.search(r"<script|\sstyle=|\son\w+=|https?://|url\(|@import", text)
    assert "&lt;b&gt;Q&lt;/b&gt;?" in text and "<b>Q" not in text
    assert text.count("<svg") == 2 and "MIN_REFUSAL=0.85" in text
    assert text.count("<circle") == len(report["totals"]) + 4, "one distance is not known"


def test_each_case_has_the_five_metrics_and_the_run_its_percentiles() -> None:
    good, bad, vain, right, wrong = eval_outcomes()
    half = replace(good, answer="30 days [1][7].", markers=(7,), seconds=0.5)
    found = [list(case_metrics(one).values()) for one in (good, bad, vain, right, wrong, half)]
    assert found == [
        [1.0, 1.0, 1.0, 1.0, 1.0],
        [1.0, 0.0, 0.0, 1.0, 0.0],
        [1.0, 1.0, None, 0.0, 0.0],
        [None, 1.0, None, 1.0, None],
        [None, 1.0, 1.0, 0.0, None],
        [1.0, 0.0, 0.5, 1.0, 1.0],
    ]
    outcomes = [good] * 18 + [half] * 2
    run = eval_run(outcomes)
    report = to_json(run)
    assert report["latency"] == {"p50": 0.1, "p95": 0.5}
    assert report["cases"][-1]["metrics"] == dict(zip(CASE_METRICS, found[-1], strict=True))
    means = {row["name"]: row["value"] for row in report["metrics"]}
    assert means["grounding"] == 0.9 and means["citation precision"] == 0.95
    console = Console(width=160, record=True)
    show(console, run, None)
    shown = console.export_text()
    assert all(name in shown for name in CASE_METRICS)
    assert re.search(r"mean +│ +1\.000 │ +0\.900 │ +0\.950 │ +1\.000 │ +1\.000", shown), shown
    assert "p50 0.100 s, p95 0.500 s" in shown
    text = page(json.loads(json.dumps(report)))
    assert '<th class="number">refusal correctness</th>' in text and "p95 0.500" in text


def test_markdown_names_totals_and_failures() -> None:
    text = markdown(eval_run(eval_outcomes()), None)
    assert "| refusal correctness | 0.600 [" in text and "p95 0.100 s" in text
    assert "| refusal recall | 0.500 [" in text
    assert "- **refusal recall 0.500 is below MIN_REFUSAL=0.85**" in text
    assert text.startswith("### evals: golden, failed, judge: offline")
