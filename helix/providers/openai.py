"""OpenAI: LlamaIndex's OpenAIEmbedding and OpenAI."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.domain.usage import Usage
from helix.providers.base import collecting_client
from helix.providers.integrations import ChatIntegration, Integration
from helix.providers.schemas import openai_schema
from helix.settings import Settings


def finish_reason(raw: Any) -> str | None:
    """The finish reason of a chunk or an answer: its first choice's; None without a choice."""
    reason: str | None = raw.choices[0].finish_reason if raw.choices else None
    return reason


def usage(raw: Any) -> Usage | None:
    """Usage of a chunk or an answer: its model, and its counts where it has them.

    ``completion_tokens`` has those of the reasoning among it; of xAI's it may be the smaller.
    """
    model, counts = str(getattr(raw, "model", None) or ""), getattr(raw, "usage", None)
    prompt = getattr(counts, "prompt_tokens_details", None)
    completion = getattr(counts, "completion_tokens_details", None)
    written = getattr(counts, "completion_tokens", None)
    thought = getattr(completion, "reasoning_tokens", None)
    if written is not None and written >= (thought or 0):
        written -= thought or 0
    return Usage(
        model,
        getattr(counts, "prompt_tokens", None),
        written,
        getattr(prompt, "cached_tokens", None),
        thought,
    )


def _embedding_options(settings: Settings, model: str) -> dict[str, Any]:
    # The third generation gives any width on demand; the large one would be too wide by itself.
    width = {"dimensions": EMBEDDING_DIMENSIONS} if model.startswith("text-embedding-3-") else {}
    timeout = settings.model_timeout
    return {"model_name": model, "timeout": timeout, "max_retries": 0, **width}


def load_client() -> None:
    """Import what the client imports with its first request: a second of the event loop's time."""
    import_module("openai.resources")


def _chat_options(settings: Settings, model: str) -> dict[str, Any]:
    load_client()
    return {
        "model": model,
        "temperature": 0.0,
        "max_tokens": settings.answer_tokens,
        "timeout": settings.model_timeout,
        "max_retries": 0,
        "async_http_client": collecting_client(settings.model_timeout),
        "additional_kwargs": {"stream_options": {"include_usage": True}},
    }


REMEDY = (
    "check the model's name and OPENAI_API_KEY; a model of another server that speaks OpenAI's API"
    " is server:MODEL, with the server's address in HELIX_MODEL_SERVER"
)

EMBEDDING = Integration(
    "llama_index.embeddings.openai", "OpenAIEmbedding", _embedding_options, remedy=REMEDY
)
CHAT = ChatIntegration(
    "llama_index.llms.openai", "OpenAI", _chat_options, finish_reason, usage,
    frozenset({"stop"}), remedy=REMEDY, schema_options=openai_schema,
)  # fmt: skip

openai_embedder = EMBEDDING.embedder
openai_llm = CHAT.llm
