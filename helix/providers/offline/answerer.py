"""The offline language model: it quotes the sentences that answer, with their numbers, or refuses.

It gets the sources as values, beside the prompt that any model gets. Nothing that a source says can
change what it does, for all it does is choose sentences and copy them.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.generic_utils import (
    astream_chat_response_to_completion_response,
    stream_chat_response_to_completion_response,
)
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.llms.llm import LLM

from helix.domain.findings import Beside
from helix.providers.offline.extract import PARAGRAPH, RISK, extract, extract_parts
from helix.providers.offline.reading import read_messages, sources_of

IDENTITY = "offline:extractive-1"
_NOTHING = Beside("")

_DELTA = re.compile(r"\s*(?:\S+\s*){1,8}|\s+")  # each costs LlamaIndex some 0.2 ms


class OfflineLLM(LLM):
    """A deterministic chat model over the sources beside its prompt (helix.domain.findings.Beside).

    The async methods choose their sentences in a thread, once, and stream them some words at a time
    from memory. A prompt with nothing beside it is refused, as each one of ``complete`` is: no text
    of a prompt is read.
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
        return _chat_response(self._answer(read_messages(messages)))

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return _chat_response(await asyncio.to_thread(self._answer, read_messages(messages)))

    @llm_chat_callback()
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        return self._deltas(read_messages(messages))

    @llm_chat_callback()
    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        return self._stream(read_messages(messages))

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self._answer(_NOTHING))

    @llm_completion_callback()
    async def acomplete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        return CompletionResponse(text=await asyncio.to_thread(self._answer, _NOTHING))

    @llm_completion_callback()
    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        return stream_chat_response_to_completion_response(self._deltas(_NOTHING))

    @llm_completion_callback()
    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseAsyncGen:
        return astream_chat_response_to_completion_response(self._stream(_NOTHING))

    def _answer(self, prompt: Beside) -> str:
        return _answer(prompt, self.risk)

    def _deltas(self, prompt: Beside) -> ChatResponseGen:
        yield from _chat_deltas(self._answer(prompt))

    async def _stream(self, prompt: Beside) -> ChatResponseAsyncGen:
        for response in _chat_deltas(await asyncio.to_thread(self._answer, prompt)):
            yield response


def _answer(beside: Beside, risk: float) -> str:
    found, sources = beside.findings, sources_of(beside)
    if found and found.statements:
        return PARAGRAPH.join(found.statements)
    if found and found.parts and (answer := extract_parts(found.parts, sources, risk)):
        return answer
    return extract(beside.question.strip(), sources, risk, beside.said)


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
