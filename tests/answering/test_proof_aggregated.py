"""Proof of counts and extremes: all rows of the table are cited, and the result is theirs."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from helix.answering.proof import Statement, prove
from helix.domain.aggregates import Aggregate, Condition, aggregate
from tests.support.order_table import SOURCES, TEXT, cells

AMOUNT = "Amount (EUR)"
HIGHEST = aggregate("highest", AMOUNT, "Order", (), cells(AMOUNT))
COUNT = aggregate("count", "", "Order", (Condition("Status", "Cancelled"),), cells("Status"))


def _proved(claim: str, made: Aggregate | None, markers: str = "[1] [2]") -> Statement:
    assert made is not None
    (statement,) = prove(f"{claim} {markers}", SOURCES, calculations=(made,)).statements
    return statement


@pytest.mark.parametrize("made", [HIGHEST, COUNT])
def test_a_result_is_proved_by_the_spans_of_its_cells(made: Aggregate | None) -> None:
    assert made is not None
    statement = _proved(made.statement, made)
    assert statement.problem is None and statement.calculation == made
    assert len(statement.supports) == len(made.used)
    for support in statement.supports:
        assert TEXT[support.start : support.end] == support.quote
    assert made.used[0].quote in statement.supports[0].quote


@pytest.mark.parametrize(
    ("claim", "markers"),
    [
        ("SO-4: 2,150.00, Amount (EUR), the highest of 5 rows", "[2]"),  # half of the table
        ("SO-1: 1,044.50, Amount (EUR), the highest of 5 rows", "[1] [2]"),
        ("SO-4: 2,150.00, Amount (EUR), the highest of 6 rows", "[1] [2]"),
        ("SO-4: 2,150.00, Amount (EUR), the lowest of 5 rows", "[1] [2]"),
        ("SO-4: -2,150.00, Amount (EUR), the highest of 5 rows", "[1] [2]"),
        ("SO-4: 2,150.00%, Amount (EUR), the highest of 5 rows", "[1] [2]"),
    ],
)
def test_another_result_or_a_part_of_the_table_is_not_proved(claim: str, markers: str) -> None:
    assert _proved(claim, HIGHEST, markers).problem is not None


def test_an_aggregate_that_leaves_rows_out_or_names_another_is_not_proved() -> None:
    assert HIGHEST is not None
    fewer = aggregate("sum", AMOUNT, "Order", (), cells(AMOUNT)[:3])
    assert fewer and _proved(fewer.statement, fewer).problem is not None
    renamed = tuple(replace(one, row="SO-9") for one in HIGHEST.operands)
    other = replace(HIGHEST, operands=renamed)
    assert _proved(other.statement, other).problem is not None
    false = replace(HIGHEST, result=Decimal(1))
    assert _proved(HIGHEST.statement, false).problem is not None
