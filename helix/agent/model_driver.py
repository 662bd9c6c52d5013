"""Gathering by a model: LlamaIndex's FunctionAgent chooses the calls, a fresh one each time.

Whatever the model writes beside its calls is thinking, and what it writes at the end is nothing:
the answer is written from the ledger, by the one answering path.
"""

from __future__ import annotations

import logging
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
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer
from llama_index.core.tools import AsyncBaseTool, ToolMetadata
from llama_index.core.tools import ToolOutput as LlamaToolOutput
from pydantic import PrivateAttr

from helix.agent.rendering import tokens_of
from helix.agent.run import Run
from helix.agent.thinking import is_worth_thinking
from helix.agent.tool import AnyTool
from helix.domain.prompt import defuse
from helix.errors import UpstreamError
from helix.prompts import prompt
from helix.providers.base import LanguageModel, MalformedCall

_UNREADABLE = "Your last call could not be read. Call the tool again with valid JSON, or stop."
_MEMORY_TOKENS = 1_000_000
"""The limit of LlamaIndex's memory of one run; the run's own bounds are reached long before."""
_logger = logging.getLogger(__name__)


async def drive_by_model(llm: LanguageModel, run: Run) -> None:
    """Let the model call tools until it has enough.

    Its thoughts are asked for where the question is worth it; a model that refuses to give them is
    asked without.

    Raises:
        BoundReached: a bound of the run came first.
        UpstreamError: the model failed.
    """
    if llm.thinking and is_worth_thinking(run.context.question):
        try:
            await _choose(llm.thinking, run)
        except UpstreamError as error:
            if run.outcomes or error.transient:
                raise
            _logger.info("the model gives no thoughts: it is asked without")
        else:
            return
    await _choose(llm.model, run)


async def _choose(model: BaseLLM, run: Run) -> None:
    agent = GatheringAgent(model, run)
    history = [ChatMessage(role=MessageRole.USER, content=run.before.text)] if run.before else []
    handler = agent.run(
        user_msg=defuse(run.context.question),
        chat_history=history,
        memory=ChatMemoryBuffer.from_defaults(token_limit=_MEMORY_TOKENS),
        max_iterations=run.bounds.steps + 2,
    )
    offered = {tool.name for tool in run.offered}
    try:
        async for event in handler.stream_events():
            if isinstance(event, AgentInput):
                run.spend(sum(tokens_of(message.content or "") for message in event.input))
            elif isinstance(event, AgentStream):
                run.think(event.thinking_delta or "")
            elif isinstance(event, AgentOutput):
                reply = event.response.content or ""
                run.spend(tokens_of(reply))
                if event.tool_calls:
                    run.think(reply)
            elif isinstance(event, ToolCallResult) and event.tool_name not in offered:
                await run.call(event.tool_name, event.tool_kwargs)  # to be told, and kept
        await handler
    except Exception as error:  # noqa: BLE001  LlamaIndex's own, around what a step raised
        raise agent.failure or error from None
    finally:
        if not handler.done():
            await handler.cancel_run()


class GatheringAgent(FunctionAgent):
    """A FunctionAgent whose steps count against the bounds of a run.

    ``failure`` is the exception that ended a step, before LlamaIndex wraps it in one of its own.
    """

    _run: Run = PrivateAttr()
    failure: Exception | None = None

    def __init__(self, model: BaseLLM, run: Run) -> None:
        rules = prompt("agent_gathering")
        if run.before:
            rules = f"{rules}\n{run.before.rules}"
        super().__init__(
            llm=model,
            system_prompt=rules,
            tools=[_ModelTool(tool, run) for tool in run.offered],
            timeout=None,
        )
        self._run = run

    async def take_step(
        self,
        ctx: AgentContext,
        llm_input: list[ChatMessage],
        tools: Any,
        memory: BaseMemory,
    ) -> AgentOutput:
        """One turn of the model; a call that its service could not read is told back once."""
        try:
            self._run.step()
            try:
                return await super().take_step(ctx, llm_input, tools, memory)
            except MalformedCall:
                complaint = ChatMessage(role=MessageRole.USER, content=_UNREADABLE)
                return await super().take_step(ctx, [*llm_input, complaint], tools, memory)
        except Exception as error:
            self.failure = error
            raise


class _ModelTool(AsyncBaseTool):
    """A tool as LlamaIndex calls it; what it returns, a failure too, is text for the model."""

    def __init__(self, tool: AnyTool, run: Run) -> None:
        self._tool = tool
        self._run = run

    @property
    def metadata(self) -> ToolMetadata:
        description = prompt(f"tool_{self._tool.name}")
        return ToolMetadata(description, self._tool.name, fn_schema=self._tool.arguments)

    def call(self, input: Any) -> LlamaToolOutput:  # noqa: A002  the name is LlamaIndex's
        raise NotImplementedError("tools of an agent are awaited")

    async def acall(self, /, *_: Any, **arguments: Any) -> LlamaToolOutput:
        text = await self._run.call(self._tool.name, arguments)
        return LlamaToolOutput(
            content=text, tool_name=self._tool.name, raw_input=arguments, raw_output=text
        )
