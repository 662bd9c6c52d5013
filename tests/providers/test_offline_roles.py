"""What a sentence does with a question's words: tells of them, denies them, or only names them."""

from __future__ import annotations

import pytest

from helix.contract import REFUSAL
from helix.domain.asked import read_question
from helix.domain.source_place import SourcePlace
from helix.providers.offline.explanations import explains
from helix.providers.offline.extract import extract
from helix.providers.offline.figures import has_figure
from helix.providers.offline.focus import tells_fact
from helix.providers.offline.measures import tells_measure
from helix.providers.offline.reading import PromptSource
from helix.providers.offline.roles import tells_role
from helix.providers.offline.verbs import names_object


@pytest.mark.parametrize(
    ("asked", "text", "told"),
    [
        ("How much was not yet recognized?", "Of it $9 million was recognized in May.", False),
        ("How much was not yet recognized?", "$9 million has not been recognized.", True),
        ("What does it not cover?", "It covers faults of material, not wear.", True),
        ("What does it not cover?", "It covers faults of material.", False),
        ("How much was not yet recognized?", "$9 million was recognized in May, not June.", False),
        ("Who was not allowed to settle?", "The refusal to allow sailors to settle.", True),
        ("How much tax do we still have to pay?", "We have paid tax of $9 million.", False),
        ("How much tax do we still have to pay?", "The remaining tax is $9 million.", True),
        ("When does Acme expect to close the deal?", "In May 2022, we agreed on it.", False),
        ("When does Acme expect to close the deal?", "We expect to close it in May.", True),
        ("When did Acme close the deal?", "In May 2022, we closed it.", True),
        ("How much stock-based compensation was recorded?",
         "There was $9 million of unearned share-based compensation.", False),
        ("How much stock-based compensation was recorded?",
         "Share-based compensation was $9 million, unearned revenue $3 million.", True),
        ("How much is left of the program?", "We bought $9 million, tax due in May.", False),
        ("How much is left of the program?", "$9 million of it remained available.", True),
        ("What was unearned revenue?",
         "Revenue to come, which includes unearned revenue, was $9 million.", False),
        ("What was unearned revenue?",
         "Unearned revenue, which includes fees, was $9 million.", True),
        ("What was spent on fulfillment?",
         "Capital spending was $9 million, which primarily reflects fulfillment.", False),
        ("What was spent on fulfillment?", "Fulfillment cost $9 million due to rain.", True),
    ],
)  # fmt: skip
def test_a_sentence_tells_what_is_asked_and_not_its_contrary(
    asked: str, text: str, told: bool
) -> None:
    assert tells_role(read_question(asked), text) is told


@pytest.mark.parametrize(
    ("asked", "text", "told"),
    [
        ("Why did pump revenue fall?", "Revenue fell, driven by lower pump orders.", False),
        ("Why did pump revenue fall?", "Pump revenue fell, driven by lower orders.", True),
        ("What drove growth in pump revenue?", "Revenue of pumps is due in May.", False),
        ("What drove growth in pump revenue?", "Pump revenue grew due to orders.", True),
        ("Why are sales highest in May?", "Valve sales decreased due to higher costs.", False),
    ],
)
def test_a_cause_is_of_what_is_asked_about(asked: str, text: str, told: bool) -> None:
    assert explains(read_question(asked), text, "") is told


def test_what_a_part_of_the_measure_did_is_not_what_all_of_it_did() -> None:
    asked = read_question("Why did expenses increase?")
    assert not tells_measure(asked, "Pump expenses increased due to rain.", "", frozenset())
    assert tells_measure(asked, "Total expenses increased due to rain.", "", frozenset())


def test_what_is_expected_is_not_why_something_came() -> None:
    asked = read_question("Why did sales decline?")
    assert not tells_fact(asked, "We expect that sales will decline due to rain.")
    assert tells_fact(asked, "Sales declined due to rain.")


def test_by_how_much_something_changed_is_not_how_much_it_is() -> None:
    text = "Rain reduced packing costs by $35 million, and by $4.3 million in May."
    assert not has_figure(read_question("How much did Acme spend on packing?"), text)
    assert has_figure(read_question("By how much did rain reduce packing costs?"), text)


def test_a_share_of_revenue_is_not_the_revenue() -> None:
    text = "A buyer was 22% and 19% of total revenue of pumps."
    assert not has_figure(read_question("What was the revenue of pumps?"), text)
    assert has_figure(read_question("What percentage of revenue was a buyer?"), text)
    assert has_figure(read_question("What was the revenue of pumps?"), f"{text} It was $9 million.")


def test_money_is_of_what_it_was_spent_on() -> None:
    asked, told = read_question("How much did Acme spend on packing?"), ["We paid $9 million."]
    assert not names_object(asked, told, SourcePlace())
    assert names_object(asked, told, SourcePlace(heading_path=("Packing",)))


@pytest.mark.parametrize(
    ("asked", "text", "answered"),
    [
        ("Who sued Quarry over pumps?", "The suit is about pumps of Quarry of North Bay.", True),
        ("Who sued Quarry over pumps?", "Pumps of Quarry are sold by Miller in North Bay.", False),
        ("How many patents does Quarry own?", "Quarry owns 12 patents.", True),
        ("How many patents does Quarry own?", "Quarry challenged all five patents.", False),
    ],
)
def test_who_did_it_is_told_with_the_deed(asked: str, text: str, answered: bool) -> None:
    assert (extract(asked, [PromptSource(1, text)]) != REFUSAL) is answered


TABLE = (
    "Statements of equity (in millions)\n"
    "Three Months Ended › Dividends declared | Shares: — | Total: (1,487)\n"
)


def test_months_that_end_on_no_day_are_of_no_period() -> None:
    place = SourcePlace(facts={"period": "quarter ended April 1, 2023"})
    source = PromptSource(1, TABLE, place)
    assert extract("What dividends were declared in the first quarter of 2023?", [source]) == (
        REFUSAL
    )
