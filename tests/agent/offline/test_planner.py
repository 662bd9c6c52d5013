"""The plan without a model: what is looked up, searched for and computed, in which order."""

from __future__ import annotations

from typing import Any, cast

from helix.agent.ledger import Ledger
from helix.agent.offline.planner import OfflinePlanner
from helix.agent.step import Outcome, PlannedCall, Step
from helix.agent.tool import ToolContext, ToolOutput
from helix.agent.tools.calculator import CalculatorArguments, calculator
from helix.domain.records import Hit
from helix.domain.scope import Scope
from helix.domain.tool_calls import ToolCall
from tests.support.order_table import HITS
from tests.support.sales_table import HIT


def _context(question: str, *hits: Hit) -> ToolContext:
    nothing, ledger = cast(Any, None), Ledger()
    for hit in hits:
        ledger.add(hit, 1)
    return ToolContext(question, question, Scope(), nothing, nothing, ledger, nothing)


def _outcomes(step: Step, *outputs: ToolOutput) -> list[Outcome]:
    calls = [ToolCall(n, call.name, call.arguments) for n, call in enumerate(step.calls, 1)]
    rest = [*outputs, *[ToolOutput()] * len(calls)]
    return [Outcome(call, output) for call, output in zip(calls, rest, strict=False)]


def _names(step: Step) -> list[str]:
    return [call.name for call in step.calls]


def test_a_plain_question_is_searched_for_once() -> None:
    planner, context = OfflinePlanner(), _context("Which lamps are brass?")
    first = planner.step(context, [])
    assert first.calls == (PlannedCall("search_library", {"query": "Which lamps are brass?"}),)
    assert planner.step(context, _outcomes(first)).calls == ()


async def test_numbers_are_found_then_computed_with_their_places() -> None:
    planner = OfflinePlanner()
    context = _context("What is the percentage change in lamps from 2018 to 2019?", HIT)
    first = planner.step(context, [])
    assert _names(first) == ["search_library", "query_table"]
    second = planner.step(context, _outcomes(first))
    assert _names(second) == ["calculator"]
    output = await calculator(CalculatorArguments(**second.calls[0].arguments), context)
    assert [one.said for one in output.calculations] == ["-22.22%"]
    assert planner.step(context, [*_outcomes(first), *_outcomes(second)]).calls == ()


async def test_printed_minus_signs_and_percentages_are_computed_as_such() -> None:
    planner = OfflinePlanner()
    for question, said in (
        ("What is the change in returns from 2018 to 2019?", "-2.1 million"),
        ("What is the difference in margin between 2018 and 2019?", "-0.5%"),
        ("What is the average of returns for 2017-2019?", "-1.57 million"),
        ("What are lamps as a percentage of total sales in 2018?", "4.72%"),
    ):
        context = _context(question, HIT)
        step = planner.step(context, _outcomes(planner.step(context, [])))
        output = await calculator(CalculatorArguments(**step.calls[0].arguments), context)
        assert [one.said for one in output.calculations] == [said], question


def test_a_number_that_is_not_alone_is_not_computed_with() -> None:
    planner = OfflinePlanner()
    for question in (
        "What is the change in chairs from 2018 to 2019?",
        "What is the change in lamps from 2015 to 2019?",
        "What is the change in sales of desks from 2018 to 2019?",
    ):
        context = _context(question, HIT)
        assert planner.step(context, _outcomes(planner.step(context, []))).calls == (), question


def test_documents_of_a_name_are_listed_then_each_is_searched() -> None:
    planner = OfflinePlanner()
    context = _context("How has Acme's total revenue changed over time?")
    first = planner.step(context, [])
    assert first.calls == (PlannedCall("list_documents", {"having": "Acme"}),)
    listed = ToolOutput(("2 documents:\n- document 4: Acme 2023 (10-Q)\n- document 9: Acme 2024",))
    second = planner.step(context, _outcomes(first, listed))
    assert [call.arguments for call in second.calls] == [
        {"query": context.question, "document_id": 4},
        {"query": context.question, "document_id": 9},
    ]


async def test_a_column_that_a_passage_has_is_queried_and_no_other() -> None:
    planner = OfflinePlanner()
    for question, names in (
        ("Which order had the highest amount?", ["query_table"]),
        ("How many orders were cancelled?", ["query_table"]),
        ("How many days of leave are there?", []),
        ("Which orders were cancelled?", []),
    ):
        context = _context(question, *HITS)
        searched = _outcomes(planner.step(context, []))
        step = planner.step(context, searched)
        assert _names(step) == names, question
        assert planner.step(context, [*searched, *_outcomes(step)]).calls == ()
