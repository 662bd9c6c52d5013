"""Calculations hold only when their operands are their numbers and they come to their result."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from helix.domain.arithmetic import NotArithmetic
from helix.domain.calculations import Calculation, Operand, calculate
from tests.support.sales_table import cell, lamps_change, share_of_lamps


def _operand(quote: str, scale: str = "") -> Operand:
    return Operand(1, 1, 0, len(quote), quote, scale)


def test_results_are_told_in_what_their_operands_count() -> None:
    assert lamps_change().said == "-12.6 million"
    assert lamps_change(as_percent=True).said == "-22.22%"
    assert share_of_lamps().said == "2.95%"
    average = calculate("(44.1 + 56.7) / 2", (cell("Lamps", "2019"), cell("Lamps", "2018"), None))
    assert average.said == "50.4 million"
    points = calculate("4.5% - 5.0%", (cell("Margin", "2019"), cell("Margin", "2018")))
    assert points.said == "-0.5%"
    ratio = calculate("6 / 4", (_operand("6"), _operand("4")))
    assert ratio.said == "1.50"


def test_a_statement_says_of_each_operand_which_it_is() -> None:
    assert lamps_change().statement == (
        "Lamps: 44.1 (Years ended, 2019) - 56.7 (Years ended, 2018) = -12.6 million"
    )
    assert share_of_lamps().statement == (
        "Years ended, 2019: 44.1 (Lamps) / 1,493.3 (Total sales) = 2.95%"
    )


@pytest.mark.parametrize(
    ("expression", "quotes", "problem"),
    [
        ("44.1 - 5", ("44.1", None), "not those of the sources"),
        ("44.1 - 2.2", ("44.1", "(2.2)"), "not those of the sources"),
        ("44.1 - 56.8", ("44.1", "56.7"), "not those of the sources"),
        ("(44.1 + 56.7) / 3", ("44.1", "56.7", None), "not those of the sources"),
        ("44.1 - 4.5%", ("44.1", "4.5%"), "partly counted in percent"),
        ("44.1 - 56.7", ("44.1",), "needs the place"),
        ("2 + 2", (None, None), "not those of the sources"),
    ],
)
def test_numbers_that_no_source_has_are_not_calculated_with(
    expression: str, quotes: tuple[str | None, ...], problem: str
) -> None:
    operands = tuple(quote and _operand(quote) for quote in quotes)
    with pytest.raises(NotArithmetic, match=problem):
        calculate(expression, tuple(one or None for one in operands))


def test_two_scales_are_added_only_where_both_are_written() -> None:
    operands = _operand("60.3", "million"), _operand("32,137", "thousand")
    with pytest.raises(NotArithmetic, match="different scales"):
        calculate("60.3 + 32,137", operands)
    assert calculate("60.3 million + 32,137 thousand", operands).said == "92,437,000"
    with pytest.raises(NotArithmetic, match="do not go together"):
        calculate("32,137 / 60.3", (operands[1], operands[0]))


def test_a_calculation_that_was_tampered_with_does_not_hold() -> None:
    made = lamps_change(as_percent=True)
    assert made.holds()
    for wrong in (
        replace(made, result=Decimal("22.22")),
        replace(made, unit=""),
        replace(made, expression="(56.7 - 44.1) / 56.7"),
        replace(made, operands=(*made.operands[:2], cell("Lamps", "2017"))),
        replace(made, operands=made.operands[:2]),
        replace(made, expression="os.system"),
    ):
        assert not wrong.holds()


def test_a_calculation_survives_its_json() -> None:
    made = lamps_change()
    assert Calculation.of_json(made.to_json()) == made
