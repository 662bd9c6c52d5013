"""Questions of a table's columns: what they ask for, and those that are left in doubt."""

from __future__ import annotations

import pytest

from helix.agent.column_questions import column_question
from helix.language.rows import rows_of
from tests.support.order_table import ROWS

PERIODS = [
    row
    for row, _ in rows_of(
        "City: Graz | Q3 2024: 143 | Q3 2025: 171\nCity: Lyon | Q3 2024: 388 | Q3 2025: 206"
    )
]
SUPPORT = [
    row
    for row, _ in rows_of(
        "\n".join(
            f"Plan: {name} | Support: {support}"
            for name, support in zip("ABCD", ["Email", "Email and chat"] * 2, strict=True)
        )
    )
]
TOTALLED = [
    row for row, _ in rows_of("Item: Ink | Price: 4\nItem: Pens | Price: 5\nItem: Total | Price: 9")
]


@pytest.mark.parametrize(
    ("question", "operation", "column", "conditions"),
    [
        ("Which order had the highest amount?", "highest", "Amount (EUR)", {}),
        ("What is the smallest quantity of an order?", "lowest", "Quantity", {}),
        ("What is the total amount of all orders?", "sum", "Amount (EUR)", {}),
        ("What is the average amount of orders from Norway?", "average", "Amount (EUR)",
         {"Country": "Norway"}),
        ("What is the total amount of Norway?", "sum", "Amount (EUR)", {"Country": "Norway"}),
        ("How many orders were cancelled?", "count", "", {"Status": "Cancelled"}),
        ("How many cancelled orders came from Norway?", "count", "",
         {"Status": "Cancelled", "Country": "Norway"}),
        ("Which Alpina order has the highest amount?", "highest", "Amount (EUR)",
         {"Customer": "Alpina"}),
    ],
)  # fmt: skip
def test_a_column_and_conditions_are_read_from_the_table_s_own_names(
    question: str, operation: str, column: str, conditions: dict[str, str]
) -> None:
    found = column_question(question, ROWS)
    assert found and found.is_about("")
    assert (found.operation, found.column) == (operation, column)
    assert {one.column: one.value for one in found.conditions} == conditions


@pytest.mark.parametrize(
    "question",
    [
        "How many orders are there?",  # of which nothing says that the table has them all
        "How many orders were refunded?",
        "How many orders are not cancelled?",
        "How many orders are shipped or cancelled?",
        "How many customers are from Norway?",  # a row is an order
        "How many more orders are from Norway than from Austria?",
        "How many Alpina did we sell?",  # a value is counted, not a row
        "What quantity do the many orders from Norway have?",
        "Which customer had the most orders?",
        "Which order has the highest amount in 2025?",
        "Which order has the highest amount above 500?",
        "Which order is the most expensive?",
        "Which order has the highest or lowest amount?",
        "Which order has the highest amount except for SO-4?",
        "What is the sum of the amounts?",  # of what rows is not said
        "What is the total amount of order SO-1?",  # of one row
        "What is the total amount of the orders by country?",  # of each value of a column
        "What is the average amount of the orders above 500?",
        "What is the average amount of two orders?",
        "How many orders aren't cancelled?",
        "How many orders were never cancelled?",
        "What is the average amount of the orders in 3 months?",
        "When was the order with the highest amount of tents shipped?",
    ],
)
def test_what_is_not_certain_is_not_asked_of_a_column(question: str) -> None:
    found = column_question(question, ROWS)
    assert found is None or not found.is_about("Orders by country and customer")


def test_a_length_of_time_is_that_of_the_column() -> None:
    rows = [row for row, _ in rows_of("City: Graz | Annual rent: 4\nCity: Lyon | Annual rent: 5")]
    found = column_question("Which city has the highest annual rent?", rows)
    assert found and found.column == "Annual rent"
    assert column_question("Which city has the highest quarterly rent?", rows) is None


def test_a_value_within_another_is_no_condition() -> None:
    assert column_question("How many plans have Email?", SUPPORT) is None
    both = column_question("How many plans have Email and chat?", SUPPORT)
    assert both is None  # both values are named


def test_a_column_of_a_period_is_the_question_s() -> None:
    found = column_question("Which city had the most rides in Q3 2025?", PERIODS)
    assert found and found.column == "Q3 2025" and found.unmet == {"ride"}
    assert found.is_about("Rides by city (thousands)") and not found.is_about("Scooters")
    assert column_question("Which city had the most rides?", PERIODS) is None
    later = column_question("Which city had the most rides in Q3 2023?", PERIODS)
    assert later is None


def test_a_total_is_no_row_of_an_extreme_and_forbids_a_sum() -> None:
    highest = column_question("Which item has the highest price?", TOTALLED)
    assert highest and highest.column == "Price"
    assert column_question("What is the total price of the items?", TOTALLED) is None


EXPENSES = [
    row
    for row, _ in rows_of(
        "Date: 2025-01-03 | Category: Travel | Amount: 4\n"
        "Date: 2025-01-04 | Category: Travel | Amount: 5\n"
        "Date: 2025-01-05 | Category: Food | Amount: 6"
    )
]


def test_rows_without_a_name_of_their_own_are_called_by_what_stands_around_them() -> None:
    found = column_question("What is the total amount of all expenses in 2025?", EXPENSES)
    assert found and found.column == "Amount" and found.unmet == {"expens"}
    assert found.is_about("Expenses 2025") and not found.is_about("Invoices 2025")
    assert column_question("What is the total amount?", EXPENSES) is None


@pytest.mark.parametrize(
    "question",
    [
        "What is the total amount of expenses last year?",
        "What is the total amount of Travel since March?",
        "What is the total amount of Travel including VAT?",
        "What is half the total amount of Travel?",
        "What is the total amount of expenses that were rejected?",
        "What is the total amount of expenses over 4 euros?",
        "What is the total amount of other expenses?",
        "What is the total amount of Food or Travel expenses?",
        "What is the total amount of expenses without Travel?",
    ],
)
def test_what_the_rows_do_not_tell_of_leaves_a_sum_in_doubt(question: str) -> None:
    found = column_question(question, EXPENSES)
    assert found is None or not found.is_about("Expenses 2025")


def test_measures_beside_each_other_are_no_rows_of_one_kind() -> None:
    rows = [row for row, _ in rows_of("Item: Revenue | Amount: 9\nItem: Cost | Amount: 5")]
    assert column_question("What is the total amount of Brightwater?", rows) is None
