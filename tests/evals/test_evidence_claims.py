"""Claims that statements are learned from: what was edited, and what is altered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.evidence.altered import Alterations, Context
from evals.evidence.claims import Claim, summedits

SENTENCES = (
    "Kettles that were opened may be sent back to Linz within 14 days.",
    "The lid of every kettle is made of steel in Graz, not of plastic.",
    "All repairs in Linz are free, including those of the lid, for two years.",
    "The shop in Vienna opened before the one in Brno, which has 20 people.",
)
CONTEXTS = [Context("set", "kettles", SENTENCES, "Kettles"), Context("set", "other", SENTENCES)]


def test_a_synthetic_claim_that_fails_says_what_no_sentence_does() -> None:
    read = " ".join(SENTENCES).lower()
    claims = list(Alterations(CONTEXTS, 3).synthetic(120))
    failing = [one for one in claims if one.label]
    assert 0.3 < len(failing) / len(claims) < 0.8
    for one in failing:
        assert one.text.lower() not in read
        assert one.bad
        assert all(0 <= start < end <= len(one.text) for start, end in one.bad)


def test_claims_that_fail_are_not_altered_again() -> None:
    failing = Claim("set", "d", SENTENCES[0], SENTENCES, 1.0)
    assert list(Alterations(CONTEXTS, 3).of(failing)) == []


@pytest.mark.parametrize(
    ("summary", "label", "labels", "bad"),
    [
        ("Kettles go back in 40 days. The lid is steel.", 0, [1.0, 0.0], ["40"]),
        ("Kettles return in 14 days. The lid is steel.", 1, [0.0, 0.0], []),
    ],
)
def test_edited_words_of_a_wrong_summary_are_not_borne_out(
    tmp_path: Path, summary: str, label: int, labels: list[float], bad: list[str]
) -> None:
    entry = {
        "id": "a_1", "doc": " ".join(SENTENCES), "summary": summary, "label": label,
        "original_summary": "Kettles go back in 14 days. The lid is steel.",
    }  # fmt: skip
    (tmp_path / "summedits").mkdir()
    (tmp_path / "summedits/samsum.json").write_text(json.dumps([entry]))
    claims = list(summedits(tmp_path, ["samsum"]))
    assert [one.label for one in claims] == labels
    assert [one.text[a:b] for one in claims for a, b in one.bad or ()] == bad
