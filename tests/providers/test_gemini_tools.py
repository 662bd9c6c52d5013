"""Gemini with tools: what the model said goes back exactly as it came, signatures and all.

Each of the first five is a defect of llama-index-llms-google-genai 0.11.3, seen by running it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from copy import deepcopy
from typing import Any

import pytest
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.tools import FunctionTool

from helix.errors import UpstreamError
from helix.providers.base import LanguageModel, MalformedCall
from helix.providers.gemini.llm import GeminiLLM, gemini_llm
from helix.providers.retries import RetryPolicy
from helix.settings import load_settings
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer, Json, call_part, calling

FIRST, SECOND = "c2lnbmF0dXJlIG9uZQ==", "c2lnbmF0dXJlIHR3bw=="
USER = ChatMessage(role=MessageRole.USER, content="What do both reports say of rent?")


def search(query: str) -> str:
    """Search the documents."""
    return query


TOOLS = [FunctionTool.from_defaults(search)]


@pytest.fixture
async def llm(wire: GeminiWire) -> AsyncIterator[LanguageModel]:
    settings = load_settings(database_url="embedded", gemini_api_key="AIza-not-a-real-key")
    made = gemini_llm(settings, policy=RetryPolicy(attempts=1))
    yield made
    await made.aclose()


async def _turn(llm: LanguageModel, *messages: ChatMessage) -> ChatResponse:
    """The last response of a streamed turn that may call tools."""
    model = llm.model
    assert isinstance(model, GeminiLLM)
    responses = [
        response
        async for response in await model.astream_chat_with_tools(
            TOOLS, chat_history=list(messages)
        )
    ]
    return responses[-1]


def _result(call_id: str, text: str) -> ChatMessage:
    kwargs = {"tool_call_id": call_id}
    return ChatMessage(role=MessageRole.TOOL, content=text, additional_kwargs=kwargs)


def _sent(wire: GeminiWire) -> list[Json]:
    """The contents of the last request."""
    contents: list[Json] = wire.requests[-1].body["contents"]
    return contents


def _parts(content: Json) -> list[Any]:
    return [{key: part[key] for key in part if key != "thought"} for part in content["parts"]]


async def test_two_calls_go_back_each_with_what_was_signed_and_the_results_beside_each_other(
    wire: GeminiWire, llm: LanguageModel
) -> None:
    unsigned = call_part("search", {"query": "rent 2021"}, call_id="a")
    signed = call_part("search", {"query": "rent 2022"}, SECOND, call_id="b")
    wire.script(calling(unsigned, signed), Answer(deltas=("Done.",)))
    said = await _turn(llm, USER)
    await _turn(llm, USER, said.message, _result("a", "100"), _result("b", "120"))
    asked, model, results = _sent(wire)
    assert model == {"role": "model", "parts": [unsigned, signed]}
    assert (asked["role"], results["role"]) == ("user", "user")
    answered = [part["functionResponse"] for part in results["parts"]]
    assert [(one["id"], one["name"]) for one in answered] == [("a", "search"), ("b", "search")]
    assert [one["response"] for one in answered] == [{"result": "100"}, {"result": "120"}]


async def test_a_signature_on_an_empty_part_stays(wire: GeminiWire, llm: LanguageModel) -> None:
    parts = ({"text": "Look."}, {"text": "", "thoughtSignature": FIRST})
    wire.script(calling(*parts), Answer(deltas=("Done.",)))
    said = await _turn(llm, USER)
    await _turn(llm, USER, said.message, USER)
    assert _sent(wire)[1] == {"role": "model", "parts": list(parts)}


async def test_of_two_turns_of_the_model_in_a_row_both_signatures_stay(
    wire: GeminiWire, llm: LanguageModel
) -> None:
    one = call_part("search", {"query": "a"}, FIRST)
    two = call_part("search", {"query": "b"}, SECOND)
    wire.script(calling(one), calling(two), Answer(deltas=("Done.",)))
    first, second = await _turn(llm, USER), await _turn(llm, USER)
    await _turn(llm, USER, first.message, second.message, USER)
    assert _sent(wire)[1] == {"role": "model", "parts": [one, two]}


async def test_neighbours_of_one_role_leave_the_callers_messages_as_they_are(
    wire: GeminiWire, llm: LanguageModel
) -> None:
    messages = [USER, ChatMessage(role=MessageRole.USER, content="And of heating?")]
    before = deepcopy(messages)
    for _ in range(3):
        wire.script(Answer(deltas=("Done.",)))
        await _turn(llm, *messages)
        assert messages == before
        assert [len(content["parts"]) for content in _sent(wire)] == [2]


async def test_an_empty_text_does_not_repeat_the_part_before_it(
    wire: GeminiWire, llm: LanguageModel
) -> None:
    blocks = [TextBlock(text="One."), TextBlock(text=""), TextBlock(text="Two.")]
    wire.script(Answer(deltas=("Done.",)))
    await _turn(llm, ChatMessage(role=MessageRole.USER, blocks=blocks))
    assert _parts(_sent(wire)[0]) == [{"text": "One."}, {"text": "Two."}]


async def test_calls_without_an_id_are_told_apart_and_none_is_made_up_for_the_vendor(
    wire: GeminiWire, llm: LanguageModel
) -> None:
    calls = [call_part("search", {"query": "a"}), call_part("search", {"query": "b"})]
    wire.script(calling(*calls), Answer(deltas=("Done.",)))
    said = await _turn(llm, USER)
    ids = [b.tool_call_id for b in said.message.blocks if isinstance(b, ToolCallBlock)]
    assert len({*ids}) == 2 and all(ids)
    await _turn(llm, USER, said.message, *(_result(str(each), "1") for each in ids))
    _, model, results = _sent(wire)
    assert model["parts"] == calls
    assert all("id" not in part["functionResponse"] for part in results["parts"])


async def test_another_models_turn_goes_back_without_signatures(
    wire: GeminiWire, llm: LanguageModel
) -> None:
    wire.script(calling(call_part("search", {"query": "a"}, FIRST, call_id="a")))
    said = await _turn(llm, USER)
    said.message.additional_kwargs["gemini_model"] = "gemini-1.0-other"
    wire.script(Answer(deltas=("Done.",)))
    await _turn(llm, USER, said.message, _result("a", "1"))
    (part,) = _sent(wire)[1]["parts"]
    assert part["functionCall"]["name"] == "search" and "thoughtSignature" not in part


async def test_an_empty_turn_is_a_turn_where_tools_may_be_called(
    wire: GeminiWire, llm: LanguageModel
) -> None:
    wire.script(calling({"text": ""}))
    said = await _turn(llm, USER)
    assert said.message.role == MessageRole.ASSISTANT and not said.message.content


async def test_a_call_that_nobody_can_read_is_an_error_of_its_own(
    wire: GeminiWire, llm: LanguageModel
) -> None:
    wire.script(Answer(deltas=(), finish="MALFORMED_FUNCTION_CALL"))
    with pytest.raises(MalformedCall, match="MALFORMED_FUNCTION_CALL"):
        await _turn(llm, USER)


@pytest.mark.parametrize("finish", [None, "SAFETY", "MAX_TOKENS"])
async def test_a_turn_with_calls_that_was_cut_is_no_turn(
    wire: GeminiWire, llm: LanguageModel, finish: str | None
) -> None:
    part = call_part("search", {"query": "a"})
    wire.script(Answer(deltas=(), parts=(part,), finish=finish))
    with pytest.raises(UpstreamError):
        await _turn(llm, USER)


async def test_thoughts_are_asked_for_and_told_where_they_are_wanted(
    wire: GeminiWire, llm: LanguageModel
) -> None:
    wire.script(calling(call_part("search", {"query": "a"}), thoughts=("Hm, ", "rent.")))
    model = llm.thinking
    assert isinstance(model, GeminiLLM)
    stream = await model.astream_chat_with_tools(TOOLS, chat_history=[USER])
    told = [response.additional_kwargs.get("thinking_delta") async for response in stream]
    assert told == ["Hm, ", "rent.", None, None]
    config = wire.requests[-1].body["generationConfig"]
    assert config["thinkingConfig"] == {"include_thoughts": True}


async def test_a_whole_turn_is_kept_as_a_streamed_one(wire: GeminiWire, llm: LanguageModel) -> None:
    part = call_part("search", {"query": "a"}, FIRST)
    wire.script(calling({"text": "Look."}, part), Answer(deltas=("Done.",)))
    model = llm.model
    assert isinstance(model, GeminiLLM)
    said = await model.achat_with_tools(TOOLS, chat_history=[USER])
    await _turn(llm, USER, said.message, _result("helix-call-2", "1"))
    assert [part for part in _sent(wire)[1]["parts"] if part.get("text") != ""] == [
        {"text": "Look."}, part,
    ]  # fmt: skip
