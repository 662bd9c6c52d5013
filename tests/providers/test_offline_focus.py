"""What a sentence has to say of the count, the day and the fact that a question is about."""

from __future__ import annotations

import pytest

from helix.domain.asked import read_question
from helix.providers.offline.explanations import explains
from helix.providers.offline.figures import has_figure
from helix.providers.offline.focus import (
    tells_count,
    tells_day,
    tells_fact,
    tells_length,
    tells_purpose,
    tells_rate,
)


@pytest.mark.parametrize(
    ("asked", "text", "told"),
    [
        ("How many patents did Quarry sell?", "We sold 12 patents in May.", True),
        ("How many patents did Quarry sell?",
         "In June 2022, the court barred him from testifying on the ‘027 patent.", False),
        ("How many employees does Quarry have?",
         "10.1* Form of Award Agreement under the 2022 Employee Stock Plan", False),
        ("How many employees does Quarry have?", "It has some 3,000.", True),
    ],
)  # fmt: skip
def test_a_number_counts_what_is_counted(asked: str, text: str, told: bool) -> None:
    question = read_question(asked)
    assert (tells_count(question, text) and has_figure(question, text)) is told


@pytest.mark.parametrize(
    ("asked", "text", "told"),
    [
        ("Why was the deal ended?", "If the deal is ended, we pay a fee.", False),
        ("Why was the deal ended?", "The deal was ended for want of a permit.", True),
        ("What happens if the deal is ended?", "If the deal is ended, we pay a fee.", True),
        ("Does Quarry pay a dividend?", "We evaluate opportunities to pay dividends.", False),
        ("Does Quarry pay a dividend?", "We have never paid a dividend.", True),
    ],
)
def test_what_might_be_is_no_fact(asked: str, text: str, told: bool) -> None:
    assert tells_fact(read_question(asked), text) is told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("At the end of the third quarter of 2022 we opened a plant.", False),
        ("The third quarter ended on July 1, 2023.", True),
        ("The year ends on the last Saturday of September.", True),
    ],
)
def test_the_end_of_a_quarter_is_a_day(text: str, told: bool) -> None:
    assert tells_day(read_question("When did Quarry's third fiscal quarter end?"), text) is told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Pump sales increased due to higher volume.", True),
        ("The decrease in operating income is due to higher payroll, offset by higher sales.",
         False),
        ("Pump sales decreased due to lower volume and increased competition.", False),
    ],
)  # fmt: skip
def test_a_cause_is_of_the_change_that_is_asked_about(text: str, told: bool) -> None:
    assert explains(read_question("Why did pump sales grow in 2023?"), text, "") is told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("The Registrant's Auditors and the Audit Committee were told of all deficiencies.", False),
        ("Our auditor is Marlow & Finch LLP.", True),
        ("Deloitte was appointed as external auditor.", True),
    ],
)
def test_an_auditor_is_a_firm(text: str, told: bool) -> None:
    assert has_figure(read_question("Who audits Quarry?"), text) is told


@pytest.mark.parametrize(
    ("question", "text", "told"),
    [
        ("How many weeks of rest are there?", "Ask for rest two weeks ahead.", False),
        ("How many days of rest do I get?", "One day off needs two days' notice.", False),
        ("How many days of rest do I get?", "Two days' notice give you 30 days of rest.", True),
        ("How many days ahead must I ask?", "Ask for rest two days ahead.", True),
        ("How many weeks of rest are there?", "There are six weeks of rest.", True),
        ("How many keys are there?", "Ask for one two weeks ahead.", True),
    ],
)
def test_a_time_ahead_is_no_number_of_days(question: str, text: str, told: bool) -> None:
    assert tells_length(read_question(question), text) is told


@pytest.mark.parametrize(
    ("question", "text", "told"),
    [
        ("What is the weekly allowance?", "It is 53 euros a full day.", False),
        ("What is the daily allowance?", "It is 53 euros a full day.", True),
        ("What is the allowance?", "It is 53 euros a full day.", True),
        ("What is the annual fee?", "It is 12 euros per year.", True),
        ("What is the annual fee?", "It is 12 euros.", True),
    ],
)
def test_an_amount_is_of_the_rate_that_is_asked_for(question: str, text: str, told: bool) -> None:
    assert tells_rate(read_question(question), text) is told


@pytest.mark.parametrize(
    ("question", "text", "told"),
    [
        ("What is charged for coffee?", "It charges 4.50 euros for a meal.", False),
        ("What is charged for a meal?", "It charges 4.50 euros for a meal.", True),
        ("What is charged for coffee?", "It charges 4.50 euros for a meal, coffee is free.", True),
        ("What is charged?", "It charges 4.50 euros for a meal.", True),
        ("How long is the trial for interns?", "The trial lasts six months.", True),
    ],
)
def test_an_amount_for_one_thing_is_not_for_another(question: str, text: str, told: bool) -> None:
    assert tells_purpose(read_question(question), text) is told
