"""The cases for the agent of a real model: what counts as called, right, cited and borne out."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from evals.agent.answers import ask
from evals.agent.cases import SUITE
from evals.agent.model_cases import MEASURES, held, load_model_cases, model_outcomes, table
from evals.database import ingest
from helix.agent.tools import TOOLS
from helix.domain.scope import Scope
from helix.services import open_services
from helix.settings import Settings, load_settings
from tests.support.live_server import OFFLINE
from tests.support.wire.gemini import gemini_wire
from tests.support.wire.gemini_replies import Answer as Said
from tests.support.wire.gemini_replies import call_part, calling

CASES = {case.id: case for case in load_model_cases()}


def test_each_case_asks_for_a_tool_and_has_an_answer() -> None:
    names = {tool.name for tool in TOOLS}
    assert len(CASES) == 12 and all(case.tool in names for case in CASES.values())
    assert all(bool(case.says) != case.refused for case in CASES.values())


async def _settings(url: str) -> Settings:
    return load_settings(database_url=url, **{**OFFLINE, "workers": 0})


async def test_answers_are_judged_by_what_they_call_say_cite_and_prove(
    module_durable_database_url: str,
) -> None:
    await asyncio.to_thread(ingest, await _settings(module_durable_database_url), SUITE)
    given = {**OFFLINE, "workers": 0, "llm": "gemini", "gemini_api_key": "wire-test-key"}
    made = load_settings(database_url=module_durable_database_url, **given)
    done, scope = Said(deltas=("DONE",)), Scope(SUITE.tenant)
    with gemini_wire() as wire:
        async with open_services(made) as services:
            call = calling(call_part("calculator", {"expression": "15% * 2340"}))
            wire.script(call, done, Said(deltas=("15% of 2,340 is 351 [1].",)), on="generate")
            right = await ask(services, CASES["percent"].question, scope, "agent")
            assert held(CASES["percent"], right) == set(MEASURES)
            other = replace(CASES["percent"], says=("352",), tool="current_time")
            assert held(other, right) == {"cited", "borne out"}
            assert held(replace(other, sources=1), right) == {"borne out"}
            assert held(replace(other, refused=True), right) == set()
            longer = replace(CASES["percent"], says=("51", "35"))
            assert "right" not in held(longer, right), "a part of a number is another number"
            clock = calling(call_part("current_time", {}))
            wire.script(clock, done, Said(deltas=("It is 99:99 [1].",)), on="generate")
            (wrong,) = [one async for one in model_outcomes(services, [CASES["time"]])]
            assert wrong.held == {"called", "cited"} and "99:99" in wrong.line
            wire.script(clock, done, Said(deltas=(f"Today is {datetime.now(UTC):%A} [1].",)))
            day = await ask(services, CASES["day"].question, scope, "agent")
            assert "right" in held(CASES["day"], day)
            later = datetime.now(UTC) + timedelta(days=2)
            assert "right" not in held(CASES["day"], day, later)
    assert table([wrong]) == [
        "| agent: called | 1 of 1 |", "| agent: right | 0 of 1 |",
        "| agent: cited | 1 of 1 |", "| agent: borne out | 0 of 1 |",
    ]  # fmt: skip


async def test_a_refusal_that_is_due_is_right(module_durable_database_url: str) -> None:
    async with open_services(await _settings(module_durable_database_url)) as services:
        (one,) = [each async for each in model_outcomes(services, [CASES["not there"]])]
    assert one.held == set(MEASURES)
