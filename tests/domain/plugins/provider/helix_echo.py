"""A model that says the name it was chosen by, and an embedder that is Helix's own renamed."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.llms.custom import CustomLLM

from helix.providers.base import Embedder, LanguageModel
from helix.providers.offline import offline_embedder
from helix.settings import Settings


class Echo(CustomLLM):
    """Says ``said``."""

    said: str

    @property
    def metadata(self) -> LLMMetadata:
        """The facts that LlamaIndex asks of every model."""
        return LLMMetadata(model_name="echo")

    async def astream_chat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponseAsyncGen:
        """One delta."""

        async def deltas() -> ChatResponseAsyncGen:
            yield ChatResponse(message=ChatMessage(content=self.said), delta=self.said)

        return deltas()

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        """The same, whole."""
        return CompletionResponse(text=self.said)

    def stream_complete(
        self, prompt: str, formatted: bool = False, **_: Any
    ) -> CompletionResponseGen:
        """The same, in one part."""
        yield CompletionResponse(text=self.said, delta=self.said)


def llm(settings: Settings, model: str) -> LanguageModel:
    """``HELIX_LLM=echo:NAME``."""
    return LanguageModel(Echo(said=f"{model} says so [1]."), f"echo:{model}")


def embedder(settings: Settings, model: str, *, patient: bool = False) -> Embedder:
    """``HELIX_EMBEDDER=echo``."""
    return replace(offline_embedder(settings, ""), identity="echo:1536")
