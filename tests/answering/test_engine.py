"""The engine's call of a model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any, cast

import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ChatResponseAsyncGen

from helix.answering.engine import CitationQueryEngine
from helix.errors import UpstreamError
from helix.providers.base import LanguageModel
from tests.support.scripted_model import Says


class _Silent(Says):
    async def astream_chat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponseAsyncGen:
        async def deltas() -> AsyncGenerator[ChatResponse, None]:
            yield ChatResponse(message=ChatMessage(""), delta="")

        return deltas()


async def test_a_model_that_ends_without_a_word_has_failed() -> None:
    engine = CitationQueryEngine(cast(Any, None), LanguageModel(_Silent(said=""), "fake:silent"))
    with pytest.raises(UpstreamError, match="fake:silent finished without an answer"):
        _ = [delta async for delta in engine._model_deltas([], [])]


class _Hanging(Says):
    at: int

    async def astream_chat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponseAsyncGen:
        async def deltas() -> AsyncGenerator[ChatResponse, None]:
            yield ChatResponse(message=ChatMessage(""), delta="It takes")
            await asyncio.Event().wait()

        if self.at == 0:
            await asyncio.Event().wait()
        return deltas()


@pytest.mark.parametrize(("at", "said"), [(0, []), (1, ["It takes"])])
async def test_a_model_that_hangs_is_left(at: int, said: list[str]) -> None:
    llm = LanguageModel(_Hanging(said="", at=at), "fake:hanging", silence=0.05)
    deltas = CitationQueryEngine(cast(Any, None), llm)._model_deltas([], [])
    for each in said:
        assert await anext(deltas) == each
    with pytest.raises(UpstreamError, match="fake:hanging was silent for too long"):
        await anext(deltas)
