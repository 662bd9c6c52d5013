"""Whether a sentence tells of the measure asked for, or of a part or an aspect of it."""

from __future__ import annotations

import pytest

from helix.domain.asked import read_question
from helix.providers.offline.measures import tells_measure

REVENUE = "What was Quarry's revenue in the second quarter of 2023?"
COMPANY = frozenset({"quarri", "corpor"})


@pytest.mark.parametrize(
    ("question", "text", "before"),
    [
        (REVENUE, "Our revenue was $12.9 billion.", ""),
        (REVENUE, "Total revenue was $12.9 billion, Services revenue $2 billion.", ""),
        (REVENUE, "Quarry revenue was $12.9 billion.", ""),
        (REVENUE, "It was $12.9 billion.", "Revenue fell."),
        ("What was Services revenue?", "Services revenue was $2 billion.", ""),
        ("What price did it pay for the crane?", "It bought the crane for $4 million.", ""),
        (
            "What were expenses as a percentage of total revenue?",
            "Expenses, as a percentage of total revenue, were 7%.",
            "",
        ),
        ("Who owns Quarry?", "Quarry is owned by its founders.", ""),
    ],
)
def test_the_measure_itself(question: str, text: str, before: str) -> None:
    assert tells_measure(read_question(question), text, before, COMPANY)


@pytest.mark.parametrize(
    "text",
    [
        "Services revenue was $2 billion.",
        "Services net revenue was $2 billion.",
        "We had unearned revenue of $2 billion.",
        "The effect on our revenue was 11.5%.",
        "Interest expense was $381 million.",
    ],
)
def test_a_part_an_aspect_or_another_is_not(text: str) -> None:
    assert not tells_measure(read_question(REVENUE), text, "", COMPANY)
