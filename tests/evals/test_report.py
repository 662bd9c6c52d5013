"""The report: comparison with a baseline, the page, the comment on a pull request."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from evals.report.data import baseline_of, compare, to_json
from evals.report.page import STYLE, STYLE_HASH, page
from evals.report.terminal import markdown
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


def test_markdown_names_totals_and_failures() -> None:
    text = markdown(eval_run(eval_outcomes()), None)
    assert "| refusal recall | 0.500 [" in text
    assert "- **refusal recall 0.500 is below MIN_REFUSAL=0.85**" in text
    assert text.startswith("### evals: golden, failed, judge: offline")
