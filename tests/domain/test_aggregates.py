"""Aggregates: what they come to, how they are told, and that nothing false holds."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from helix.domain.aggregates import Aggregate, Condition, Operation, aggregate
from tests.support.order_table import cells

AMOUNT = "Amount (EUR)"
CANCELLED = (Condition("Status", "cancelled"),)


def _of(operation: Operation, *conditions: Condition) -> Aggregate:
    column = "" if operation == "count" else AMOUNT
    columns = [*(one.column for one in conditions), *([column] if column else [])]
    made = aggregate(operation, column, "Order", conditions, cells(*columns))
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("made", "statement"),
    [
        (_of("highest"), "SO-4: 2,150.00, Amount (EUR), the highest of 5 rows"),
        (_of("lowest"), "SO-3: 310.25, Amount (EUR), the lowest of 5 rows"),
        (_of("sum"), "Amount (EUR): 4,900.00, the sum of 5 rows"),
        (_of("average"), "Amount (EUR): 980, the average of 5 rows"),
        (_of("count", *CANCELLED), "Order: 2 of 5 rows, Status: cancelled"),
        (_of("lowest", *CANCELLED),
         "SO-2: 980.00, Amount (EUR), the lowest of 2 rows, Status: cancelled"),
    ],
)  # fmt: skip
def test_an_aggregate_tells_its_result_and_over_how_many_rows(
    made: Aggregate, statement: str
) -> None:
    assert made.statement == statement
    assert made.holds()
    told = made.to_json()
    assert told["said"] in statement and told["operands"]


def test_an_aggregate_with_another_result_cell_or_column_does_not_hold() -> None:
    made = _of("highest")
    assert not replace(made, result=Decimal("1044.50")).holds()
    assert not replace(made, column="Quantity").holds()
    assert not replace(made, operands=()).holds()
    assert not replace(_of("lowest", *CANCELLED), operands=made.operands).holds()
    changed = replace(made.operands[0], quote="9,999.00")
    assert not replace(made, operands=(changed, *made.operands[1:])).holds()


@pytest.mark.parametrize("quote", ["by agreement", "2,150.00", "(5.00)", "3 tons"])
def test_a_cell_without_a_number_of_the_same_kind_or_a_tie_leaves_no_extreme(quote: str) -> None:
    first, *others = cells(AMOUNT)
    assert aggregate("highest", AMOUNT, "", (), [replace(first, quote=quote), *others]) is None


@pytest.mark.parametrize(
    "quotes", [("895", "1.299", "20"), ("40", "60", "100"), ("40.1", "60", "100")]
)
def test_a_thousand_s_dot_and_a_total_without_a_name_leave_all_in_doubt(
    quotes: tuple[str, ...],
) -> None:
    some = [replace(one, quote=quote) for one, quote in zip(cells(AMOUNT)[:3], quotes, strict=True)]
    assert aggregate("highest", AMOUNT, "", (), some) is None
    assert aggregate("average", AMOUNT, "", (), some) is None


def _of_values(operation: Operation, *quotes: str, scale: str = "") -> Aggregate | None:
    found = [
        replace(one, quote=quote, scale=scale)
        for one, quote in zip(cells(AMOUNT), quotes, strict=False)
    ]
    return aggregate(operation, AMOUNT, "Order", (), found)


@pytest.mark.parametrize(
    ("operation", "quotes", "said"),
    [
        ("sum", ("$100", "90", "($5)"), "$185"),
        ("sum", ("-$7.50", "$5"), "-$2.50"),
        ("sum", ("1.2 million", "3.4 million"), "4.6 million"),
        ("average", ("12 kg", "3 kg"), "7.5 kg"),
        ("average", ("5%", "10%"), "7.5%"),
        ("average", ("0.001", "0.003"), "0.002"),
        ("average", ("100", "300"), "200"),
        ("average", ("99999999999999999999", "1"), "50,000,000,000,000,000,000"),
        ("sum", ("9999999999999999999", "0.000000000000000001"),
         "9,999,999,999,999,999,999.000000000000000001"),
    ],
)  # fmt: skip
def test_a_result_is_told_exactly_and_in_the_unit_of_its_cells(
    operation: Operation, quotes: tuple[str, ...], said: str
) -> None:
    made = _of_values(operation, *quotes)
    assert made is not None and (made.said, made.holds()) == (said, True)


@pytest.mark.parametrize("quotes", [("$100", "€90"), ("5%", "10"), ("1" * 30, "2")])
def test_numbers_of_several_units_or_of_too_many_digits_have_no_sum(quotes: tuple[str]) -> None:
    assert _of_values("sum", *quotes) is None


def test_a_scale_is_that_of_the_rows_that_are_met() -> None:
    *found, last, status = cells("Status", AMOUNT)[:6]
    scaled = [replace(one, scale="million") if one.column == AMOUNT else one for one in found]
    shipped, other = (Condition("Status", "Shipped"),), replace(last, quote="Open")
    alike = [replace(one, quote="Shipped") if one.column == "Status" else one for one in scaled]
    made = aggregate("sum", AMOUNT, "Order", shipped, [*alike, other, status])
    assert made is not None and made.said == "2,024.50 million"


def test_nothing_that_meets_the_conditions_is_no_count_of_zero() -> None:
    refunded = (Condition("Status", "Refunded"),)
    assert aggregate("count", "", "Order", refunded, cells("Status")) is None
