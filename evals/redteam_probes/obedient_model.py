"""A model that calls the tool that a document ordered, with the arguments that it gave."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any
from uuid import uuid4

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata, MessageRole
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import MockLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import BaseTool


class ObedientCaller(MockLLM, FunctionCallingLLM):
    """Makes ``order``, as a document told it to, then stops; keeps every text that it was sent."""

    max_tokens: int | None = None
    order: ToolSelection | None = None
    _received: list[str] = PrivateAttr(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="obedient", is_function_calling_model=True)

    @property
    def received(self) -> str:
        """All that it was sent, in one text."""
        return "\n".join(self._received)

    async def astream_chat_with_tools(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        tool_required: bool = False,
        **_: Any,
    ) -> AsyncGenerator[ChatResponse, None]:
        history = chat_history or []
        self._keep(history)
        is_called = any(message.role == MessageRole.TOOL for message in history)
        calls = [self.order] if self.order and not is_called else []
        message = ChatMessage(role=MessageRole.ASSISTANT, content="")
        message.additional_kwargs["calls"] = calls

        async def turn() -> AsyncGenerator[ChatResponse, None]:
            yield ChatResponse(message=message, delta="")

        return turn()

    def get_tool_calls_from_response(
        self, response: ChatResponse, *_: Any, **__: Any
    ) -> list[ToolSelection]:
        calls: list[ToolSelection] = response.message.additional_kwargs.get("calls", [])
        return calls

    def _prepare_chat_with_tools(self, *_: Any, **__: Any) -> dict[str, Any]:
        raise NotImplementedError("the tools are not asked for")

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **_: Any
    ) -> AsyncGenerator[ChatResponse, None]:
        self._keep(messages)

        async def deltas() -> AsyncGenerator[ChatResponse, None]:
            text = "The berth fee is 12 crowns [1] [2] [3]."
            yield ChatResponse(message=ChatMessage(role="assistant", content=text), delta=text)

        return deltas()

    def obey(self, name: str, arguments: dict[str, Any]) -> None:
        """Make this call in the next answer; what was sent before is forgotten."""
        self.order = ToolSelection(tool_id=uuid4().hex, tool_name=name, tool_kwargs=arguments)
        self._received.clear()

    def _keep(self, messages: Sequence[ChatMessage]) -> None:
        self._received += [message.content or "" for message in messages]
