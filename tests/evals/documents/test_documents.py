"""``python -m evals.documents``: what it prints, compares and refuses to run."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

import evals.documents.__main__ as documents
from evals.documents.__main__ import main
from evals.documents.parts import Part
from evals.documents.report import DRAWN, fallen, load_baseline, save_baseline


def test_a_run_without_data_is_compared_with_its_baseline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("tables_without_data", "boxes"):  # drawn and read once for both runs
        monkeypatch.setattr(documents, name, cache(getattr(documents, name)))
    report, baseline = tmp_path / "report.json", tmp_path / "baseline.json"
    assert main(["--json", str(report), "--baseline", str(baseline), "--save-baseline"]) == 0
    measures = json.loads(report.read_text())["measures"]
    assert {name.partition(":")[0] for name in measures} >= {
        "drawn tables, PDF with lines", "drawn tables, PDF without lines", "drawn tables, DOCX",
        "citations whose boxes hold the quote",
    }  # fmt: skip
    known = json.loads(baseline.read_text())
    assert known[DRAWN] == {name: one["value"] for name, one in measures.items()}
    name = next(iter(measures))
    baseline.write_text(json.dumps({DRAWN: known[DRAWN] | {name: 1.1, "gone": 0.5}}))
    assert main(["--baseline", str(baseline)]) == 1
    printed = capsys.readouterr().out
    assert f"FAILED {name}" in printed and "FAILED gone could not be measured" in printed


def test_a_figure_that_fell_is_told() -> None:
    part = Part()
    part.add("a", 9, 10)
    part.add("nothing counted", 0, 0)
    assert list(fallen(part, {"a": 0.9})) == []
    assert list(fallen(part, {"a": 0.91})) == ["a 0.900 is below 0.910"]
    assert list(fallen(part, {"b": 0.5})) == ["b could not be measured, and was 0.500"]


def test_a_baseline_keeps_the_figures_of_the_other_run(tmp_path: Path) -> None:
    file, part = tmp_path / "baseline.json", Part()
    part.add("a", 1, 2)
    save_baseline(file, "one", part)
    part.add("b", 1, 1)
    save_baseline(file, "other", part)
    assert load_baseline(file, "one") == {"a": 0.5}
    assert load_baseline(file, "other") == {"a": 0.5, "b": 1.0}
    assert load_baseline(tmp_path / "none.json", "one") == {}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--sample", "0"], "--sample is at least 1"),
        (["--part", "values"], "say where with --data DIR"),
        (["--data", "no-such-folder"], "no-such-folder is no folder"),
        (["--data", ".", "--part", "tables"], "dev.json cannot be read"),
        (["--data", ".", "--sample", "2", "--save-baseline"], "leave out --sample"),
    ],
)
def test_what_would_be_in_vain_is_told(
    given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(given) == 2
    assert said in capsys.readouterr().err
