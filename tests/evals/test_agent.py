"""The agent over samples/: every tool case, each tool by itself, and what no tool may reach."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from evals.agent.answers import Expected, states_number
from evals.agent.cases import SUITE, load_tool_cases, outcomes
from evals.database import ingest
from helix.agent.ledger import Ledger
from helix.agent.tool import ToolContext, ToolFailure, ToolOutput
from helix.agent.tools import TOOLS
from helix.domain.scope import Scope
from helix.domain.tool_results import ToolResult
from helix.services import Services, open_services
from helix.settings import Settings, load_settings
from tests.support.live_server import OFFLINE

_BY_NAME = {tool.name: tool for tool in TOOLS}


@pytest.fixture(scope="module")
def settings(module_durable_database_url: str) -> Settings:
    """A database that has the samples."""
    made = load_settings(database_url=module_durable_database_url, **{**OFFLINE, "workers": 0})
    ingest(made, SUITE)
    return made


@asynccontextmanager
async def _context(settings: Settings, **scope: Any) -> AsyncIterator[tuple[Services, ToolContext]]:
    async with open_services(settings) as services:
        yield services, ToolContext(
            "?", "?", Scope(SUITE.tenant, **scope), services.engine.retriever,
            services.library.of(SUITE.tenant), Ledger(), settings, "Pacific/Auckland",
            now=lambda: datetime(2026, 3, 1, 12, 30, tzinfo=UTC),
        )  # fmt: skip


async def _call(context: ToolContext, name: str, **arguments: Any) -> ToolOutput:
    """The output of a tool; its passages enter the ledger, as the loop has it."""
    tool = _BY_NAME[name]
    output = await tool.run(tool.arguments.model_validate(arguments), context)
    for hit in output.passages:
        context.ledger.add(hit, 1)
    return output


def _text(output: ToolOutput) -> str:
    """The texts of an output, results of tools among them."""
    texts = (part.text if isinstance(part, ToolResult) else part for part in output.parts)
    return "\n".join(text for text in texts if isinstance(text, str))


async def _ids(context: ToolContext) -> dict[str, int]:
    lines = _text(await _call(context, "list_documents")).splitlines()[1:]
    told = [line.removeprefix("- document ").partition(": ") for line in lines]
    return {title.partition(" (")[0]: int(number) for number, _, title in told}


async def test_tool_cases_over_the_samples_are_right(settings: Settings) -> None:
    """Every fourth; `make eval` asks them all."""
    cases = load_tool_cases()
    assert len(cases) == 40
    async with open_services(settings) as services:
        found = await outcomes(services, cases[::4])
    assert {one.case.question: one.faults for one in found if one.faults} == {}


async def test_each_tool_brings_passages_of_the_scope_with_their_places(settings: Settings) -> None:
    async with _context(settings) as (_, context):
        ids = await _ids(context)
        assert len(ids) == 7
        travel, plans = ids["Travel Handbook"], ids["Subscription Plans"]
        report = next(number for title, number in ids.items() if title.startswith("Brightwater"))
        assert "1 document" in _text(await _call(context, "list_documents", having="brightwater"))

        found = await _call(context, "search_library", query="allowance in Norway")
        assert found.decision and found.decision.passed and 0 < len(found.passages) <= 7
        found = await _call(context, "search_library", query="allowance", document_id=travel)
        assert {hit.document_id for hit in found.passages} == {travel}

        outline = _text(await _call(context, "outline", document_id=travel))
        assert "- Daily allowances" in outline and "  - Norway" in outline
        part = await _call(context, "read_document", document_id=travel, heading="norway")
        assert part.passages and all("Norway" in hit.heading_path for hit in part.passages)
        page = await _call(context, "read_document", document_id=report, page=2)
        assert page.passages and {hit.page for hit in page.passages} == {2}
        middle = await _call(context, "read_document", document_id=travel, start=900, end=950)
        assert all((h.start_char or 0) < 950 and (h.end_char or 0) > 900 for h in middle.passages)

        about = await _call(context, "analyze_document", document_id=report)
        assert all(name in _text(about) for name in ("Facts:", "Topics:", "Entities:", "Aarhus"))
        sides = await _call(
            context, "compare_documents", question="employees", document_ids=[report, travel]
        )
        assert {hit.document_id for hit in sides.passages} == {report, travel}

        rows = await _call(
            context, "query_table", rows="flow sensors", columns="2025", document_id=report
        )
        assert "Revenue by segment › Flow sensors" in _text(rows) and "27,915" in _text(rows)
        assert "24,388" not in _text(rows)
        assert any("27,915" in hit.content for hit in rows.passages)
        dear = await _call(context, "query_table", where="Monthly price > 40", document_id=plans)
        assert "Forest" in _text(dear) and "Sprout" not in _text(dear)
        for where, fits in (("Plan != Forest", False), ("Plan == Forest", True)):
            listed = _text(await _call(context, "query_table", where=where, document_id=plans))
            assert ("Forest" in listed, "Sprout" in listed) == (fits, not fits)
        with pytest.raises(ToolFailure, match="names no column"):
            await _call(context, "query_table", where="% > 40", document_id=plans)

        now = _text(await _call(context, "current_time"))
        assert "Monday" in now and "2026-03-02" in now
        assert "01:30" in now and "Pacific/Auckland (UTC+1300)" in now


async def test_the_calculator_binds_each_number_to_its_cell(settings: Settings) -> None:
    async with _context(settings) as (_, context):
        await _call(context, "query_table", rows="gross profit")
        made = await _call(
            context, "calculator", expression="(44,824 - 38,690) / 38,690", as_percent=True,
            operands=[
                {"number": "44,824", "row": "Gross profit", "column": "2025"},
                {"number": "38,690", "row": "Gross profit", "column": "2024"},
            ],
        )  # fmt: skip
        (calculation,) = made.calculations
        assert (calculation.said, calculation.holds()) == ("15.85%", True)
        assert [one.quote for one in calculation.operands if one] == ["44,824", "38,690", "38,690"]
        # 38,690 is the cost of sales of 2024 too
        with pytest.raises(ToolFailure, match="38,690 stands in several places"):
            await _call(context, "calculator", expression="44,824 - 38,690")
        free = await _call(context, "calculator", expression="2 + 2 * 3")
        assert free.calculations == () and _text(free) == "2 + 2 × 3 = 8"
        with pytest.raises(ToolFailure, match="only numbers"):
            await _call(context, "calculator", expression="open('/etc/passwd')")


async def test_no_argument_widens_the_scope(settings: Settings) -> None:
    async with _context(settings) as (_, everything):
        ids = await _ids(everything)
    travel, refunds = ids["Travel Handbook"], ids["Refund Policy"]
    async with _context(settings, document_ids=(travel,)) as (_, context):
        assert set(await _ids(context)) == {"Travel Handbook"}
        found = await _call(context, "search_library", query="refunds within 30 days")
        assert {hit.document_id for hit in found.passages} <= {travel}
        for name, arguments in (
            ("search_library", {"query": "refunds", "document_id": refunds}),
            ("read_document", {"document_id": refunds}),
            ("outline", {"document_id": refunds}),
            ("analyze_document", {"document_id": refunds}),
            ("query_table", {"rows": "refunds", "document_id": refunds}),
            ("compare_documents", {"question": "refunds", "document_ids": [travel, refunds]}),
        ):
            with pytest.raises(ToolFailure, match=f"no document {refunds}"):
                await _call(context, name, **arguments)
        other = replace(context, scope=Scope("somebody-else"))
        assert "no such documents" in _text(await _call(other, "list_documents"))
        with pytest.raises(ToolFailure, match="no document"):
            await _call(other, "read_document", document_id=travel)
        assert (await _call(other, "search_library", query="refunds")).passages == []
        assert (await _call(other, "query_table", rows="revenue")).passages == []


def test_no_tool_takes_a_tenant_or_a_scope() -> None:
    for tool in TOOLS:
        fields = set(tool.arguments.model_fields)
        assert fields.isdisjoint({"tenant", "scope", "tags", "time_zone"}), tool.name
        assert "url" not in fields or tool.name == "fetch_page"


@pytest.mark.parametrize(
    ("text", "value", "scale", "right"),
    [
        ("Other: 44.1 (2019) - 56.7 (2018) = -12.6 million [1]", "-12.6", "million", True),
        ("Other: 44.1 (2019) - 56.7 (2018) = 12.6 million [1]", "-12.6", "million", False),
        ("Other: 44.1 / 56.7 = 77.78% [1]", "0.78", "", True),
        ("Other: 44.1 / 56.7 = 77.78% [1]", "77.78", "percent", True),
        ("Sales fell by 12.6 million [1].", "-12.6", "million", True),
        ("Sales fell by 12.6 thousand [1].", "-12.6", "million", False),
    ],
)
def test_an_answer_is_right_by_its_result(text: str, value: str, scale: str, right: bool) -> None:
    class _Answer:
        abstained = False

    answer: Any = _Answer()
    answer.text = text
    assert states_number(answer, Expected(Decimal(value), scale)) is right
