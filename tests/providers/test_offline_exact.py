"""Rows of a table that have more of a question whole than others: they are what it asks for."""

from __future__ import annotations

import time

import numpy as np
import pytest

from helix.domain.contract import REFUSAL
from helix.providers.offline.exact import counts_of, exact
from tests.support.offline_answers import ask_over as ask
from tests.support.offline_answers import told_over

ORDERS = [
    ("SO-1", "Baltic Yards", "Latvia", "510.00", "2026-01-04"),
    ("SO-2", "Nordhavn Supply", "Denmark", "1250.50", "2026-01-09"),
    ("SO-4", "Kieler Werft", "Germany", "2045.00", "2026-02-11"),
    ("SO-6", "Atlantic Rope", "Ireland", "77.00", "2026-03-01"),
]
COLUMNS = ("Order", "Customer", "Country", "Amount (EUR)", "Date")
NAMED = [" | ".join(map(": ".join, zip(COLUMNS, order, strict=True))) for order in ORDERS]
BARRED = [f"| {' | '.join(cells)} |" for cells in (COLUMNS, ["---"] * 5, *ORDERS)]
LABELLED = [row.removeprefix("Order: ") for row in NAMED]
RACES = """Half Ben Nevis | dist: 6 | climb: 2200 | time: 47.633
Ben Nevis | dist: 10 | climb: 4400 | time: 85.583
Cow Hill | dist: 2 | climb: 900 | time: 17.933"""


@pytest.mark.parametrize("rows", [NAMED, BARRED, LABELLED], ids=["named", "barred", "labelled"])
@pytest.mark.parametrize(
    "before", ["Which customer is from Ireland?", "What is the amount of SO-6?"]
)
def test_a_follow_up_is_answered_by_the_row_it_names(rows: list[str], before: str) -> None:
    said = f"{rows[-1]} [1]"
    answer = ask("What is the amount of SO-4?", "\n".join(rows), follows=before, said=said)
    assert answer.startswith(rows[-2])


def test_a_row_of_a_longer_name_is_not_the_one_asked_for() -> None:
    answer = ask("What is the distance of the Ben Nevis race?", RACES)
    assert answer == "Ben Nevis | dist: 10 | climb: 4400 | time: 85.583 [1]"


STAFF = """| Name | Role | City | Extension |
|---|---|---|---|
| Carla Moss | Accountant | Rome | 214 |
| David Lindqvist | Accountant | Oslo | 231 |
| David Okafor | Gardener | Rome | 118 |"""


def test_a_row_without_a_telling_word_outdoes_none() -> None:
    likely = np.array([0, 0, 0.3, 0.2, 0.1], dtype=np.float32)
    david = "What is the extension of David, the accountant in Rome?"
    assert told_over(david, STAFF, likely) == [0, 0, 0.3, 0.2, 0.1]
    carla = "What is the extension of Carla, the accountant in Rome?"
    assert told_over(carla, STAFF, likely) == [0, 0, 0.5, 0, 0]


def test_rows_that_are_named_alike_are_as_likely_as_they_were() -> None:
    likely = np.array([0, 0, 0.2, 0.2, 0.3], dtype=np.float32)
    assert told_over("How many accountants are there?", STAFF, likely) == [0, 0, 0.2, 0.2, 0.3]
    assert told_over("Who is an accountant?", STAFF, likely) == [0, 0, 0.2, 0.2, 0]


def test_a_row_without_the_identifier_asked_for_is_no_answer() -> None:
    likely = np.full(4, 0.25, dtype=np.float32)
    asked = "What did Kieler Werft pay for SO-6?"
    assert told_over(asked, "\n".join(NAMED), likely) == [0, 0, 0, 0.25]


def test_two_identifiers_name_two_rows() -> None:
    answer = ask("What are the amounts of SO-4 and SO-6?", "\n".join(BARRED))
    assert "2045.00" in answer and "77.00" in answer


def test_a_unit_in_brackets_is_no_strange_word_of_a_column() -> None:
    answer = ask("What is the amount of SO-4?", "\n".join(LABELLED))
    assert answer == "SO-4: 2045.00, Amount (EUR) [1]"


def test_the_names_of_columns_outdo_no_row() -> None:
    assert ask("What is the country of Kieler Werft?", "\n".join(BARRED)).startswith("| SO-4")


@pytest.mark.parametrize(
    ("question", "row", "told"),
    [
        ("What is the amount of SO-4?", "Order: SO-4 | Amount: 7", {"so-4"}),
        ("What is the amount of SO-4?", "Order: SO-4 (late) | Amount: 7", {"so-4"}),
        ("What is the amount of SO-4?", "| SO-6 | 7 |", set()),
        ("How many women are in type IV?", "type: IV | sex: women | count: 105", {"iv", "women"}),
        ("What is a pass worth?", "grade: A | points: 5", set()),
    ],
)
def test_what_a_row_has_of_a_question(question: str, row: str, told: set[str]) -> None:
    assert exact(question).told(row) == told


LAMP = """# Router: status lamp

- The lamp blinks two times: no address from the provider. Restart the modem.
- The lamp blinks four times: the password was refused. Hold the reset button for ten seconds.
"""


@pytest.mark.parametrize("often", ["four", "4"])
def test_what_is_counted_otherwise_is_not_quoted(often: str) -> None:
    answer = ask(f"What does it mean when the lamp blinks {often} times?", LAMP)
    assert "password was refused" in answer and "address" not in answer


def test_two_numbers_of_a_thing_are_no_range() -> None:
    asked = exact("What does it mean when the lamp blinks three times?")
    assert not asked.counts_as("It blinks two and four times in turn.")
    assert asked.counts_as("It blinks two to four times.")


@pytest.mark.parametrize("often", ["three", "3", "five"])
def test_a_count_that_no_text_has_is_not_answered_by_another(often: str) -> None:
    assert ask(f"What does it mean when the lamp blinks {often} times?", LAMP) == REFUSAL


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("The third floor and twenty-five rooms", {("3rd", "floor")}),
        ("3rd floor, 25 rooms, 1.5 baths", {("3rd", "floor"), ("25", "rooms")}),
        ("In the 2019 report: one lift, two years, 30 days, $ 40 million", set()),
    ],
)
def test_counts_are_numbers_with_the_thing_behind(text: str, counts: set[tuple[str, str]]) -> None:
    assert counts_of(text) == counts


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("May three people share a room?", "Rooms for 2 to 4 people."),
        ("May three people share a room?", "Rooms for two–four people."),
        ("May three people share a room?", "At most four people share a room."),
        ("Is it for twelve employees?", "Firms with more than 10 employees need one."),
    ],
)
def test_a_count_within_a_range_or_bound_of_the_text_is_no_other(question: str, text: str) -> None:
    assert exact(question).counts_as(text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("May five people share a room?", "Rooms for 2 to 4 people."),
        ("May five people share a room?", "At most four people share a room."),
        ("Is it for eight employees?", "Firms with more than 10 employees need one."),
        ("Who lives on the second floor?", "Bob lives above the third floor."),
    ],
)
def test_a_count_beyond_the_range_or_bound_is_another(question: str, text: str) -> None:
    assert not exact(question).counts_as(text)


def test_words_joined_without_end_take_time_by_their_length() -> None:
    began = time.process_time()
    assert counts_of("a-" * 20_000) == set()
    assert time.process_time() - began < 0.5


CODES = """# Printer: error codes

- Error code 2 means that one of the three trays is empty. Fill the tray.
- The cover is open where error code 5 is shown. Close the cover within two minutes.
"""


@pytest.mark.parametrize("code", ["1", "3"])
def test_a_number_is_not_met_by_the_word_of_something_else(code: str) -> None:
    assert ask(f"What does error code {code} mean?", CODES) == REFUSAL


def test_an_amount_is_met_by_its_words() -> None:
    assert exact("What is done after 2 minutes?").numbers_in(set(), "within two minutes")
    assert exact("What is done after 1 minute?").numbers_in(set(), "after one minute")
    assert not exact("What is done after 2 minutes?").numbers_in(set(), "two trays in 3 minutes")
