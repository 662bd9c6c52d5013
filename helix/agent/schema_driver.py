"""Gathering by a model that is held to a schema: each of its turns is one call, as JSON.

A small model that is offered tools writes its calls as text, or in arguments without an end. Held
to a schema by its server it cannot: every turn is a call that the tool understands, or `done`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from helix.agent.gathering import Gathering
from helix.agent.rendering import tokens_of
from helix.agent.tool import AnyTool
from helix.answering.form.schema import closed_object
from helix.domain.prompt import defuse
from helix.providers.base import LanguageModel, model_failures, usage_of
from helix.settings.prompts import prompt

DONE = "done"
HELD = frozenset({
    "search_library", "compare_documents", "list_documents", "calculator", "current_time"
})  # fmt: skip
"""The tools that are offered, beside those of plugins: few, with few arguments, for models that are
confused by more."""
_LONGEST = 300
_MOST_ITEMS = 8
_KEPT = ("type", "items", "description")
Options = Mapping[str, Any]


async def drive_by_schema(llm: LanguageModel, gathering: Gathering) -> None:
    """Let the model call tools, one a turn, until it has enough or repeats itself.

    Raises:
        BoundReached: a bound of the gathering came first.
        UpstreamError: the model failed.
    """
    tools = [tool for tool in gathering.offered if tool.name in HELD or tool.description]
    assert llm.schema_options is not None, "a model whose server knows schemas"
    options = llm.schema_options(calls_schema(tools))
    messages = _first_messages(tools, gathering)
    made: set[str] = set()
    while True:
        gathering.step()
        reply = await _reply(llm, messages, options, gathering)
        call = call_of(reply)
        if call is None or reply in made:
            return
        made.add(reply)
        result = await gathering.call(*call)
        messages += [
            ChatMessage(role=MessageRole.ASSISTANT, content=reply),
            ChatMessage(role=MessageRole.USER, content=f"The call returned:\n{result}"),
        ]


def _first_messages(tools: Sequence[AnyTool], gathering: Gathering) -> list[ChatMessage]:
    lines = "\n".join(map(_line, tools))
    rules = "\n".join((prompt("agent_gathering"), prompt("agent_calls", tools=lines)))
    earlier = []
    if gathering.before:
        rules = f"{rules}\n{gathering.before.rules}"
        earlier = [ChatMessage(role=MessageRole.USER, content=gathering.before.text)]
    asked = ChatMessage(role=MessageRole.USER, content=defuse(gathering.context.question))
    return [ChatMessage(role=MessageRole.SYSTEM, content=rules), *earlier, asked]


def _line(tool: AnyTool) -> str:
    """A tool as the model reads of it: the form of its call, and the beginning of what it does."""
    form = {"tool": tool.name} | dict.fromkeys(_required(tool), "…")
    about = tool.about().split("\n", 1)[0]
    return f"{json.dumps(form, ensure_ascii=False)}: {about}"


async def _reply(
    llm: LanguageModel, messages: list[ChatMessage], options: Options, gathering: Gathering
) -> str:
    """One turn of the model, its tokens counted."""
    gathering.spend(sum(tokens_of(message.content or "") for message in messages))
    parts: list[str] = []
    with model_failures(llm):
        stream = await llm.stream(messages, **options)
        async with aclosing(stream):
            async for response in stream:
                parts.append(response.delta or "")
                gathering.note_usage(usage_of(response))
    reply = "".join(parts)
    gathering.spend(tokens_of(reply))
    return reply


def call_of(reply: str) -> tuple[str, dict[str, Any]] | None:
    """The tool and its arguments; None where the model has enough, or what it says is no call."""
    try:
        read = json.loads(reply)
    except ValueError:
        return None
    if not isinstance(read, dict) or not isinstance(read.get("tool"), str) or read["tool"] == DONE:
        return None
    return read.pop("tool"), read


def calls_schema(tools: Sequence[AnyTool]) -> dict[str, Any]:
    """The schema of one turn: a call of one of ``tools`` with its required arguments, or `done`."""
    calls = [closed_object({"tool": {"const": tool.name}} | _required(tool)) for tool in tools]
    return {"anyOf": [*calls, closed_object({"tool": {"const": DONE}})]}


def _required(tool: AnyTool) -> dict[str, Any]:
    """The schemas of a tool's required arguments, each with an end."""
    schema = tool.arguments.model_json_schema()
    properties = schema.get("properties", {})
    return {name: _bounded(properties[name]) for name in schema.get("required", ())}


def _bounded(schema: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: schema[key] for key in _KEPT if key in schema}
    if kept.get("type") == "string":
        kept |= {"minLength": 1, "maxLength": _LONGEST}
    if kept.get("type") == "array":
        kept |= {"minItems": schema.get("minItems", 0), "maxItems": _MOST_ITEMS}
    return kept
