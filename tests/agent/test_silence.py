"""A database, embedding service or model that falls silent: bounded, and nothing is guessed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import psycopg
import pytest

from helix.agent.agent import Agent
from helix.agent.gathering import Bounds
from helix.answering.answer import Answer
from helix.answering.pipeline import AnswerRequest
from helix.answering.question import Question
from helix.domain.contract import REFUSAL
from helix.domain.scope import Scope
from helix.errors import UpstreamError
from helix.services import Services, open_services
from helix.settings import load_settings
from helix.storage import connections
from tests.agent.test_faults import broken_at
from tests.agent.test_stream import ENOUGH, SAID, named, searching, text_of, told
from tests.support.busy_machine import bound
from tests.support.query_service import post
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer as Said
from tests.support.wire.gemini_replies import Hang, Vectors

LIMITED = Bounds(seconds=min(bound(2.0), 15.0))
"""Bounds within which a search ends, also on a busy machine, and a silent model is waited out."""
KNOWN, UNKNOWN = "request a refund within days of purchase", "chess tournament of Reykjavik"


def lock(connection: psycopg.Connection) -> None:
    """No search returns until the connection is closed; of two tables a query might hold one."""
    connection.execute("BEGIN")
    connection.execute("LOCK TABLE documents IN ACCESS EXCLUSIVE MODE")


@pytest.mark.parametrize("turn", [1, 2, 3, 4])
def test_a_database_that_falls_silent_at_any_step_is_an_error_and_no_refusal(
    client: httpx.Client, wire: GeminiWire, module_database_url: str,
    monkeypatch: pytest.MonkeyPatch, turn: int,
) -> None:  # fmt: skip
    monkeypatch.setattr(connections, "READ_SECONDS", 1.0)
    turns = (searching(f"{KNOWN} silent"), searching(f"standard parcels silent {turn}"), ENOUGH)
    with broken_at(wire, monkeypatch, module_database_url, turn, lock):
        events = told(client, wire, *turns, SAID)
    names = [name for name, _ in events]
    assert names[-1] == "error" and list(events[-1][1]) == ["error"]
    assert "citations" not in names and text_of(events) != REFUSAL
    failed = [each["failure"] for each in named(events, "tool") if each.get("failure")]
    assert set(failed) <= {"The database does not answer."} and (turn > 2 or failed)
    assert post(client).status_code == 200


@pytest.fixture
async def services(
    wire: GeminiWire, stored: dict[str, int], module_database_url: str
) -> AsyncIterator[Services]:
    assert stored and wire
    settings = load_settings(
        database_url=module_database_url, llm="gemini", embedder="gemini", workers=0,
        gemini_api_key="wire-test-key", retrieval_max_distance=0.8,
    )  # fmt: skip
    async with open_services(settings) as opened:
        yield opened
    wire._script.clear()


async def answered(services: Services, question: str, bounds: Bounds) -> Answer:
    """The answer of the application's agent within other bounds."""
    agent = services.answering.agent
    assert isinstance(agent, Agent)
    asked = Question(question, Scope(), mode="agent")
    gatherer = replace(agent, bounds=bounds)
    request = AnswerRequest(services.answering, asked, recorded=False, gatherer=gatherer)
    return await request.run()


@pytest.mark.parametrize("served", [0, 1])
async def test_an_embedding_service_that_hangs_costs_its_call_and_no_other(
    services: Services, wire: GeminiWire, served: int
) -> None:
    wire.script(*[Vectors()] * served, *[Hang()] * 9, on="embed")
    mark = f"hang {served}"
    turns = (searching(f"{KNOWN} {mark}"), searching(f"standard parcels Norway {mark}"), ENOUGH)
    wire.script(*turns, SAID, on="generate")
    bounds = Bounds(tool_seconds=min(bound(1.0), 10.0))
    if not served:
        with pytest.raises(UpstreamError):
            await answered(services, f"How long do refunds take? {mark}", bounds)
        return
    answer = await answered(services, f"How long do refunds take? {mark}", bounds)
    assert answer.text.startswith("Refunds take 30 days [1]") and answer.citations
    assert answer.retrieval.gathered
    failures = [call.failure for call in answer.retrieval.gathered.calls]
    assert failures == ["", f"The tool took longer than {bounds.tool_seconds:g} seconds."]


async def test_a_time_limit_with_passages_that_the_gate_refuses_is_the_refusal(
    services: Services, wire: GeminiWire
) -> None:
    wire.script(searching(UNKNOWN), Hang(), on="generate")
    answer = await answered(services, f"Who won the {UNKNOWN}?", LIMITED)
    assert answer.text == REFUSAL and answer.reason == "below_gate" and not answer.citations
    assert answer.retrieval.gathered and answer.retrieval.gathered.ended == "seconds"


@pytest.mark.parametrize("turns", [(), (searching(KNOWN),)], ids=["no call", "after a search"])
async def test_a_time_limit_is_an_answer_from_what_there_is(
    services: Services, wire: GeminiWire, turns: tuple[Said, ...]
) -> None:
    wire.script(*turns, Hang(), SAID, on="generate")
    answer = await answered(services, f"How may one {KNOWN}?", LIMITED)
    assert answer.text.startswith("Refunds take 30 days [1]") and answer.citations
    assert answer.retrieval.gathered and answer.retrieval.gathered.ended == "seconds"
