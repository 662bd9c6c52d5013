"""Keywords, gold spans, forbidden words, markers without a source."""

from __future__ import annotations

from evals.metrics.wording import (
    forbidden_said,
    hallucinated_markers,
    has_gold,
    keyword_coverage,
)


def test_wording() -> None:
    assert (
        keyword_coverage("Within 30\n days [1], or never.", ["30 days", "NEVER", "cash"]) == 2 / 3
    )
    assert keyword_coverage("x", []) is None
    for answer in ("In 1995.", "1.5", "5,000", "a5", "§ 50"):
        assert keyword_coverage(answer, ["5"]) == 0, answer
    for answer, word in (("It is 5.", "5"), ("5, or 6", "5"), ("until 10 p.m.", "10 p.m."),
                         ("by § 5: x", "§ 5"), ("本公司的退款政策", "退款")):  # fmt: skip
        assert keyword_coverage(answer, [word]) == 1, answer
    assert has_gold("an important report", ["port"]) is False
    assert has_gold("It was in the  10th century [2].", ["(10th Century)", "“10th century.”"])
    assert has_gold("It was later.", ["10th century"]) is False
    assert has_gold("x", []) is None and has_gold("anything", ["..."]) is False
    assert forbidden_said("A Pirate poem", ["pirate", "sea"]) == ["pirate"]
    assert hallucinated_markers("a [1] b [4, 2] c [0]", 2) == [4, 0]
