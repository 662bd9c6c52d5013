"""OpenAI: LlamaIndex's OpenAIEmbedding and OpenAI, the extra ``openai``."""

from __future__ import annotations

from typing import Any

from helix.contract import EMBEDDING_DIMENSIONS
from helix.providers.integrations import ChatIntegration, Integration
from helix.settings import Settings

ATTEMPTS = 2
"""For embeddings, where client and LlamaIndex both retry, their defaults making 110."""


def finish_reason(raw: Any) -> str | None:
    """Of a chunk or an answer: its first choice's. A chunk of token counts has no choices."""
    reason: str | None = raw.choices[0].finish_reason if raw.choices else None
    return reason


def _embedding_options(settings: Settings, model: str) -> dict[str, Any]:
    # The third generation gives any width on demand; the large one would be too wide by itself.
    width = {"dimensions": EMBEDDING_DIMENSIONS} if model.startswith("text-embedding-3-") else {}
    timeout = settings.model_timeout
    return {"model_name": model, "timeout": timeout, "max_retries": ATTEMPTS, **width}


def _chat_options(settings: Settings, model: str) -> dict[str, Any]:
    return {"model": model, "temperature": 0.0, "timeout": settings.model_timeout}


EMBEDDING = Integration("llama_index.embeddings.openai", "OpenAIEmbedding", _embedding_options)
CHAT = ChatIntegration(
    "llama_index.llms.openai", "OpenAI", _chat_options, finish_reason, frozenset({"stop"})
)

openai_embedder = EMBEDDING.embedder
openai_llm = CHAT.llm
