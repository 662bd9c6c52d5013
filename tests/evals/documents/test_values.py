"""Answers that say a value, and answers that do not."""

from __future__ import annotations

import pytest

from evals.datasets.value_questions import near_misses, value_questions
from evals.documents.values import Expected, expected_of, numbers

REVENUE = Expected(((39669, "million"),))


@pytest.mark.parametrize(
    ("expected", "statement", "said"),
    [
        (REVENUE, "iPhone: $39,669 million, three months ended July 1, 2023 [1]", True),
        (REVENUE, "iPhone net sales were $39.7 billion [1].", True),
        (REVENUE, "iPhone $ 39,669 [1]", True),
        (REVENUE, "iPhone net sales were $40 billion [1].", False),
        (REVENUE, "iPhone: $39,669 billion [1]", False),
        (REVENUE, "iPhone: $139,669 million [1]", False),
        (REVENUE, "iPhone: 39,669% [1]", False),
        (REVENUE, "iPhone | A: $39,669 | B: $40,665 | C: $156,778 [1]", False),
        (
            REVENUE,
            "iPhone 39,669 40,665 156,778 Mac 6,840 7,382 21,743 28,669 5,791 3",
            False,
        ),
        (REVENUE, " ".join(["word"] * 60) + " $39,669 million", False),
        (Expected(((54.0, "percent"),)), "which accounted for 54% and 14% [2].", True),
        (Expected(((54.0, "percent"),)), "which accounted for $54 million.", False),
        (Expected(((2758.0, "million"),)), "Net loss: $(2,758) million [1]", True),
        (Expected(((0.23, ""),)), "Declared per share: $0.23 [1]", True),
        (Expected(((0.23, ""),)), "Declared per share: $10.23 [1]", False),
        (Expected(((11.5, "years"),)), "Operating leases: 11.5 years [1]", True),
        (Expected(((10000.0, ""),)), "approximately 10,000 jobs", True),
        (Expected(((160.0, "billion"), (167.0, "billion")), all=True), "$160.0 billion", False),
        (Expected(((160.0, "billion"), (167.0, "billion"))), "$160.0 billion", True),
        (Expected(spans=("October 13, 2023",)), "On October 13, 2023, it was completed.", True),
        (Expected(spans=("October 13, 2023",)), "On October 3, 2023, it was completed.", False),
        (Expected(((19.0, "percent"),)), "The rate is low [19].", False),
    ],
)
def test_an_answer_says_a_value(expected: Expected, statement: str, said: bool) -> None:
    assert expected.said_in([statement]) is said
    assert expected.said_in(["Nothing.", statement]) is said


def test_a_published_answer_is_a_number_or_a_span() -> None:
    assert expected_of("$1,496.5", "million") == Expected(((1496.5, "million"),))
    assert expected_of("(12.6)", "") == Expected(((12.6, ""),))
    assert expected_of("22.2%", "percent") == Expected(((22.2, "percent"),))
    assert expected_of("2019", "") == Expected(spans=("2019",))
    assert expected_of("cost-plus type", "") == Expected(spans=("cost-plus type",))


def test_numbers_have_their_scale() -> None:
    found = [(one.value, one.scale) for one in numbers("$1.5 billion, 12.5% of 3,000 and (4)%")]
    assert found == [(1.5, "billion"), (12.5, "%"), (3000, ""), (4, "%")]


def test_the_questions_are_balanced_and_each_has_a_value_and_a_page() -> None:
    questions = value_questions()
    assert len(questions) == len({one.id for one in questions}) == 60
    companies = {one.document.removesuffix(".pdf")[-4:] for one in questions}
    for company in companies:
        assert sum(company in one.document for one in questions) == 12
    assert len({one.document for one in questions}) == 20
    for one in questions:
        assert bool(one.numbers) != bool(one.spans), one.id
        assert one.pages and {(one.document, page) for page in one.pages} <= one.places
    assert len(near_misses()) == 10
