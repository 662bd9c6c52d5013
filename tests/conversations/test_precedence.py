"""Attachments of a conversation: read alone where they answer, else beside the library."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from helix.answering.answer import Answer
from helix.conversations.attachments import space_of
from helix.domain.contract import REFUSAL
from helix.domain.history import History
from helix.domain.scope import Scope
from helix.services import Services
from tests.support.fake_embedder import record
from tests.support.receipt_corpus import ask, bring_in, services
from tests.support.scripted_model import saying

PLAN = (
    "# Marketing plan\n\nThe budget is 2.4 million dollars for the year. The budget covers print,"
    " radio and fairs.\n\nThe launch of the campaign is in May."
)
MINUTES = "# Works council\n\nThe meeting starts at 9:00 in the main hall. Joan takes the minutes."
AGENDA = (
    "Agenda of the steering meeting, 3 March\n\n1. Welcome (10 min)\n2. Budget: 48,000 euros for"
    " the second quarter, to be approved (20 min)\n3. Hiring of two engineers (15 min)\n\nThe"
    " meeting takes place in room 4.12 at 10:00. Maria takes the minutes."
)
SPACE = space_of("default", "c")


async def _filled(found: Services) -> None:
    await bring_in(found, record("plan.txt", PLAN, "Plan"), record("minutes.txt", MINUTES, "M"))
    await bring_in(found, record("agenda.txt", AGENDA, "Agenda"), tenant=SPACE)


@pytest.fixture
async def opened(database_url: str) -> AsyncIterator[Services]:
    async with services(database_url) as found:
        await _filled(found)
        yield found


async def _asked(found: Services, question: str) -> Answer:
    scope = Scope("default", attached=SPACE)
    return await ask(found, question, scope=scope, history=History())


def _titles(answer: Answer) -> set[str]:
    return {source.title for source in answer.retrieval.sources}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is the budget?", "48,000 euros"),
        ("Who takes the minutes?", "Maria takes the minutes."),
        ("Where is the meeting?", "room 4.12"),
    ],
)
async def test_what_is_attached_answers_alone(opened: Services, question: str, said: str) -> None:
    answer = await _asked(opened, question)
    assert said in answer.text and _titles(answer) == {"Agenda"}
    assert answer.retrieval.attached_alone and answer.retrieval.named is None
    (other,) = {citation["title"] for citation in (await ask(opened, question)).citations} or {""}
    assert other != "Agenda", "outside of the conversation it is not there"


@pytest.mark.parametrize("question", ["When is the launch?", "What does the budget cover?"])
async def test_the_library_answers_what_is_not_attached(opened: Services, question: str) -> None:
    answer = await _asked(opened, question)
    assert [citation["title"] for citation in answer.citations] == ["Plan"]
    assert not answer.retrieval.attached_alone and "Agenda" in _titles(answer)


async def test_what_is_attached_passes_the_gate_by_its_evidence(database_url: str) -> None:
    async with services(database_url, retrieval_max_distance=0.05) as found:
        await _filled(found)
        answer = await _asked(found, "Who takes the minutes?")
        assert answer.text.startswith("Maria takes the minutes.")
        assert answer.retrieval.decision.by_evidence and answer.debug["gate"]["by_evidence"]
        assert (await _asked(found, "When is the launch?")).reason == "below_gate"


async def test_a_model_that_finds_nothing_in_it_is_given_the_library_too(
    database_url: str,
) -> None:
    for said, reason in ((REFUSAL, "model_refused"), ("I don't have a pen. [1]", None)):
        async with services(database_url, llm=saying(said)) as found:
            await _filled(found)
            answer = await _asked(found, "Who takes the minutes?")
            assert answer.reason == reason
            assert answer.retrieval.attached_alone == (reason is None)
            assert answer.text.strip() == said
            assert (_titles(answer) == {"Agenda"}) == (reason is None)


async def test_a_summary_is_of_what_is_attached(opened: Services) -> None:
    answer = await _asked(opened, "What is this about?")
    assert _titles(answer) == {"Agenda"} and answer.citations
    named = await _asked(opened, "Summarise the marketing plan")
    assert _titles(named) == {"Plan"}
