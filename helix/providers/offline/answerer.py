"""The offline language model: it quotes the sentences that answer, with their numbers, or refuses.

It reads what lies beside the prompt (helix.domain.prompt.Beside) as data: nothing a source says
can change what it does, for all it does is choose sentences and copy them.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.generic_utils import stream_chat_response_to_completion_response
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.llms.custom import CustomLLM

from helix.domain.contract import REFUSAL
from helix.domain.prompt import BESIDE, Beside
from helix.providers.offline.extract import RISK, answer_of
from helix.providers.offline.reading import Offered

IDENTITY = "offline:extractive-1"

_DELTA = re.compile(r"\s*(?:\S+\s*){1,8}|\s+")  # each costs LlamaIndex some 0.2 ms


class OfflineLLM(CustomLLM):
    """A deterministic chat model over the sources beside its prompt.

    The async methods choose their sentences in a thread, once, and stream them some words at a time
    from memory. A prompt without sources beside it is refused.
    """

    risk: float = RISK
    """The share of wrong answers, 0 to 1, up to which it quotes."""

    @classmethod
    def class_name(cls) -> str:
        return "OfflineLLM"

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(
            context_window=1_000_000,
            num_output=1024,
            is_chat_model=True,
            model_name=IDENTITY,
        )

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return _chat_response(self._answer(messages))

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return _chat_response(await asyncio.to_thread(self._answer, messages))

    @llm_chat_callback()
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        return self._deltas(messages)

    @llm_chat_callback()
    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        return self._stream(messages)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=REFUSAL)

    @llm_completion_callback()
    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        return stream_chat_response_to_completion_response(self._deltas(()))

    def _answer(self, messages: Sequence[ChatMessage]) -> str:
        beside = messages[-1].additional_kwargs if messages else {}
        asked = beside.get(BESIDE)
        return answer_of(Offered.of(asked), self.risk) if isinstance(asked, Beside) else REFUSAL

    def _deltas(self, messages: Sequence[ChatMessage]) -> ChatResponseGen:
        yield from _chat_deltas(self._answer(messages))

    async def _stream(self, messages: Sequence[ChatMessage]) -> ChatResponseAsyncGen:
        for response in _chat_deltas(await asyncio.to_thread(self._answer, messages)):
            yield response


def _chat_response(text: str, delta: str | None = None) -> ChatResponse:
    return ChatResponse(
        message=ChatMessage(role=MessageRole.ASSISTANT, content=text),
        delta=delta,
        raw={"finish_reason": "STOP"},
    )


def _chat_deltas(answer: str) -> ChatResponseGen:
    """The answer so far and its next words: the deltas join to the answer."""
    for word in _DELTA.finditer(answer):
        yield _chat_response(answer[: word.end()], word[0])
