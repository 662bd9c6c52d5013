"""Arithmetic as reports write it: what is computed, and what is no arithmetic."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.domain.arithmetic import NotArithmetic, evaluate, is_percentage, literals, parse, shape


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("44.1-56.7", "-12.6"),
        ("$3,313 / $3,313", "1"),
        ("2 + 3 * 4 - 6 / 3", "12"),
        ("-(9 + 12) / 2", "-10.5"),
        ("-1.9 - (-2.2)", "0.3"),
        ("$5,121 +$(-5,946) + $17,592", "16767"),
        ("[(166+178)/2] - [(57+44)/2]", "121.5"),
        ("60.3 million + 32,137 thousand", "92437000"),
        ("53% * 200", "106"),
        ("10 × 4 ÷ 5 − 1", "7"),
        (".5 + 0", "0.5"),
    ],
)
def test_an_expression_is_computed_in_decimals(expression: str, value: str) -> None:
    assert evaluate(parse(expression)) == Decimal(value)


def test_a_sum_of_percentages_stays_in_percent() -> None:
    tree = parse("(4.1% + 4.6%) / 2")
    assert (evaluate(tree), is_percentage(tree)) == (Decimal("4.35"), True)
    assert not is_percentage(parse("4.1% / 4.6%"))


def test_a_number_alone_in_brackets_is_negative_where_it_is_printed_so() -> None:
    assert evaluate(parse("3 + (13) + 26")) == 42
    assert evaluate(parse("3 + (13) + 26", printed=True)) == 16
    assert evaluate(parse("(3 + 13) * 2", printed=True)) == 32


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("", "missing"),
        ("2 +", "missing at the end"),
        ("(2 + 3", "not closed"),
        ("2 3", "too many"),
        ("2) + 3", "too many"),
        ("2 ** 3", "missing before '*'"),
        ("__import__('os')", "only numbers"),
        ("1e9", "only numbers"),
        ("1 / (2 - 2)", "divides by zero"),
        ("1" * 41, "digits"),
        ("1+" * 251, "characters"),
        ("(" * 30 + "1" + ")" * 30, "deep"),
    ],
)
def test_anything_else_is_refused_with_its_reason(expression: str, problem: str) -> None:
    with pytest.raises(NotArithmetic, match=problem.replace("*", r"\*")):
        evaluate(parse(expression))


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=8), st.data())
def test_sums_and_differences_are_exact(numbers: list[int], data: st.DataObject) -> None:
    signs = [data.draw(st.sampled_from("+-")) for _ in numbers]
    text = "0 " + " ".join(f"{sign} {n:,}" for sign, n in zip(signs, numbers, strict=True))
    wanted = sum(n if sign == "+" else -n for sign, n in zip(signs, numbers, strict=True))
    assert evaluate(parse(text)) == wanted


def test_two_ways_to_write_an_expression_have_one_shape() -> None:
    assert shape(parse("(1,000 - 5)/5")) == shape(parse("( 1000 − 5 ) / 5"))
    assert shape(parse("5 - 3")) != shape(parse("3 - 5"))


def test_literals_say_where_they_stand() -> None:
    text = "(44.1 - $1,056.7) / 56.7%"
    found = [(text[one.start : one.end], one.is_percent) for one in literals(parse(text))]
    assert found == [("44.1", False), ("$1,056.7", False), ("56.7%", True)]
