"""What a question for a figure accepts of a sentence: money, counts, names, and never a date."""

from __future__ import annotations

import pytest

from helix.domain.asked import read_question
from helix.providers.offline.figures import counts_alike, has_figure

PRICE = "How much did the harbour pay for the second crane?"
COUNT = "How many shares did the mill buy back in the third quarter of 2024?"
CHIEF = "Who is the chief executive officer of the mill?"
REVENUE = "What was the mill's revenue in the first half of 2023?"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (PRICE, "It paid $4.1 million for the second crane."),
        (PRICE, "The harbour paid 90,000 euros."),
        (COUNT, "The mill bought back 1.2 million shares."),
        (CHIEF, "/s/ Petra M. Lindqvist, Chief Executive Officer"),
        (REVENUE, "Revenue was 14.2 million in the first half of 2023."),
        (REVENUE, "Revenue was $14.2 million, up $2 million from the first half of 2022."),
        (REVENUE, "Revenue increased 9% to $14.2 million."),
        ("By how much did revenue increase?", "Revenue increased 9%."),
        ("What was the result of the new revenue rules?", "Revenue increased $47 million."),
        ("What did the harbour pay for the crane?", "It bought the crane for $4 million."),
        ("What share of the mills is closed?", "A third is."),
    ],
)
def test_a_figure_of_the_kind_is_accepted(question: str, text: str) -> None:
    assert has_figure(read_question(question), text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (PRICE, "In February 2022 the harbour announced the purchase."),
        ("What was the expense for grants?", "The expense is told over a period of 2.7 years."),
        (PRICE, "As of April 1, 2023, the harbour held 94% of the crane's maker."),
        ("How did its costs compare to its revenue?", "Costs grew with the number of cranes."),
        (PRICE, "The harbour raised $1.0 million with the second crane."),
        ("What did the harbour pay for the crane?", "The crane is an asset of the harbour."),
        (REVENUE, "Revenue increased 9% or $1.2 million, driven by grain."),
        (COUNT, "In the third quarter of 2024 it returned $3.7 billion in share repurchases."),
        (CHIEF, "Chief Executive Officer, Director and Principal Executive Officer"),
        (CHIEF, "Certification under Section 906 of the Sarbanes-Oxley Act of 2002"),
        (REVENUE, "We expect revenue to improve throughout 2023, mostly in the second half."),
        (REVENUE, "(2) Revenue includes what the mill earns with grain."),
    ],
)
def test_another_kind_or_a_date_is_not(question: str, text: str) -> None:
    assert not has_figure(read_question(question), text)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (["It paid $1.5 million.", "The second crane came in May."], True),
        (["It paid $1.5 million.", "Work went on.", "The first crane came in May."], False),
        (["The harbour paid $1.5 million for the first crane."], False),
        (["It paid $1.5 million."], True),
    ],
)
def test_the_nearest_sentence_that_counts_says_which_is_meant(
    told: list[str], expected: bool
) -> None:
    assert counts_alike(read_question(PRICE), told) is expected
