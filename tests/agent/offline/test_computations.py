"""Questions for a number that has to be computed: what is done, with what, of which period."""

from __future__ import annotations

import pytest

from helix.agent.offline.computations import computation_of, without_computing


@pytest.mark.parametrize(
    ("question", "kind", "periods"),
    [
        ("What is the change in Lamps in 2019 from 2018?", "change", ["2019", "2018"]),
        ("What was the percentage change in lamps from 2018 to 2019?", "percent change",
         ["2019", "2018"]),
        ("By what percentage did lamps grow between 2018 and 2019?", "percent change",
         ["2019", "2018"]),
        ("What was the increase in lamps in 2019?", "change", ["2019", "2018"]),
        ("What is the average of lamps for 2017-2019?", "average", ["2017", "2018", "2019"]),
        ("What is the average of lamps in 2017,2018 and 2019?", "average",
         ["2017", "2018", "2019"]),
        ("What is the sum of lamps in 2018 and 2019?", "sum", ["2018", "2019"]),
        ("What is the difference between lamps and chairs in 2019?", "difference",
         ["2019", "2019"]),
        ("How much higher were lamps than chairs in 2019?", "difference", ["2019", "2019"]),
        ("What are lamps as a percentage of total sales in 2019?", "share", ["2019", "2019"]),
        ("What share of total sales came from lamps in 2019?", "share", ["2019", "2019"]),
        ("What is the ratio of lamps to chairs in 2019?", "ratio", ["2019", "2019"]),
        ("Compare lamps in 2018 and 2019.", "change", ["2019", "2018"]),
    ],
)  # fmt: skip
def test_what_is_computed_of_which_periods(question: str, kind: str, periods: list[str]) -> None:
    found = computation_of(question)
    assert found and found.kind == kind
    told = [one.period.keys[0].partition(":")[2] for one in found.operands if one.period]
    assert told == periods
    assert any("lamp" in one.words | one.beside for one in found.operands)


@pytest.mark.parametrize("question", ["How have lamps changed?", "What is the average of lamps?"])
def test_without_a_period_all_of_the_row_are_meant(question: str) -> None:
    found = computation_of(question)
    assert found and found.every


@pytest.mark.parametrize(
    "question",
    [
        "What were lamps in 2019?",
        "Why did lamps increase from 2018 to 2019?",
        "What drove the change in lamps?",
        "What is the difference between the average of lamps and the average of chairs?",
        "How is the average price calculated?",
        "",
    ],
)
def test_other_questions_compute_nothing(question: str) -> None:
    assert computation_of(question) is None


def test_what_is_searched_for_has_no_words_of_computing() -> None:
    assert without_computing("What is the average of lamps in 2019?") == "lamps in 2019?"
    assert without_computing("What is the average?") == "What is the average?"
