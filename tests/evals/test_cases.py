"""Cases: the golden set, malformed cases, where their passages stand."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evals.cases import Case, CaseError, Passage, Span, load_cases, located
from helix.domain.file_kinds import KINDS
from pipelines.readers import read
from tests.support.repository import ROOT

SAMPLES = ROOT / "samples"


def _texts() -> dict[str, str]:
    """The readers' texts of the samples, by source_uri."""
    kinds = {suffix: kind for kind, media in KINDS.items() for suffix in media.suffixes}
    return {
        f"samples/{path.name}": read(kinds[path.suffix], path.read_bytes()).text
        for path in SAMPLES.iterdir()
    }


def test_the_golden_set_has_every_kind_and_each_passage_is_in_its_sample() -> None:
    cases, texts = load_cases(), _texts()
    kinds = Counter(tag for case in cases for tag in case.tags)
    assert len(cases) >= 60
    for kind in (
        "covered", "paraphrased", "multi-chunk", "identifier", "uncovered", "adversarial",
        "foreign", "near-miss",
    ):  # fmt: skip
        assert kinds[kind] >= 8, kind
    spans = located(cases, texts)
    for case in cases:
        for passage, span in zip(case.passages, spans[case.id], strict=True):
            assert texts[span.source][span.start : span.end] == passage.text
            assert case.keywords, f"{case.id} would be right whatever it said"
    assert {span.source for found in spans.values() for span in found} == set(texts)


def _file(path: Path, **changes: Any) -> Path:
    case = {"id": "one", "question": "Why?", "passages": [{"source": "a", "text": "Because."}]}
    path.write_text(json.dumps([case | changes]), "utf-8")
    return path


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"refusal": True}, "case one: give its passages, or refusal"),
        ({"passages": []}, "case one: give its passages, or refusal"),
        ({"question": " "}, "case one: there is no question"),
        ({"passages": [{"text": "x"}]}, "malformed at 0.passages.0.source"),
        ({"tag": "typo"}, "malformed at 0.tag"),
    ],
)
def test_a_malformed_case_is_named(changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(CaseError, match=re.escape(said)):
        load_cases(_file(tmp_path / "cases.json", **changes))
    (tmp_path / "cases.json").write_text("[", "utf-8")
    with pytest.raises(CaseError, match="not JSON"):
        load_cases(tmp_path / "cases.json")


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"a": "No reason at all."}, "its passage is not in a"),
        ({"a": "Because. Because."}, "its passage is in a twice"),
        ({"b": "Because."}, "there is no document a"),
    ],
)
def test_a_case_whose_passage_is_not_there_is_not_run(
    texts: dict[str, str], said: str, tmp_path: Path
) -> None:
    cases = load_cases(_file(tmp_path / "cases.json"))
    assert located(cases, {"a": "So. Because."})["one"] == (Span(source="a", start=4, end=12),)
    with pytest.raises(CaseError, match=f"case one: {said}"):
        located(cases, texts)


def test_of_a_repeated_passage_the_one_next_to_its_start_is_meant() -> None:
    text = "1981. " + "x" * 500 + " 1981."
    passages = (Passage(source="a", text="1981", start=500),)
    case = Case(id="year", question="When?", passages=passages)
    assert located([case], {"a": text})["year"][0].start == text.rindex("1981")
    with pytest.raises(CaseError, match="where it was"):
        located([case], {"a": "x" * 5000 + "1981"})
