"""The tool cases over samples/ by models at the wire, which make the calls that the plan makes."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from evals.agent.answers import ask, faults
from evals.agent.cases import SUITE, ToolCase, load_tool_cases
from evals.database import ingest
from helix.answering.answer import Answer
from helix.domain.contract import REFUSAL
from helix.domain.scope import Scope
from helix.errors import UpstreamError
from helix.services import Services, open_services
from helix.settings import Settings, load_settings
from tests.support.live_server import OFFLINE
from tests.support.scripted_server import Reply, scripted
from tests.support.web_site import page, serving
from tests.support.wire import openai
from tests.support.wire.gemini import GeminiWire, gemini_wire
from tests.support.wire.gemini_replies import Answer as Said
from tests.support.wire.gemini_replies import call_part, calling

SCOPE = Scope(SUITE.tenant)
CASES = {case.id: case for case in load_tool_cases()}
DONE = Said(deltas=("DONE",))
Turn = list[tuple[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def settings(module_durable_database_url: str) -> Settings:
    """A database that has the samples, by the offline embedder."""
    made = load_settings(database_url=module_durable_database_url, **{**OFFLINE, "workers": 0})
    ingest(made, SUITE)
    return made


@pytest.fixture
def wire() -> Iterator[GeminiWire]:
    with gemini_wire() as wire:
        yield wire


@asynccontextmanager
async def by_gemini(settings: Settings, **values: object) -> AsyncIterator[Services]:
    """The application whose model is Gemini at the wire."""
    given = {**OFFLINE, "workers": 0, "llm": "gemini", "gemini_api_key": "wire-test-key", **values}
    async with open_services(load_settings(database_url=settings.database_url, **given)) as opened:
        yield opened


def turns_of(answer: Answer) -> list[Turn]:
    """The calls of an answer; those of one tool in a row are one turn."""
    calls = answer.retrieval.gathered.calls if answer.retrieval.gathered else ()
    grouped = itertools.groupby(calls, key=lambda call: call.name)
    return [[(call.name, call.arguments) for call in group] for _, group in grouped]


def what_it_is(answer: Answer) -> tuple[Any, ...]:
    """The text, citations and proof of an answer, and the passages that each call brought."""
    calls = answer.retrieval.gathered.calls if answer.retrieval.gathered else ()
    cited = [(each["n"], each["chunk_id"], each["quote"]) for each in answer.citations]
    proved = [(one.problem, bool(one.calculation)) for one in answer.proof.statements]
    brought = [(call.name, call.numbers, call.chunk_ids, call.failure) for call in calls]
    return answer.text, answer.abstained, cited, proved, brought


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.soak)])
async def test_each_case_is_the_same_by_a_model_that_makes_the_same_calls(
    settings: Settings, wire: GeminiWire, every: int
) -> None:
    async with open_services(settings) as offline, by_gemini(settings) as services:
        for case in [*CASES.values()][::every]:
            planned = await ask(offline, case.question, SCOPE, "agent")
            turns = [calling(*(call_part(*call) for call in turn)) for turn in turns_of(planned)]
            wire.script(*turns, DONE, Said(deltas=(planned.text,)), on="generate")
            answer = await ask(services, case.question, SCOPE, "agent")
            wire._script.clear()  # a refusal is not asked for
            assert what_it_is(answer) == what_it_is(planned), case.id
            assert list(faults(answer)) == [], case.id


@pytest.mark.parametrize("known", [True, False], ids=["the library says it too", "the page alone"])
async def test_a_page_that_the_user_names_helps_to_search_and_is_never_cited(
    settings: Settings, wire: GeminiWire, known: bool
) -> None:
    text = "Refunds are accepted within 30 days." if known else "The moon of Zed is made of brass."
    async with serving({"/rules": page("Rules", text)}) as site:
        question = f"Is it true what {site.url('/rules')} says: {text}"
        turns = [
            calling(call_part("fetch_page", {"url": site.url("/rules")})),
            calling(call_part("search_library", {"query": text})), DONE,
        ]  # fmt: skip
        said = Said(deltas=("Yes [1]. The page says so too [9].",))
        wire.script(*turns, said, on="generate")
        # the offline embedder hashes the site's port, too: by chance near to some passage
        given = {"agent_fetch": True, "allow_hosts": (site.host,), "retrieval_max_distance": 0.65}
        async with by_gemini(settings, **given) as services:
            answer = await ask(services, question, SCOPE, "agent")
    assert answer.retrieval.gathered
    fetched, searched, *itself = answer.retrieval.gathered.calls
    assert [one.arguments["query"] for one in itself] == ([] if known else [question])
    assert (fetched.failure, fetched.chunk_ids) == ("", ()) and site.paths == ["/rules"]
    assert list(faults(answer)) == []
    if known:
        assert not answer.abstained and searched.chunk_ids
        assert {each["n"] for each in answer.citations} == {1} and "[9]" not in answer.text
    else:
        assert answer.text == REFUSAL and answer.citations == []


async def by_openai(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, case: ToolCase, *replies: Reply
) -> tuple[Answer, list[bytes]]:
    """The answer of a model at OpenAI's wire, and the bodies that it was sent."""
    with scripted(*replies) as service:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-real-key")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{service.url}/v1")
        monkeypatch.setenv("OPENAI_API_BASE", f"{service.url}/v1")
        given = {**OFFLINE, "workers": 0, "llm": "openai:gpt-4o"}
        made = load_settings(database_url=settings.database_url, **given)
        async with open_services(made) as services:
            answer = await ask(services, case.question, SCOPE, "agent")
        return answer, service.bodies


@pytest.mark.parametrize("case", ["percent-change-revenue", "share-of-flow-sensors"])
async def test_a_model_of_openai_answers_by_the_same_loop(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    async with open_services(settings) as offline:
        planned = await ask(offline, CASES[case].question, SCOPE, "agent")
    turns = [openai.calling(*turn) for turn in turns_of(planned)]
    replies = [*turns, openai.saying("DONE"), openai.saying(planned.text)]
    answer, bodies = await by_openai(settings, monkeypatch, CASES[case], *replies)
    assert what_it_is(answer) == what_it_is(planned)
    assert [b'"tools"' in body for body in bodies] == [True] * (len(turns) + 1) + [False]
    assert bodies[1].count(b'"role":"tool"') == len(turns_of(planned)[0])


SEARCH = openai.calling(("search_library", {"query": "flow sensors revenue"}))
SHARE = "Flow sensors had revenue [1]."
BROKEN: dict[str, tuple[Reply, ...]] = {
    "cut while it calls": (openai.saying("I loo", cut=True),),
    "cut at its length": (openai.saying("I look", finish="length"),),
    "blocked": (openai.saying("I", finish="content_filter"),),
    "cut behind a search": (SEARCH, openai.saying("DO", cut=True)),
    "arguments that are no JSON": (
        openai.calling(("search_library", '{"query": "flow')), SEARCH, openai.saying("DONE"),
    ),
    "an unknown tool": (openai.calling(("drop_tables", {})), SEARCH, openai.saying("DONE")),
}  # fmt: skip


@pytest.mark.parametrize("replies", BROKEN.values(), ids=BROKEN)
async def test_what_fails_at_openais_wire_costs_no_answer(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, replies: tuple[Reply, ...]
) -> None:
    case = CASES["share-of-flow-sensors"]
    answer, _ = await by_openai(settings, monkeypatch, case, *replies, openai.saying(SHARE))
    assert answer.text == SHARE and answer.citations
    assert answer.retrieval.gathered and answer.retrieval.gathered.calls
    assert list(faults(answer)) == []


@pytest.mark.parametrize("finish", ["length", "content_filter", ""], ids=str)
async def test_an_answer_that_openai_does_not_end_is_an_error(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, finish: str
) -> None:
    broken = openai.saying("Flow sensors had", finish, cut=not finish)
    replies = (SEARCH, openai.saying("DONE"), broken)
    with pytest.raises(UpstreamError):
        await by_openai(settings, monkeypatch, CASES["share-of-flow-sensors"], *replies)
