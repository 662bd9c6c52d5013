"""Gathering by a model that is held to a schema: one call a turn, as JSON."""

from __future__ import annotations

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from evals.agent.answers import ask
from evals.agent.cases import SUITE
from evals.database import ingest
from helix.agent.schema_driver import HELD, call_of, calls_schema
from helix.agent.tools import TOOLS
from helix.answering.answer import Answer
from helix.domain.scope import Scope
from helix.services import open_services
from helix.settings import Settings, load_settings
from tests.support.live_server import OFFLINE
from tests.support.scripted_server import Reply, scripted
from tests.support.wire import openai

SCHEMA = calls_schema([tool for tool in TOOLS if tool.name in HELD])
SEARCH = json.dumps({"tool": "search_library", "query": "refunds within days of purchase"})
SUM = json.dumps({"tool": "calculator", "expression": "0.15 * 2340"})
DONE = json.dumps({"tool": "done"})


@pytest.mark.parametrize(
    "reply",
    [
        SEARCH, SUM, DONE, '{"tool": "current_time"}', '{"tool": "list_documents"}',
        '{"tool": "compare_documents", "question": "How long?", "document_ids": [1, 2]}',
    ],
)  # fmt: skip
def test_the_schema_takes_each_call(reply: str) -> None:
    assert list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(json.loads(reply))) == []


@pytest.mark.parametrize(
    "reply",
    [
        "{}", '{"tool": "drop_tables"}', '{"tool": "search_library"}', '{"tool": "done", "x": 1}',
        '{"tool": "calculator", "expression": ""}',
        json.dumps({"tool": "search_library", "query": "x" * 301}),
        json.dumps({"tool": "compare_documents", "question": "?", "document_ids": [1] * 9}),
    ],
)  # fmt: skip
def test_the_schema_takes_nothing_else_and_nothing_without_an_end(reply: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(reply), SCHEMA)


def test_what_is_no_call_ends_the_gathering() -> None:
    assert call_of(SEARCH) == ("search_library", {"query": "refunds within days of purchase"})
    assert [call_of(text) for text in (DONE, "", "[]", "{", '{"tool": 3}')] == [None] * 5


@pytest.fixture(scope="module")
def settings(module_database_url: str) -> Settings:
    """A database that has the samples, by the offline embedder."""
    made = load_settings(database_url=module_database_url, **{**OFFLINE, "workers": 0})
    ingest(made, SUITE)
    return made


async def answered(
    settings: Settings, question: str, *replies: Reply
) -> tuple[Answer, list[dict[str, Any]]]:
    """The answer of a model behind a server that says ``replies``, and what it was sent."""
    with scripted(*replies) as service:
        given = {
            **OFFLINE, "workers": 0, "llm": "server:small", "model_server": f"{service.url}/v1",
            "model_context": 8192,
        }  # fmt: skip
        made = load_settings(database_url=settings.database_url, **given)
        async with open_services(made) as services:
            answer = await ask(services, question, Scope(SUITE.tenant), "agent")
        return answer, [json.loads(body) for body in service.bodies]


def calls_of(answer: Answer) -> list[str]:
    gathered = answer.retrieval.gathered
    return [call.name for call in gathered.calls] if gathered else []


async def test_calls_are_made_one_a_turn_and_their_results_told(settings: Settings) -> None:
    question = "How many days do I have to return a purchase, and what is 15% of 2,340?"
    said = "15% of 2,340 is 351 [8]."
    turns = [openai.saying(text) for text in (SEARCH, SUM, DONE, said)]
    answer, sent = await answered(settings, question, *turns)
    assert calls_of(answer) == ["search_library", "calculator"]
    assert all(one["response_format"]["type"] == "json_schema" for one in sent[:3])
    assert all("tools" not in one for one in sent)
    first, *_, last = sent[2]["messages"]
    assert '{"tool": "calculator", "expression": "…"}' in first["content"]
    assert last["content"].startswith("The call returned:\n[") and "= 351" in last["content"]
    assert [cited["kind"] for cited in answer.citations] == ["calculation"]


async def test_a_model_that_repeats_itself_is_not_asked_again(settings: Settings) -> None:
    replies = [openai.saying(text) for text in (SUM, SUM, "15% of 2,340 is 351 [1].")]
    answer, sent = await answered(settings, "What is 15% of 2,340?", *replies)
    assert (calls_of(answer), len(sent)) == (["calculator"], 3)
    assert answer.proof.statements[0].problem is None


async def test_a_model_that_calls_nothing_is_given_the_passages_of_one_search(
    settings: Settings,
) -> None:
    replies = [openai.saying(DONE), openai.saying("Refunds are accepted within 30 days [1].")]
    answer, _ = await answered(settings, "How many days do I have to return a purchase?", *replies)
    assert calls_of(answer) == ["search_library"] and answer.citations


async def test_a_question_is_searched_itself_before_the_passages_of_other_calls_are_refused(
    settings: Settings,
) -> None:
    calls = [
        {"tool": "list_documents"}, {"tool": "search_library", "query": "the capital of Mongolia"}
    ]  # fmt: skip
    said = "Refunds are accepted within 30 days [1]."
    replies = [openai.saying(text) for text in (*map(json.dumps, calls), DONE, said)]
    answer, _ = await answered(settings, "How many days do I have to return a purchase?", *replies)
    assert calls_of(answer) == ["list_documents", *["search_library"] * 2] and answer.citations


async def test_a_server_without_schemas_is_offered_tools(settings: Settings) -> None:
    refusal = Reply(b'{"error": {"message": "response_format is not supported"}}', status=400)
    call = openai.calling(("calculator", {"expression": "0.15 * 2340"}))
    replies = (refusal, call, openai.saying("DONE"), openai.saying("15% of 2,340 is 351 [1]."))
    answer, sent = await answered(settings, "What is 15% of 2,340?", *replies)
    assert calls_of(answer) == ["calculator"]
    assert "tools" in sent[1] and "response_format" not in sent[1]


async def test_a_call_that_is_written_as_text_is_made(settings: Settings) -> None:
    refusal = Reply(b'{"error": {"message": "response_format is not supported"}}', status=400)
    text = json.dumps({"name": "calculator", "arguments": {"expression": "15% of 2,340"}})
    replies = (
        refusal, openai.saying(text), openai.saying("DONE"),
        openai.saying("15% of 2,340 is 351 [1]."),
    )  # fmt: skip
    answer, sent = await answered(settings, "What is 15% of 2,340?", *replies)
    assert calls_of(answer) == ["calculator"] and answer.proof.statements[0].problem is None
    call, result = sent[2]["messages"][-2:]
    assert call["tool_calls"][0]["function"]["name"] == "calculator"
    assert result["role"] == "tool" and result["tool_call_id"] == call["tool_calls"][0]["id"]


async def test_a_server_that_knows_neither_answers_from_one_search(settings: Settings) -> None:
    refusal = Reply(b'{"error": {"message": "tools are not supported"}}', status=400)
    replies = (refusal, refusal, openai.saying("Refunds are accepted within 30 days [1]."))
    question = "How many days do I have to return a purchase?"
    answer, _ = await answered(settings, question, *replies)
    assert calls_of(answer) == ["search_library"] and answer.citations
