"""Computations over the rows that a question names, in its periods."""

from __future__ import annotations

from typing import Any, cast

import pytest

from helix.agent.ledger import Ledger
from helix.agent.offline.planner import OfflinePlanner
from helix.agent.step import Outcome
from helix.agent.tool import ToolContext
from helix.agent.tools.calculator import CalculatorArguments, calculator
from helix.domain.records import Hit
from helix.domain.scope import Scope
from helix.domain.tool_calls import ToolCall

_ROWS = {
    "Auditor": ("1,092", "823"),
    "Total fees paid to auditor": ("1,690", "1,104"),
    "Other charges": ("27.0", "33.7"),
    "Total Other charges": ("166.3", "513.3"),
    "Voyage expenses": ("(21,387)", "(28,237)"),
    "Operating income (loss)": ("(2,235)", "(6,986)"),
    "Depreciation": ("(111)", "(102)"),
    "EBITDA": ("372", "361"),
    "Discount rate": ("3.3%", "4.3%"),
    "Free cash flow": ("4,411", "4,044"),
    "Average headcount": ("110", "100"),
    "Number of shares used › Basic earnings per unit": ("1,305.7", "1,300.5"),
    "Basic earnings per unit (cents per unit)": ("206.2", "132.6"),
    "Closing balance of grants": ("20", "50"),
}
_WEST = "West | 2019 Sales: $600 | 2019 % of all: 40.0% | 2018 Sales: $300 | 2018 % of all: 30.0%"
_EAST = "East | 2019 Sales: $900 | 2019 % of all: 60.0% | 2018 Sales: $700 | 2018 % of all: 70.0%"


def _hit(chunk_id: int, text: str) -> Hit:
    return Hit(
        chunk_id, 1, "Annual Report", "r.pdf", 0, text, chunk_id * 10_000,
        chunk_id * 10_000 + len(text), f"n{chunk_id}", 0.2,
    )  # fmt: skip


HITS = (
    _hit(1, "\n".join(
        ["Notes", *(f"{row} | 2019: {now} | 2018: {then}" for row, (now, then) in _ROWS.items())]
    )),
    _hit(2, f"Sales by region\n{_WEST}\n{_EAST}"),
    _hit(3, "Museum | Budget 2019: 2,040 | Actual 2019: 2,215"),
    _hit(4, "Museum | 2018: 58,940 | 2017: 66,015"),
)  # fmt: skip


async def _computed(question: str) -> str | None:
    """The text of the plan's calculation; None where it computes nothing."""
    ledger, nothing = Ledger(), cast(Any, None)
    for hit in HITS:
        ledger.add(hit, 1)
    context = ToolContext(question, question, Scope(), nothing, nothing, ledger, nothing)
    planner, done = OfflinePlanner(), list[Outcome]()
    while (calls := planner.step(context, done).calls) and calls[0].name != "calculator":
        done += [Outcome(ToolCall(1, call.name, call.arguments), None) for call in calls]
    if not calls:
        return None
    output = await calculator(CalculatorArguments(**calls[0].arguments), context)
    (made,) = output.calculations
    assert made.holds()
    return made.said


async def test_two_numbers_of_one_value_have_each_its_place() -> None:
    ledger, nothing = Ledger(), cast(Any, None)
    rows = "Notes\nLamps | 2019: 5 | 2018: 3\nBells | 2019: 5 | 2018: 1"
    ledger.add(_hit(1, rows), 1)
    context = ToolContext("", "", Scope(), nothing, nothing, ledger, nothing)
    places = [("3", "Lamps", "2018"), ("5", "Lamps", "2019"), ("5", "Bells", "2019")]
    operands = [{"number": n, "row": row, "column": column} for n, row, column in places]
    arguments = CalculatorArguments.model_validate(
        {"expression": "(5 - 3) / 5", "operands": operands}
    )
    (made,) = (await calculator(arguments, context)).calculations
    starts = [one.start for one in made.operands if one]
    lamps, bells = rows.index("5"), rows.rindex("5")
    assert [start - 10_000 for start in starts] == [lamps, rows.index("3"), bells]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is the change in the total fees paid to auditor from 2018 to 2019?", "586"),
        ("What was the change in Total Other charges between 2018 and 2019?", "-347.0"),
        ("What was the change in Other charges between 2018 and 2019?", "-6.7"),
        ("What was the change in sales from West from 2018 to 2019?", "300"),
        ("How much did the discount rate decrease by from 2018 to 2019?", "-1.0%"),
        ("What was the decrease in voyage expenses from 2018 to 2019?", "6,850"),
        ("By what percentage did the closing balance of grants fall from 2018 to 2019?", "-60%"),
        ("What is the percentage change in discount rate from 2018 to 2019?", "-23.26%"),
        ("What was the change in average headcount from 2018 to 2019?", "10"),
        ("What was the increase in average headcount in 2019?", "10"),
        ("How has average headcount changed?", "10"),
        ("What was the change in operating income (loss) from 2018 to 2019?", "4,751"),
        ("What is the average of EBITDA in 2018,2019?", "366.50"),
        ("What is the sum of EBITDA for 2018-2019?", "733"),
        ("What is the difference between EBITDA in 2019 as compared to EBITDA in 2018?", "11"),
        ("What is the difference between free cash flow and EBITDA in 2019?", "4,039"),
        ("What is the ratio of free cash flow to EBITDA in 2019?", "11.86"),
        ("What are sales of West as a share of sales of East in 2018?", "42.86%"),
    ],
)
async def test_the_numbers_that_are_named_are_computed_with(question: str, said: str) -> None:
    assert await _computed(question) == said


@pytest.mark.parametrize(
    "question",
    [
        "What was EBITDA in 2019?",
        "What is the change in EBITDA from 2015 to 2019?",
        "What is the change in the price of tea from 2018 to 2019?",
        "What is the change in sales from 2018 to 2019?",
        "What was the percentage change in sales from West from 2018 to 2019?",
        "What percentage of total EBITDA is tea in 2019?",
        "What is the sum of EBITDA in 2019?",
        "What is the difference between the museum's actual and budget in 2019?",
        "",
    ],
    ids=["nothing to compute", "no such year", "no such row", "two rows", "shares stand beside",
         "no such part", "one year alone", "two measures", "empty"],
)  # fmt: skip
async def test_what_is_not_named_alone_is_not_computed(question: str) -> None:
    assert await _computed(question) is None
