"""Gathering by a model: LlamaIndex's FunctionAgent chooses the calls, a fresh one each time.

Whatever the model writes beside its calls is thinking, and what it writes at the end is nothing:
the answer is written from the ledger, by the one answering path.

A server may not take a model's calls for calls, and hand them on as text: `{"name":
"search_library", "arguments": {"query": "refunds"}}`, alone, in a fence, or between the tags of a
chat template; several in a row. A text that is anything else too has no calls.
"""

from __future__ import annotations

import json
import logging
import re
import uuid
from collections.abc import Collection
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.agent.workflow.agent_context import AgentContext
from llama_index.core.agent.workflow.workflow_events import (
    AgentInput,
    AgentOutput,
    AgentStream,
    ToolCallResult,
)
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole, ToolCallBlock
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer
from llama_index.core.tools import AsyncBaseTool, ToolMetadata
from llama_index.core.tools import ToolOutput as LlamaToolOutput
from pydantic import PrivateAttr

from helix.agent.gathering import Gathering
from helix.agent.rendering import tokens_of
from helix.agent.schema_driver import drive_by_schema
from helix.agent.tool import AnyTool
from helix.domain.prompt import defuse
from helix.errors import UpstreamError
from helix.language.terms import question_words
from helix.providers.base import LanguageModel, MalformedCall, usage_of
from helix.settings.prompts import prompt

_MARKS = re.compile(r"\s*(?:</?tool_calls?>|```(?:json)?|~~~(?:json)?|,)?\s*")
_MOST_CHARACTERS = 20_000
_ARGUMENTS = ("arguments", "parameters")
_DECODER = json.JSONDecoder()

Call = tuple[str, dict[str, Any]]


def calls_in_text(text: str, tools: Collection[str]) -> list[Call]:
    """The calls of ``tools`` that a text consists of; none where it has anything else."""
    if len(text) > _MOST_CHARACTERS or "{" not in text:
        return []
    calls: list[Call] = []
    at = _behind_marks(text, 0)
    while at < len(text):
        try:
            read, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return []
        call = _call_of(read, tools)
        if call is None:
            return []
        calls.append(call)
        at = _behind_marks(text, at)
    return calls


def _behind_marks(text: str, at: int) -> int:
    while (found := _MARKS.match(text, at)) and found.end() > at:
        at = found.end()
    return at


def _call_of(read: object, tools: Collection[str]) -> Call | None:
    if not isinstance(read, dict) or not isinstance(read.get("name"), str):
        return None
    if read["name"] not in tools:
        return None
    arguments: Any = next((read[key] for key in _ARGUMENTS if key in read), {})
    if isinstance(arguments, str):  # as OpenAI's API has them
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return None
    return (read["name"], arguments) if isinstance(arguments, dict) else None


_UNREADABLE = "Your last call could not be read. Call the tool again with valid JSON, or stop."
_MEMORY_TOKENS = 1_000_000
"""The limit of LlamaIndex's memory; a gathering's own bounds are reached long before."""
_FEW = 6
"""Content words of a question that one search answers as well as any thought."""
_HELD_KINDS = frozenset({"local", "server"})
"""Kinds of providers whose models call by a schema: measured with llama.cpp's server alone."""
_logger = logging.getLogger(__name__)


async def drive_by_model(llm: LanguageModel, gathering: Gathering) -> None:
    """Let the model call tools until it has enough.

    A model that prefers to be held to a schema makes its calls so, where its server knows schemas.
    One that can tell its thoughts is asked for them by a long question; where it refuses, it is
    asked without.

    Raises:
        BoundReached: a bound of the gathering came first.
        UpstreamError: the model failed.
    """
    held = llm.prefers_schema and llm.identity.partition(":")[0] in _HELD_KINDS
    if held and await _by_schema(llm, gathering):
        return
    if llm.thinking and len(set(question_words(gathering.context.question).values())) > _FEW:
        try:
            await _choose(llm.thinking, gathering)
        except UpstreamError as error:
            if gathering.outcomes or not error.about_input:
                raise
            _logger.info("the model gives no thoughts: it is asked without")
        else:
            return
    await _choose(llm.model, gathering)


async def _by_schema(llm: LanguageModel, gathering: Gathering) -> bool:
    """Let the model make its calls by a schema; false where its server knows none or refuses."""
    if llm.schema_options is None:
        return False
    try:
        await drive_by_schema(llm, gathering)
    except UpstreamError:
        if gathering.outcomes:
            raise
        _logger.info("the model made no call by a schema: tools are offered to it")
        return False
    return True


async def _choose(model: BaseLLM, gathering: Gathering) -> None:
    agent = GatheringAgent(model, gathering)
    history = (
        [ChatMessage(role=MessageRole.USER, content=gathering.before.text)]
        if gathering.before
        else []
    )
    handler = agent.run(
        user_msg=defuse(gathering.context.question),
        chat_history=history,
        memory=ChatMemoryBuffer.from_defaults(token_limit=_MEMORY_TOKENS),
        max_iterations=gathering.bounds.steps + 2,
    )
    offered = {tool.name for tool in gathering.offered}
    try:
        async for event in handler.stream_events():
            if isinstance(event, AgentInput):
                gathering.spend(sum(tokens_of(message.content or "") for message in event.input))
            elif isinstance(event, AgentStream):
                gathering.think(event.thinking_delta or "")
            elif isinstance(event, AgentOutput):
                reply = event.response.content or ""
                gathering.spend(tokens_of(reply))
                if event.tool_calls:
                    gathering.think(reply)
            elif isinstance(event, ToolCallResult) and event.tool_name not in offered:
                await gathering.call(event.tool_name, event.tool_kwargs)  # to be told, and kept
        await handler
    except Exception as error:  # noqa: BLE001  LlamaIndex's own, around what a step raised
        raise agent.failure or error from None
    finally:
        if not handler.done():
            await handler.cancel_run()


class GatheringAgent(FunctionAgent):
    """A FunctionAgent whose steps count against the bounds of a gathering.

    ``failure`` is the exception that ended a step, before LlamaIndex wraps it in one of its own.
    """

    _gathering: Gathering = PrivateAttr()
    failure: Exception | None = None

    def __init__(self, model: BaseLLM, gathering: Gathering) -> None:
        rules = prompt("agent_gathering")
        if gathering.before:
            rules = f"{rules}\n{gathering.before.rules}"
        super().__init__(
            llm=model,
            system_prompt=rules,
            tools=[_ModelTool(tool, gathering) for tool in gathering.offered],
            timeout=None,
        )
        self._gathering = gathering

    async def _get_streaming_response(self, *args: Any, **options: Any) -> ChatResponse:
        response = await super()._get_streaming_response(*args, **options)
        self._gathering.note_usage(usage_of(response))
        return response

    async def take_step(
        self,
        ctx: AgentContext,
        llm_input: list[ChatMessage],
        tools: Any,
        memory: BaseMemory,
    ) -> AgentOutput:
        """One turn of the model; a call that its service could not read is told back once."""
        try:
            self._gathering.step()
            try:
                output = await super().take_step(ctx, llm_input, tools, memory)
            except MalformedCall:
                complaint = ChatMessage(role=MessageRole.USER, content=_UNREADABLE)
                output = await super().take_step(ctx, [*llm_input, complaint], tools, memory)
            return output if output.tool_calls else await self._with_text_calls(ctx, output)
        except Exception as error:
            self.failure = error
            raise

    async def _with_text_calls(self, ctx: AgentContext, output: AgentOutput) -> AgentOutput:
        """The output with the calls that its text consists of, in place of the text."""
        offered = {tool.name for tool in self._gathering.offered}
        calls = [
            ToolSelection(tool_id=f"call_{uuid.uuid4().hex}", tool_name=name, tool_kwargs=given)
            for name, given in calls_in_text(output.response.content or "", offered)
        ]
        if not calls:
            return output
        blocks = [
            ToolCallBlock(
                tool_call_id=one.tool_id, tool_name=one.tool_name, tool_kwargs=one.tool_kwargs
            )
            for one in calls
        ]
        message = ChatMessage(role=MessageRole.ASSISTANT, blocks=blocks)
        scratchpad = await ctx.store.get(self.scratchpad_key, default=[])
        await ctx.store.set(self.scratchpad_key, [*scratchpad[:-1], message])
        return output.model_copy(update={"response": message, "tool_calls": calls})


class _ModelTool(AsyncBaseTool):
    """A tool as LlamaIndex calls it; what it returns, a failure too, is text for the model."""

    def __init__(self, tool: AnyTool, gathering: Gathering) -> None:
        self._tool = tool
        self._gathering = gathering

    @property
    def metadata(self) -> ToolMetadata:
        return ToolMetadata(self._tool.about(), self._tool.name, fn_schema=self._tool.arguments)

    def call(self, input: Any) -> LlamaToolOutput:  # noqa: A002  the name is LlamaIndex's
        raise NotImplementedError("tools of an agent are awaited")

    async def acall(self, /, *_: Any, **arguments: Any) -> LlamaToolOutput:
        text = await self._gathering.call(self._tool.name, arguments)
        return LlamaToolOutput(
            content=text, tool_name=self._tool.name, raw_input=arguments, raw_output=text
        )
