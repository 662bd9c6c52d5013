"""Response formats that OpenAI's clients ask for: kept by a model, or refused in words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from helix.domain.contract import REFUSAL
from tests.support.live_server import live
from tests.support.query_service import QUESTION, asked
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer

if TYPE_CHECKING:
    from openai import OpenAI

MESSAGES: Any = [{"role": "user", "content": QUESTION}]
SCHEMA = {
    "type": "object",
    "properties": {"days": {"type": "integer"}, "by": {"type": "array"}, "open": {"type": "null"}},
    "required": ["days", "by", "open"],
}
FORMAT: Any = {"type": "json_schema", "json_schema": {"name": "refund", "schema": SCHEMA}}
FILLED = json.dumps({"days": 30, "by": ["letter", "fax"], "open": None})
TOOL: Any = {"type": "function", "function": {"name": "refund", "parameters": SCHEMA}}


@pytest.fixture(scope="module")
def api(client: httpx.Client) -> Iterator[OpenAI]:
    from openai import OpenAI

    with OpenAI(base_url=f"{client.base_url}/v1", api_key="none", max_retries=0) as api:
        yield api


@pytest.mark.parametrize(
    ("keys", "param"),
    [
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"response_format": {"type": "json_schema"}}, "response_format"),
        ({"tools": [TOOL], "tool_choice": "required"}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "refund"}}},
         "tool_choice"),
        ({"functions": [TOOL["function"]], "function_call": {"name": "refund"}}, "function_call"),
    ],
)  # fmt: skip
def test_a_form_that_cannot_be_kept_is_refused_by_its_key(
    client: httpx.Client, keys: dict[str, Any], param: str
) -> None:
    for stream in (False, True):
        body = {"model": "helix", "messages": MESSAGES, "stream": stream} | keys
        response = client.post("/v1/chat/completions", json=body)
        assert response.status_code == 400, response.text
        assert response.json()["error"]["param"] == param
    keys.pop("response_format", None)
    if "tool_choice" in keys:
        told = client.post("/v1/responses", json={"model": "helix", "input": QUESTION} | keys)
        assert (told.status_code, told.json()["error"]["param"]) == (400, param)


def test_tools_that_may_be_left_alone_are(client: httpx.Client) -> None:
    for choice in ({}, {"tool_choice": "auto"}, {"tool_choice": "none"}):
        body = {"model": "helix", "messages": MESSAGES, "tools": [TOOL]} | choice
        told = client.post("/v1/chat/completions", json=body).json()
        assert told["choices"][0]["message"]["content"] == asked(client)["answer"]


def test_without_a_model_a_schema_is_refused(wire: GeminiWire, module_database_url: str) -> None:
    with live(module_database_url, embedder="gemini", gemini_api_key="wire-test-key") as offline:
        body = {"model": "helix", "messages": MESSAGES, "response_format": FORMAT}
        refused = offline.post("/v1/chat/completions", json=body)
        assert refused.status_code == 400 and "no language model" in refused.text
        body = {"model": "helix", "input": QUESTION, "text": {"format": {
            "type": "json_schema", "name": "refund", "schema": SCHEMA}}}  # fmt: skip
        refused = offline.post("/v1/responses", json=body)
        assert refused.status_code == 400
        assert refused.json()["error"]["param"] == "text.format"


def test_a_model_fills_the_form_and_its_values_have_their_spans(
    api: OpenAI, client: httpx.Client, wire: GeminiWire
) -> None:
    quoted = asked(client)
    told = []
    for stream in (False, True):
        wire.script(Answer((quoted["answer"],)), Answer((FILLED[:9], FILLED[9:])), on="generate")
        made: Any = api.chat.completions.create(
            model="helix", messages=MESSAGES, response_format=FORMAT, stream=stream
        )
        if stream:
            chunks = list(made)
            deltas = [chunk.choices[0].delta.content or "" for chunk in chunks]
            told.append(("".join(deltas), chunks[-1].model_extra["helix"]))
        else:
            told.append((made.choices[0].message.content, made.model_extra["helix"]))
    form = wire.requests[-1].body
    assert form["generationConfig"]["responseJsonSchema"] == SCHEMA
    for text, beside in told:
        assert json.loads(text) == json.loads(FILLED)
        assert beside["prose"] == quoted["answer"]
        days, letter, fax = beside["values"]
        assert (days["path"], letter["path"], fax["path"]) == ("/days", "/by/0", "/by/1")
        (span,) = days["spans"]
        document = client.get(f"/v1/documents/{span['document_id']}").json()["text"]
        assert "30" in document[span["start"] : span["end"]] == span["quote"]
        assert letter["spans"] and not fax["spans"], "no span says fax"


def test_a_response_is_filled_too_and_prose_is_a_failure(
    api: OpenAI, client: httpx.Client, wire: GeminiWire
) -> None:
    import openai

    kept: Any = {"format": {"type": "json_schema", "name": "refund", "schema": SCHEMA}}
    answer = asked(client)["answer"]
    for stream in (False, True):
        wire.script(Answer((answer,)), Answer((FILLED,)), on="generate")
        if stream:
            with api.responses.stream(model="helix", input=QUESTION, text=kept) as events:
                told: Any = events.get_final_response()
        else:
            told = api.responses.create(model="helix", input=QUESTION, text=kept)
        assert json.loads(told.output_text) == json.loads(FILLED)
        assert told.model_extra["helix"]["values"]
    wire.script(Answer((answer,)), Answer(("Thirty days.",)), on="generate")
    with pytest.raises(openai.InternalServerError, match="no JSON"):
        api.chat.completions.create(model="helix", messages=MESSAGES, response_format=FORMAT)


def test_a_refusal_in_place_of_a_form_is_the_protocols_own(api: OpenAI) -> None:
    unknown: Any = [{"role": "user", "content": "Zebras?"}]
    kept: Any = {"format": {"type": "json_schema", "name": "refund", "schema": SCHEMA}}
    told: Any = api.chat.completions.create(model="helix", messages=unknown, response_format=FORMAT)
    assert told.choices[0].message.content is None
    assert told.choices[0].message.refusal == REFUSAL
    whole: Any = api.responses.create(model="helix", input="Zebras?", text=kept)
    with api.responses.stream(model="helix", input="Zebras?", text=kept) as events:
        streamed: Any = events.get_final_response()
    for response in (whole, streamed):
        assert response.output[0].content[0].refusal == REFUSAL


def test_langchains_structured_output_is_what_it_asked_for(
    client: httpx.Client, wire: GeminiWire
) -> None:
    from langchain_openai import ChatOpenAI
    from openai import BadRequestError

    base: Any = {"base_url": f"{client.base_url}/v1", "api_key": "none", "max_retries": 0}
    schema = SCHEMA | {"title": "refund", "description": "A refund."}
    wire.script(Answer((asked(client)["answer"],)), Answer((FILLED,)), on="generate")
    chat = ChatOpenAI(model="helix", **base)
    assert chat.with_structured_output(schema, method="json_schema").invoke(QUESTION) == (
        json.loads(FILLED)
    )
    with pytest.raises(BadRequestError, match="json_schema"):
        chat.with_structured_output(schema, method="function_calling").invoke(QUESTION)
