"""Answers in blocks over the wire of each vendor: GET /ask to the byte, cuts, refusals."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from llama_index.core.llms import MockLLM

from helix.answering.form import FORM_RULES, FormChoice, answer_schema
from helix.answering.form.schema import BROKEN_SECONDS
from helix.domain.contract import GROUNDING_RULES, REFUSAL
from helix.providers.base import LanguageModel
from helix.providers.retries import INTERACTIVE
from tests.serving.test_sse import cut, parse_stream
from tests.support.live_server import live
from tests.support.query_service import QUESTION, asked, events_of, post
from tests.support.scripted_server import Reply, ScriptedServer, scripted
from tests.support.wire import ollama, openai
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer

BLOCKS = {
    "blocks": [
        {
            "kind": "paragraph",
            "text": "Refunds take 30 days. Süß ☃ 😀",
            "sources": [1],
        },
        {"kind": "list item", "text": "Gift cards cannot be returned [9].", "sources": [7, 2]},
    ]
}
SAID = "Refunds take 30 days. [1] Süß ☃ 😀 [1]\n\n- Gift cards cannot be returned. [2]"
TEXT = json.dumps(BLOCKS)
KEYS = ["n", "chunk_id", "document_title", "snippet"]
PLAIN = "Refunds are accepted within 30 days [1]."
MODELS = ["gemini", "openai:gpt-4o", "ollama:llama3.1", "server:tiny"]


@dataclass(frozen=True)
class Model:
    """A served application with a model at a wire.

    ``say`` gives the wire its next answer; ``sent`` are the bodies that it got; ``schema`` finds
    the JSON schema in one of them, and ``rules`` the system's message.
    """

    client: httpx.Client
    say: Callable[[str, bool], None]
    sent: Callable[[], list[dict[str, Any]]]
    schema: Callable[[dict[str, Any]], Any]
    rules: Callable[[dict[str, Any]], str]

    def ask(self, text: str, *, ends: bool = True) -> bytes:
        """The whole stream of GET /ask whose model answers ``text``."""
        self.say(text, ends)
        response = self.client.get("/ask", params={"q": QUESTION})
        assert response.status_code == 200, response.text
        return response.content


def _gemini(stack: ExitStack, url: str, wire: GeminiWire, form: str) -> Model:
    client = stack.enter_context(live(
        url, llm="gemini", embedder="gemini", gemini_api_key="wire-test-key",
        retrieval_max_distance=0.8, answer_form=form,
    ))  # fmt: skip

    def say(text: str, ends: bool) -> None:
        deltas = tuple(filter(None, cut(text, random.Random(len(text)))))
        wire.script(Answer(deltas=deltas, finish="STOP" if ends else None), on="generate")

    return Model(
        client, say, lambda: [one.body for one in wire.received("generate")],
        lambda body: body["generationConfig"]["responseJsonSchema"],
        lambda body: body["systemInstruction"]["parts"][0]["text"],
    )  # fmt: skip


def _at_a_server(
    stack: ExitStack, url: str, service: ScriptedServer, says: Any, llm: str, form: str,
    schema: Callable[[dict[str, Any]], Any],
) -> Model:  # fmt: skip
    patch = stack.enter_context(pytest.MonkeyPatch.context())
    patch.setenv("OPENAI_API_KEY", "sk-not-a-real-key")
    patch.setenv("OPENAI_BASE_URL", f"{service.url}/v1")
    patch.setenv("OPENAI_API_BASE", f"{service.url}/v1")
    patch.setenv("OLLAMA_HOST", service.url)
    named = {"model_server": f"{service.url}/v1", "model_context": 8192} if "server" in llm else {}
    client = stack.enter_context(live(
        url, llm=llm, embedder="gemini", gemini_api_key="wire-test-key",
        retrieval_max_distance=0.8, answer_form=form, **named,
    ))  # fmt: skip

    def say(text: str, ends: bool) -> None:
        service.asked.clear()
        service.bodies.clear()
        service.replies = [says.saying(text) if ends else says.saying(text, "length")]

    return Model(
        client, say, lambda: [json.loads(body) for body in service.bodies], schema,
        lambda body: body["messages"][0]["content"],
    )  # fmt: skip


def _named(body: dict[str, Any]) -> Any:
    form = body["response_format"]
    assert form["type"] == "json_schema" and form["json_schema"]["strict"] is True
    return form["json_schema"]["schema"]


@pytest.fixture(scope="module", params=MODELS)
def model(
    request: pytest.FixtureRequest, wire: GeminiWire, stored: dict[str, int],
    module_database_url: str,
) -> Iterator[Model]:  # fmt: skip
    with ExitStack() as stack:
        if request.param == "gemini":
            yield _gemini(stack, module_database_url, wire, "schema")
            return
        service = stack.enter_context(scripted())
        is_ollama = request.param.startswith("ollama")
        says, schema = (ollama, lambda body: body["format"]) if is_ollama else (openai, _named)
        yield _at_a_server(
            stack, module_database_url, service, says, request.param, "schema", schema
        )


def test_ask_is_the_contracts_to_the_byte(model: Model) -> None:
    text, citations = parse_stream(model.ask(TEXT))
    assert text == SAID
    assert [list(each) for each in citations] == [KEYS, KEYS]
    assert [each["n"] for each in citations] == [1, 2]


def test_the_refusal_is_the_contracts_to_the_byte(model: Model) -> None:
    wanted = f'data: {{"t":"{REFUSAL}"}}\n\nevent: citations\ndata: []\n\n'.encode()
    assert model.ask('{"blocks": []}') == wanted
    block = {"kind": "paragraph", "text": REFUSAL, "sources": [1]}
    assert model.ask(json.dumps({"blocks": [block]})) == wanted


def test_the_model_is_held_to_the_schema_and_told_of_it_behind_the_rules(model: Model) -> None:
    model.ask(TEXT)
    body = model.sent()[-1]
    schema = model.schema(body)
    numbers = schema["properties"]["blocks"]["items"]["properties"]["sources"]["items"]["enum"]
    assert schema == answer_schema(len(numbers))
    assert model.rules(body) == f"{GROUNDING_RULES}\n{FORM_RULES}"


@pytest.mark.parametrize("cut_at", [60, 100, len(TEXT) - 1])
def test_json_that_ends_early_is_a_cut_answer(model: Model, cut_at: int) -> None:
    assert b"event: citations" not in model.ask(TEXT[:cut_at])
    assert b"event: citations" not in model.ask(TEXT[:cut_at], ends=False)
    model.say(TEXT[:cut_at], True)
    *_, (last, error) = events_of(post(model.client, stream=True).content)
    assert last == "error" and "before it was finished" in error["error"]


def test_what_is_no_answer_at_all_is_a_failure_before_the_first_token(model: Model) -> None:
    model.say('{"blocks": [', True)
    assert model.client.get("/ask", params={"q": QUESTION}).status_code == 503


def test_its_statements_are_proven_and_cited(model: Model) -> None:
    model.say(TEXT, True)
    answer = asked(model.client)
    assert [one["numbers"] for one in answer["support"]["statements"]] == [[1], [1], [2]]
    assert answer["answer"] == SAID and [one["n"] for one in answer["citations"]] == [1, 2]


def test_a_server_that_knows_no_schema_answers_as_it_does(model: Model) -> None:
    text, citations = parse_stream(model.ask(PLAIN))
    assert (text, [each["n"] for each in citations]) == (PLAIN, [1])


REFUSED = Reply(b'{"error": {"message": "response_format is not supported"}}', 400)


@pytest.mark.parametrize("reply", [REFUSED, openai.saying('{"blocks": [oops]}')])
def test_a_server_that_knows_no_schema_is_asked_for_text(
    reply: Reply, wire: GeminiWire, stored: dict[str, int], module_database_url: str
) -> None:
    with ExitStack() as stack:
        service = stack.enter_context(scripted())
        model = _at_a_server(
            stack, module_database_url, service, openai, "server:old", "auto", _named
        )
        service.replies = [reply, openai.saying(PLAIN)]
        for requests in (2, 3):  # it is not asked for blocks again
            content = model.client.get("/ask", params={"q": QUESTION}).content
            assert parse_stream(content)[0] == PLAIN
            assert len(service.bodies) == requests
        formed = [b"response_format" in body for body in service.bodies]
        assert formed == [True, False, False]
        assert model.rules(model.sent()[-1]) == GROUNDING_RULES


def test_a_server_that_breaks_over_a_schema_is_asked_for_text(
    wire: GeminiWire, stored: dict[str, int], module_database_url: str,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    broken = Reply(b'{"error": {"message": "no grammar"}}', 500)
    blocks = openai.saying(TEXT)
    with ExitStack() as stack:
        service = stack.enter_context(scripted())
        model = _at_a_server(
            stack, module_database_url, service, openai, "server:odd", "auto", _named
        )
        service.replies = [
            *[broken] * INTERACTIVE.attempts, openai.saying(PLAIN),
            blocks,  # it was broken for a moment
            *([*[broken] * INTERACTIVE.attempts, openai.saying(PLAIN)] * 2),
        ]  # fmt: skip
        said = [PLAIN, SAID, PLAIN, PLAIN, PLAIN]
        for text in said:
            content = model.client.get("/ask", params={"q": QUESTION}).content
            assert parse_stream(content)[0] == text
        assert b"response_format" not in service.bodies[-1]
        assert caplog.text.count("does not answer by a schema") == 1


def test_a_server_that_was_broken_for_a_moment_is_asked_by_a_schema_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr("helix.answering.form.schema.monotonic", lambda: now[0])
    by_schema: dict[str, Any] = {"by": "schema"}
    llm, other = (
        LanguageModel(MockLLM(), name, schema_options=lambda _: by_schema, prefers_schema=True)
        for name in ("server:odd", "server:other")
    )
    form = FormChoice()
    for now[0], sent in ((5.0, 1.0), (6.0, 2.0), (7.0, 4.0)):  # questions of one outage
        form.broke(llm, sent)
        assert form.schema_options(llm, 1) == by_schema
    now[0] = 20.0
    form.broke(llm, 10.0)
    assert form.schema_options(llm, 1) is None
    assert form.schema_options(other, 1) == by_schema
    now[0] += BROKEN_SECONDS
    assert form.schema_options(llm, 1) == by_schema
    form.broke(llm, now[0])
    assert form.schema_options(llm, 1) is None
    now[0] += BROKEN_SECONDS
    form.held(llm)
    form.broke(llm, now[0] - 1)
    assert form.schema_options(llm, 1) == by_schema


def test_a_server_that_refuses_everything_is_asked_twice_and_no_more(
    wire: GeminiWire, stored: dict[str, int], module_database_url: str
) -> None:
    with ExitStack() as stack:
        service = stack.enter_context(scripted(Reply(b'{"error": {"message": "no"}}', 400)))
        model = _at_a_server(
            stack, module_database_url, service, openai, "server:old", "auto", _named
        )
        for _ in range(2):  # what was refused may have been the question
            service.bodies.clear()
            assert model.client.get("/ask", params={"q": QUESTION}).status_code == 503
            assert [b"response_format" in body for body in service.bodies] == [True, False]


def test_text_is_asked_for_as_ever(
    wire: GeminiWire, stored: dict[str, int], module_database_url: str
) -> None:
    with ExitStack() as stack:
        model = _gemini(stack, module_database_url, wire, "text")
        assert parse_stream(model.ask(PLAIN))[0] == PLAIN
        body = model.sent()[-1]
        assert model.rules(body) == GROUNDING_RULES
        assert "responseJsonSchema" not in body["generationConfig"]
