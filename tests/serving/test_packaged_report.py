"""The report that comes with Helix: of a real run, dated, whole, and of the questions there are."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from evals.cases import CASES
from evals.report.package import CASE, RUN, main
from helix.serving.routes.operations import PACKAGED

REPORT = json.loads(PACKAGED.read_text("utf-8"))


def test_it_has_the_form_that_the_page_reads() -> None:
    assert set(REPORT) == {*RUN, "cases"}
    assert all(set(case) == set(CASE) for case in REPORT["cases"])
    assert datetime.fromisoformat(REPORT["created_at"]) < datetime.now(UTC)
    for row in REPORT["totals"]:
        assert row["low"] <= row["value"] <= row["high"], row
        assert row["n"] > 0, row


def test_its_questions_are_those_of_the_golden_set() -> None:
    golden = {case["id"]: case["question"] for case in json.loads(CASES.read_text("utf-8"))}
    assert {case["id"]: case["question"] for case in REPORT["cases"]} == golden


def test_its_total_is_what_its_cases_say() -> None:
    whole = sum(not case["faults"] for case in REPORT["cases"]) / len(REPORT["cases"])
    (told,) = [row["value"] for row in REPORT["totals"] if row["name"] == "cases without a fault"]
    assert told == pytest.approx(whole, abs=1e-6)


def test_a_report_of_something_else_is_not_packaged(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path_factory.mktemp("report") / "report.json"
    before = PACKAGED.read_bytes()
    for change, said in (
        ({"suite": "squad2"}, "not of the whole golden set"),
        ({"tags": ["smoke"]}, "not of the whole golden set"),
        ({"failed": ["recall@k is 0.1"]}, "the run failed: recall@k is 0.1"),
        ({"settings": {"llm": "gemini:x"}}, "not offline"),
    ):
        file.write_text(json.dumps(REPORT | {"tags": []} | change))
        assert main([str(file)]) == 1
        assert said in capsys.readouterr().err
    assert PACKAGED.read_bytes() == before
