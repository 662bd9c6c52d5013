"""Ollama: LlamaIndex's OllamaEmbedding and Ollama, the extra ``ollama``."""

from __future__ import annotations

import os
from typing import Any

from helix.domain.usage import Usage
from helix.providers.answer_length import answer_tokens
from helix.providers.integrations import ChatIntegration, Integration
from helix.providers.schemas import ollama_schema
from helix.settings import Settings


def finish_reason(raw: Any) -> str | None:
    """``done_reason`` of the response that is ``done``."""
    reason: str | None = raw.get("done_reason") if raw.get("done") else None
    return reason


def usage(raw: Any) -> Usage | None:
    """Usage of a response: its model, and the counts of the one that is ``done``."""
    return Usage(str(raw.get("model") or ""), raw.get("prompt_eval_count"), raw.get("eval_count"))


def _address() -> dict[str, str]:
    """``OLLAMA_HOST`` as Ollama's own client reads it; LlamaIndex hands that client localhost."""
    return {"base_url": host} if (host := os.environ.get("OLLAMA_HOST")) else {}


def _embedding_options(settings: Settings, model: str) -> dict[str, Any]:
    timeout = {"timeout": settings.model_timeout}
    return {"model_name": model, "client_kwargs": timeout, **_address()}


def _chat_options(settings: Settings, model: str) -> dict[str, Any]:
    # Tokens for rules, question and answer, and for each source twice the splitter's 500.
    # Left to itself LlamaIndex asks the server, in a call that blocks the event loop, and
    # takes the model's whole window, whose memory few machines have. Ollama drops the rest.
    context = 8192 + 1024 * settings.retrieval_top_k
    return {
        "model": model,
        "temperature": 0.0,
        "context_window": context,
        "additional_kwargs": {"num_predict": answer_tokens(settings, context)},
        "request_timeout": settings.model_timeout,
        **_address(),
    }


EMBEDDING = Integration("llama_index.embeddings.ollama", "OllamaEmbedding", _embedding_options)
CHAT = ChatIntegration(
    "llama_index.llms.ollama",
    "Ollama",
    _chat_options,
    finish_reason,
    usage,
    frozenset({"stop"}),
    "{} by Ollama".format,
    schema_options=ollama_schema,
    prefers_schema=True,
)

ollama_embedder = EMBEDDING.embedder
ollama_llm = CHAT.llm
