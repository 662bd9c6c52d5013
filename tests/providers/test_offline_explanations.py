"""Questions for a cause, for parts, for a way or a meaning, and the sentences that give one."""

from __future__ import annotations

import pytest

from helix.contract import REFUSAL
from helix.domain.asked import read_question
from helix.providers.offline.explanations import (
    Explanation,
    causes_of,
    defines,
    explains,
    wanted,
)
from helix.providers.offline.extract import extract
from helix.providers.offline.reading import PromptSource

ROW = "Freight costs | 2023: $4,120 | 2022: $3,877"
FELL = "Pump sales fell $40 million in 2023."
WHY = "The decrease was primarily due to fewer orders from shipyards."


@pytest.mark.parametrize(
    ("asked", "explanation"),
    [
        ("Why did pump sales fall in 2023?", Explanation.CAUSE),
        ("What was the reason for the increase in freight costs?", Explanation.CAUSE),
        ("What is the increase in inventory due to?", Explanation.CAUSE),
        ("What does working capital consist of?", Explanation.CONTENTS),
        ("What is included in freight costs?", Explanation.CONTENTS),
        ("What is excluded from adjusted profit?", Explanation.EXCLUDED),
        ("How is the net price of eggs calculated?", Explanation.METHOD),
        ("What is goodwill?", Explanation.MEANING),
        ("What does order intake represent?", Explanation.MEANING),
        ("What do the plan's charges relate to?", Explanation.RELATION),
        ("What was the servicing related receivable in 2019?", None),
        ("What were freight costs in 2023?", None),
        ("What is the revenue of Acme?", None),
        ("How much of the costs was included in sales?", None),
        ("When is goodwill impaired?", None),
    ],
)
def test_what_a_question_wants_explained(asked: str, explanation: Explanation | None) -> None:
    assert wanted(read_question(asked)) is explanation


@pytest.mark.parametrize(
    ("asked", "text", "before", "told"),
    [
        ("What is included in freight costs?", ROW, "", False),
        ("What is included in freight costs?", "Freight costs include tolls and fuel.", "", True),
        ("What is included in freight costs?", "(2) Includes tolls, fuel and wages.", "", False),
        (
            "What is included in freight costs?",
            "(2) Includes tolls, fuel and wages.",
            "Freight costs are shown here.",
            True,
        ),
        ("Why did pump sales fall in 2023?", FELL, "", False),
        ("Why did pump sales fall in 2023?", WHY, FELL, True),
        ("Why was the plant moved to Ghent?", "The old plant lay too far from a port.", "", True),
        ("How is the ratio calculated?", "The ratio is calculated as follows:", "", False),
        ("How is the ratio calculated?", "The ratio is debt divided by profit.", "", True),
        ("What is excluded from profit?", "Profit was up on the year before.", "", False),
        ("What is excluded from profit?", "Profit excludes gains on land.", "", True),
        ("What were freight costs in 2023?", ROW, "", True),
    ],
)
def test_a_sentence_explains_or_may_not_answer(
    asked: str, text: str, before: str, told: bool
) -> None:
    assert explains(read_question(asked), text, before) is told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Order intake represents commitments from customers.", True),
        ("Order intake (OI) is what customers have committed to.", True),
        ("Order intake's share of sales is 40%.", False),
        ("In 2023 the plant was closed and order intake fell.", False),
        ("Order intake | 2023: 532.0 | 2022: 470.0", False),
    ],
)
def test_a_sentence_defines_what_it_names_first(text: str, told: bool) -> None:
    assert defines(read_question("What is order intake?"), text) is told


def test_the_change_is_quoted_with_the_cause_that_the_next_sentence_tells() -> None:
    sources = (PromptSource(1, f"{FELL} {WHY} Valves sold as before."),)
    assert extract("Why did pump sales fall in 2023?", sources) == f"{FELL} [1] {WHY} [1]"


def test_a_change_without_a_cause_is_no_answer_to_why() -> None:
    sources = (PromptSource(1, f"{FELL} Valves sold as before."),)
    assert extract("Why did pump sales fall in 2023?", sources) == REFUSAL


def test_a_rise_is_not_quoted_with_the_cause_of_another_fall() -> None:
    asked = read_question("Why did pump sales fall?")
    assert causes_of(asked, FELL, WHY)
    assert not causes_of(asked, "Pump sales increased $40 million in May.", WHY)


def test_a_number_does_not_say_what_a_thing_consists_of() -> None:
    table = f"Costs (in thousands)\n\n{ROW}\n"
    told = "Freight costs consist primarily of tolls, fuel and the wages of drivers."
    asked = "What do freight costs consist of?"
    assert extract(asked, (PromptSource(1, table),)) == REFUSAL
    assert extract(asked, (PromptSource(1, table), PromptSource(2, told))) == f"{told} [2]"


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("How often are pumps inspected?", "Pumps are inspected annually by the maker."),
        ("When is goodwill impaired?", "Goodwill is impaired if its value in use is lower."),
    ],
)
def test_a_frequency_and_a_condition_answer(asked: str, text: str) -> None:
    assert extract(asked, (PromptSource(1, text),)) == f"{text} [1]"


def test_a_rise_does_not_tell_why_there_was_a_fall() -> None:
    asked = read_question("Why did pump sales fall in 2023?")
    assert not explains(asked, "Demand for pumps increased due to price cuts elsewhere.", "")
    assert explains(asked, "Pump sales fell as a result of price increases.", "")
    assert not explains(asked, "Sales in 2023 were $5 million, down 17% from a year ago.", "")


@pytest.mark.parametrize(
    "text",
    [
        "The following table shows the freight costs of 2023 and 2022:",
        "Freight costs and tolls | 4,120 | 3,877 | 243",
    ],
)
def test_an_announcement_and_cells_without_columns_have_no_value(text: str) -> None:
    asked = "What were the freight costs in 2023?"
    told = "Freight costs of 2023 were $4.1 million."
    assert extract(asked, (PromptSource(1, f"{text}\n"),)) == REFUSAL
    assert extract(asked, (PromptSource(1, f"{text}\n\n{told}\n"),)) == f"{told} [1]"
