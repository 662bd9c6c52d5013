"""Results of tools as sources: what a calculation and the clock say."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from helix.domain.arithmetic import NotArithmetic
from helix.domain.tool_results import ToolResult, calculation, clock


@pytest.mark.parametrize(
    ("expression", "text", "result"),
    [
        ("15% * 2,340", "15% × 2,340 = 351", "351"),
        ("34% + 11%", "34% + 11% = 45%", "45%"),
        ("1/8", "1/8 = 0.125", "0.125"),
        ("10 / 3", "10 / 3 = 3.33 (3.3333333333)", "3.3333333333"),
        ("2 * 0.00001", "2 × 0.00001 = 0.00002", "0.00002"),
        ("3 - 3", "3 - 3 = 0", "0"),
    ],
)
def test_a_calculation_says_its_expression_and_its_result(
    expression: str, text: str, result: str
) -> None:
    made = calculation(expression)
    assert (made.text, made.result) == (text, result)
    assert made.holds() and ToolResult.of_json(made.to_json()) == made


def test_a_quotient_may_be_told_in_percent() -> None:
    made = calculation("1/8", as_percent=True)
    assert made.result == "12.5%" and made.holds()


def test_a_result_that_was_changed_does_not_hold() -> None:
    made = calculation("15% * 2,340")
    assert not replace(made, result="352").holds()
    assert not replace(made, text="15% × 2,340 = 352").holds()
    assert not replace(made, expression="what?").holds()


@pytest.mark.parametrize("expression", ["", "two", "1 / 0", " * ".join(["9" * 40] * 12)])
def test_what_cannot_be_computed_is_no_result(expression: str) -> None:
    with pytest.raises(NotArithmetic):
        calculation(expression)


def test_the_clock_tells_date_and_time_in_the_usual_ways() -> None:
    made = clock(datetime(2026, 11, 24, 0, 5, tzinfo=ZoneInfo("Europe/Berlin")), "Europe/Berlin")
    for part in ("Tuesday, 24 November 2026", "2026-11-24", "00:05 (12:05 AM)", "Europe/Berlin"):
        assert part in made.text
    assert made.result == "2026-11-24T00:05+01:00" and made.holds()
