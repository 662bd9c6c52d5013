"""What an answer's sentence must name: what a measure is of, whom a value is for, the period."""

from __future__ import annotations

import pytest

from helix.contract import REFUSAL
from helix.domain.asked import read_question
from helix.domain.relevance import is_of_another_time
from helix.domain.source_place import SourcePlace
from helix.language.durations import lengths_in
from helix.providers.offline.explanations import explains
from helix.providers.offline.extract import extract
from helix.providers.offline.reading import PromptSource

PLACE = SourcePlace(
    title="Acme 10-Q",
    facts={
        "company": "Acme Inc.",
        "period": "quarter ended March 31, 2023",
        "period_end": "2023-03-31",
        "fiscal": "Q1 2023",
    },
)
HANDBOOK = """## Probation
New employees serve a probation period of six months.

## Remote work
Employees may work from home after the probation period. Contractors work on site.

## Leave
Full-time employees have 27 days of leave."""


def answer(question: str, *texts: str, place: SourcePlace = PLACE) -> str:
    return extract(question, [PromptSource(n, text, place) for n, text in enumerate(texts, 1)])


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("What is the probation period?", "six months"),
        ("What is the probation period for new employees?", "six months"),
        ("What is the probation period for contractors?", REFUSAL),
        ("How many days of leave do employees have?", "27 days"),
        ("How many days of leave do interns have?", REFUSAL),
    ],
)
def test_a_value_for_some_is_none_for_others(question: str, quoted: str) -> None:
    assert quoted in answer(question, HANDBOOK, place=SourcePlace(title="Handbook"))


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("What was Acme's pump revenue in 2023?", "Pump revenue was $9 million"),
        ("What was Acme's valve and hose revenue in 2023?", REFUSAL),
    ],
)
def test_a_measure_is_told_of_the_thing_asked_for(question: str, quoted: str) -> None:
    text = (
        "Pump revenue was $9 million in 2023. "
        "No customers made up 10% or more of total revenue in 2023."
    )
    assert quoted in answer(question, text)


@pytest.mark.parametrize(
    ("said", "is_another"),
    [
        ("Revenue was $9 million for the nine months ended March 31, 2023.", True),
        ("Revenue was $9 million for the three and nine months ended March 31, 2023.", False),
        ("Revenue was $9 million, up $2 million from YTD 2022.", True),
        ("Revenue was $9 million, down $2 million from Q1 2022.", False),
        ("Revenue was $9 million in the first quarter of fiscal year 2023.", False),
        ("Revenue was $9 million in the second quarter of 2023.", True),
        ("Revenue was $9 million at 31 March 2022 (2023: $8 million).", False),
    ],
)
def test_a_period_is_another_where_none_that_is_told_is_the_one_asked_for(
    said: str, is_another: bool
) -> None:
    asked = read_question("What was Acme's revenue in the first quarter of 2023?")
    assert is_of_another_time(asked, said, PLACE) is is_another


def test_lengths_that_share_a_word_are_told_apart() -> None:
    assert lengths_in("for the three- and nine-month periods") >= {9}
    assert lengths_in("for the three and six months ended May 1") == {3, 6}
    assert lengths_in("YTD 2023") == {0}


@pytest.mark.parametrize(("head", "explained"), [("DCAI revenue", True), ("CCG revenue", False)])
def test_an_abbreviation_names_what_the_cause_names_too(head: str, explained: bool) -> None:
    asked = read_question("Why did Acme's data center revenue fall?")
    text = f"{head} fell due to lower demand in the data center market."
    assert explains(asked, text, "") is explained


def test_the_period_of_its_own_report_need_not_be_repeated() -> None:
    text = (
        "Interest expense decreased due to a decrease in outstanding debt. "
        "Gains on investments rose due to higher prices in the three months ended March 31, 2023."
    )
    question = "Why did Acme's interest expense decrease in the quarter ended March 31, 2023?"
    assert answer(question, text).startswith("Interest expense decreased due to")


@pytest.mark.parametrize(
    ("question", "text", "quoted"),
    [
        ("Why did pump sales fall?", "Pump sales declined due to rain.", "declined due to rain"),
        ("How much did Acme pay for the plant?",
         "Acme's payments for the plant were $9 million.", "$9 million"),
        ("How much notice must Acme give?", "Acme must give 24 hours' notice.", "24 hours"),
        ("When was Acme founded?", "In May 2021 the jury found for Acme.", REFUSAL),
        ("When was Acme founded?", "Acme was founded in May 1921.", "1921"),
        ("How much did Acme spend on shares?",
         "Of the program for shares $9 million remained, not spent on shares.", REFUSAL),
        ("What was Acme's margin?",
         "Acme's margin rose 1 point, driven by Pump 365 Commercial.", REFUSAL),
        ("What was Acme's net income?",
         "Net income attributable to the non-controlling interest was $9 million.", REFUSAL),
        ("What does Acme use pumps for?", "The use of pumps for Acme is a risk.", REFUSAL),
        ("What does Acme use pumps for?", "Acme uses pumps to drain cellars.", "to drain"),
        ("What is Acme's market share in pumps?",
         "Acme works to raise its market share in pumps.", REFUSAL),
        ("How does Acme define free cash flow?",
         "Free cash flow of Acme does not take in debt.", REFUSAL),
        ("What fine did Acme pay in September 2023?",
         "Acme got a fine of $9 million, paid in the third quarter of 2009.", REFUSAL),
        ("Which Acme officer resigned in August 2023?",
         "On October 6, 2023, Acme's officer Ann Orr resigned.", REFUSAL),
        ("What is Acme 18A?", "The agreement is for pumps on the Acme 18A process.", REFUSAL),
        ("What is Acme 18A?", "Acme 18A is the newest process for pumps.", "the newest process"),
        ("What is part PK-7?",
         "Pull the filter (part PK-7) out of the left side and wash it.", "the filter"),
        ("Which customer made up most of Acme's revenue?",
         "Customers abroad made up 60% of Acme's revenue.", REFUSAL),
        ("Which customer made up most of Acme's revenue?",
         "One customer made up 60% of Acme's revenue.", "One customer"),
        ("What expenses are in the Other group of Acme?",
         "The Other group of Acme includes expenses for rent.", "includes expenses"),
        ("How much did Acme's research costs fall?",
         "We expect this change to cut research costs by $4 million.", REFUSAL),
        ("Why is Acme's growth slowing?",
         "Acme's growth was driven by pumps.", REFUSAL),
        ("Why are Acme's sales highest in winter?",
         "Acme's sales rose in winter due to rain.", REFUSAL),
        ("Why are Acme's sales highest in winter?",
         "Acme's sales are higher in winter due to rain.", "due to rain"),
    ],
)  # fmt: skip
def test_a_sentence_tells_what_is_asked_for(question: str, text: str, quoted: str) -> None:
    assert quoted in answer(question, text, place=SourcePlace(facts={"company": "Acme"}))


@pytest.mark.parametrize(
    "text",
    [
        "Pumps and cloud services revenue growth Revenue from Pumps and cloud services (Pumps",
        "Lower revenue in CCG, Lower margin from lower Higher cash flow and revenue.",
        "Any of the revenue factors set forth above may hurt revenue of 9 million.",
        "Revenue by product was as follows (dollars in millions):",
    ],
)
def test_what_is_cut_or_mixed_or_announces_is_not_quoted(text: str) -> None:
    assert answer("What was Acme's revenue?", f"{text}\n\nAll the best.") == REFUSAL


def test_what_is_held_is_not_owed() -> None:
    table = """Notes (in millions)
Level 2 › Term notes | March 31, 2023 › Securities: 41"""
    question = "How much in term notes did Acme have outstanding as of March 31, 2023?"
    assert answer(question, table) == REFUSAL
    assert answer(question, table.replace("Securities", "Balance")) != REFUSAL


def test_what_was_paid_for_a_thing_is_no_balance_of_it() -> None:
    table = """Statements (in millions)
Plants and vehicles | Nine Months Ended › March 31, 2023: 77
Payments for acquisition of plants and vehicles | Nine Months Ended › March 31, 2023: (42)"""
    period = "in the nine months ended March 31, 2023?"
    assert "(42)" in answer(f"How much did Acme pay for plants and vehicles {period}", table)
    assert "77" in answer(f"What were Acme's plants and vehicles {period}", table)


def test_a_group_of_shares_is_not_asked_for_by_an_amount() -> None:
    table = """Expenses (in millions)
Operating expenses › Freight | Three Months Ended › March 31, 2023: 42
Percentage Growth › Freight | Three Months Ended › March 31, 2023: 4"""
    question = "How much did Acme spend on freight in the quarter ended March 31, 2023?"
    assert answer(question, table).startswith("Operating expenses › Freight: 42 million")
