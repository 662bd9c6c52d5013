"""Relevance: a statement about another company, period or subject does not bear."""

from __future__ import annotations

import pytest

from helix.domain.question_analysis import read_question
from helix.domain.relevance import SourcePlace, irrelevance

QUARRY = SourcePlace("Quarry 10-Q", ("Restructuring",), {"company": "Quarry Corporation"})
COMPANIES = frozenset({"quarri", "orchard"})


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How many employees did Quarry cut?", "We cut 1,200 staff in May."),
        ("Who manages the fund?", "Ms. Ortiz is the manager of the fund."),
        ("What was revenue in the quarter ended July 1, 2023?",
         "Net sales: $5 million, three months ended July 1, 2023"),
        ("What was revenue in 2022?", "Revenue was $4 million in the year ended March 31, 2022."),
        ("How long is the notice?", "The notice is 30 days."),
    ],
)  # fmt: skip
def test_what_bears_on_the_question(question: str, said: str) -> None:
    assert irrelevance(read_question(question), said, said, QUARRY, COMPANIES) is None


@pytest.mark.parametrize(
    ("question", "said", "reason"),
    [
        ("How many employees does Orchard have?", "We have 12 employees.",
         "quoted, but not about Orchard"),
        ("How many employees does Pebble have?", "We have 12 employees.",
         "quoted, but not about Pebble"),
        ("What was revenue in the quarter ended July 1, 2023?",
         "Revenue: $5 million, three months ended June 25, 2022",
         "quoted, but not about July 1, 2023"),
        ("What was revenue in the quarter ended July 1, 2023?",
         "Revenue: $5 million, nine months ended July 1, 2023",
         "quoted, but not about July 1, 2023"),
        ("What was revenue in 2022?", "Revenue was $4 million in 2019.",
         "quoted, but not about 2022"),
        ("Who approves travel abroad?", "A lease is a contract.",
         "quoted, but not about approves travel abroad"),
    ],
)  # fmt: skip
def test_what_does_not_is_told_in_the_question_s_words(
    question: str, said: str, reason: str
) -> None:
    assert irrelevance(read_question(question), said, said, QUARRY, COMPANIES) == reason


def test_a_year_in_brackets_is_a_period_too() -> None:
    question = read_question("What were the deposits at 31 December 2018?")
    said = "The deposits at 31 December 2019 are 4 million (2018: 3 million)."
    assert irrelevance(question, said, said, QUARRY, COMPANIES) is None
