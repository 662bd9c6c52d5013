"""A model that says what it is told to, an answer's receipt, and a document that goes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.llms.custom import CustomLLM

from helix.answering.answer import Answer
from helix.conversations.receipts.receipt import Json
from helix.conversations.receipts.receipt_store import read_receipt
from helix.library.documents import remove_document
from helix.providers.base import LanguageModel
from helix.services import Services


class Says(CustomLLM):
    """A model that says ``said``, a word a delta."""

    said: str

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="says")

    async def astream_chat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponseAsyncGen:
        async def deltas() -> AsyncGenerator[ChatResponse, None]:
            for word in self.said.split(" "):
                text = ChatMessage(role=MessageRole.ASSISTANT, content=word)
                yield ChatResponse(message=text, delta=f"{word} ")

        return deltas()

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        raise NotImplementedError

    def stream_complete(
        self, prompt: str, formatted: bool = False, **_: Any
    ) -> CompletionResponseGen:
        raise NotImplementedError


def saying(said: str, identity: str = "fake:says") -> LanguageModel:
    return LanguageModel(Says(said=said), identity)


async def receipt_of(services: Services, done: Answer, tenant: str = "default") -> Json:
    return await read_receipt(services.library.of(tenant), done.question.answer_id, 30)


async def delete(services: Services, document_id: int, tenant: str = "default") -> None:
    library = services.library.of(tenant)
    await library.change(lambda c: remove_document(c, document_id, tenant))
