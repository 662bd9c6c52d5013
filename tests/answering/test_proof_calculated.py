"""Statements that a calculation proves: right numbers, and each said to be what it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helix.answering.proof import Statement, prove
from helix.domain.calculations import Calculation
from tests.support.sales_table import SOURCES, START, TEXT, lamps_change, share_of_lamps

CALCULATIONS = (lamps_change(), lamps_change(as_percent=True), share_of_lamps())


def _proved(claim: str, calculations: tuple[Calculation, ...] = CALCULATIONS) -> Statement:
    (statement,) = prove(f"{claim} [1]", SOURCES, calculations=calculations).statements
    return statement


@pytest.mark.parametrize("calculation", CALCULATIONS, ids=lambda one: one.expression)
def test_a_calculation_written_out_is_proved_by_the_spans_of_its_operands(
    calculation: Calculation,
) -> None:
    statement = _proved(calculation.statement)
    assert statement.problem is None and statement.calculation == calculation
    for support in statement.supports:
        assert TEXT[support.start - START : support.end - START] == support.quote
    quoted = [support.quote for support in statement.supports]
    for operand in calculation.operands:
        assert operand and any(quote.endswith(operand.quote) for quote in quoted)
    assert statement.to_json()["calculation"]["said"] == calculation.said


def test_a_lead_may_say_what_is_computed() -> None:
    claim = "The change in sales of lamps was 44.1 (2019) - 56.7 (2018) = -12.6 million"
    assert _proved(claim).problem is None


@pytest.mark.parametrize(
    ("claim", "problem"),
    [
        ("Lamps: 44.1 (2018) - 56.7 (2019) = -12.6 million", "name"),
        ("Lamps: 44.1 (2019) - 56.7 (2017) = -12.6 million", "name"),
        ("Lamps: 44.1 - 56.7 = -12.6 million", "name"),
        ("Fixed price: 44.1 (2019) - 56.7 (2018) = -12.6 million", "words"),
        ("2019: 44.1 (Total sales) / 1,493.3 (Lamps) = 2.95%", "name"),
        ("2018: 44.1 (Lamps) / 1,493.3 (Total sales) = 2.95%", "words"),
        ("Profit of lamps: 44.1 (2019) - 56.7 (2018) = -12.6 million", "words"),
        ("Lamps: 44.1 (2019) - 56.7 (2018) = 12.6 million", "number"),
        ("Lamps: 44.1 (2019) - 56.7 (2018) = -12.6", "number"),
        ("Lamps: 44.1 (2019) - 56.7 (2018) = -12.6 thousand", "number"),
        ("Lamps: 44.1 (2019) - 56.7 (2018) = -13 million", "number"),
        ("Lamps: 44.1 (2019) - 56.8 (2018) = -12.7 million", "number"),
        ("Lamps: 56.7 (2018) - 44.1 (2019) = 12.6 million", "number"),
        ("Lamps: (44.1 (2019) - 56.7 (2018)) / 56.7 = -0.22%", "number"),
        ("Sales of lamps changed by -12.6 million from 2018 to 2019", "number"),
    ],
)
def test_a_wrong_operand_row_period_scale_or_sign_is_not_proved(claim: str, problem: str) -> None:
    statement = _proved(claim)
    assert (statement.problem, statement.supports) == (problem, ())


def test_a_calculation_that_does_not_hold_proves_nothing() -> None:
    made = lamps_change()
    claim = made.statement
    assert _proved(claim, ()).problem == "number"
    forged = replace(made, result=made.result + 1)
    assert _proved(claim.replace("-12.6", "-11.6"), (forged,)).problem == "number"
    operand = made.operands[0]
    assert operand
    elsewhere = replace(
        made, operands=(replace(operand, start=operand.start + 1), made.operands[1])
    )
    assert _proved(claim, (elsewhere,)).problem == "number"
    other_scale = tuple(one and replace(one, scale="thousand") for one in made.operands)
    thousands = replace(made, operands=other_scale, unit="thousand")
    assert thousands.holds()
    assert _proved(thousands.statement, (thousands,)).problem == "number"


def test_a_statement_that_a_source_says_needs_no_calculation() -> None:
    statement = _proved("Sales of lamps were 44.1 million in the years ended 2019")
    assert statement.problem is None and statement.calculation is None


@pytest.mark.parametrize(
    "claim",
    [
        "Sales of lamps were told in 7 rows",
        "Sales of lamps were 44.1 million on 3 March 2019",
        "Sales of lamps fell for 365 days",
        "Sales of lamps were 44.1 million in the years ended 2016",
    ],
)
def test_a_count_or_a_date_that_stands_nowhere_is_marked(claim: str) -> None:
    assert _proved(claim).problem == "number"
