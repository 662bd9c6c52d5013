"""Any server that speaks OpenAI's API: LlamaIndex's OpenAILike and OpenAIEmbedding.

vLLM, llama.cpp, LM Studio, OpenRouter, Groq and others serve models whose names OpenAI does not
know. ``server:MODEL`` names one; HELIX_MODEL_SERVER says where. OpenAIEmbedding takes any name too;
``llama-index-embeddings-openai-like`` adds nothing to it and wants an older release of it.
"""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from helix.errors import UpstreamError
from helix.providers.answer_length import answer_tokens
from helix.providers.base import LanguageModel, collecting_client
from helix.providers.integrations import ChatIntegration, Integration
from helix.providers.llama_grammar import llama_schema
from helix.providers.openai import finish_reason, load_client, usage
from helix.providers.schemas import openai_schema
from helix.providers.served_models import ServedModel, model_at, served_model, served_models
from helix.settings import Settings

EMBED_BATCH = 32
"""Texts in one request: the most that Text Embeddings Inference takes unless it is told more."""
_NAMED = 10
"""Models of a server that a message names."""
_NO_KEY = "none"
"""Sent where no key is set: with an empty one the client would take OPENAI_API_KEY and send it to
a server that it is not for."""
_COUNTS_UNASKED = frozenset({"api.mistral.ai"})
"""Hosts that refuse ``stream_options`` (422, extra_forbidden) and send token counts without it:
https://github.com/openai/openai-agents-python/issues/442"""


def _text(key: SecretStr | None) -> str:
    return (key.get_secret_value() if key else "").strip() or _NO_KEY


def model_server(settings: Settings) -> tuple[str, str]:
    """Address, without a slash at its end, and key of the server of language models."""
    assert settings.model_server is not None  # the settings see to it
    return settings.model_server.rstrip("/"), _text(settings.model_server_key)


def embed_server(settings: Settings) -> tuple[str, str]:
    """The same of the server of embedders: where none is named, that of the language models.

    The key of one server is never sent to the other.
    """
    if settings.embed_server is None:
        return model_server(settings)
    return settings.embed_server.rstrip("/"), _text(settings.embed_server_key)


def context_of(settings: Settings, found: ServedModel | None) -> int:
    """Tokens of the model's context: as HELIX_MODEL_CONTEXT, else the server, tells.

    Where neither does it is the room that an answer over sources takes.
    """
    told = settings.model_context or (found and found.context)
    return told or 8192 + 1024 * settings.retrieval_top_k


def examined_server(settings: Settings, model: str) -> str:
    """One line about the server and its ``model``, for `helix doctor`.

    Raises:
        UpstreamError: the server does not answer, or has no such model.
    """
    address, key = model_server(settings)
    models = served_models(address, key)
    found = served_model(models, model)
    if found is None:
        names = ", ".join(each.name for each in models[:_NAMED]) or "none"
        raise UpstreamError(f"{address} lists no model {model}; it has {names}")
    context = f"{found.context} tokens" if found.context else "not told: HELIX_MODEL_CONTEXT"
    return f"listed by {address}, context {context}; it is not asked anything"


def chat_options(address: str, key: str, model: str, context: int) -> dict[str, Any]:
    """The arguments of OpenAILike for ``model`` at ``address``."""
    load_client()
    counts = {} if urlsplit(address).hostname in _COUNTS_UNASKED else {"include_usage": True}
    return {
        "model": model,
        "api_base": address,
        "api_key": key,
        "context_window": context,
        "is_chat_model": True,
        "is_function_calling_model": True,
        "temperature": 0.0,
        "max_retries": 0,
        "additional_kwargs": {"stream_options": counts} if counts else {},
    }


def embedding_options(address: str, key: str, model: str) -> dict[str, Any]:
    """The arguments of OpenAIEmbedding for ``model`` at ``address``."""
    return {
        "model_name": model,
        "api_base": address,
        "api_key": key,
        "embed_batch_size": EMBED_BATCH,
        "max_retries": 0,
        # the client asks for base64 by itself, which not every server knows
        "additional_kwargs": {"encoding_format": "float"},
    }


def _chat_options(found: ServedModel | None, settings: Settings, model: str) -> dict[str, Any]:
    context = context_of(settings, found)
    options = chat_options(*model_server(settings), model, context)
    client = collecting_client(settings.model_timeout)
    return {
        **options,
        "max_tokens": answer_tokens(settings, context),
        "timeout": settings.model_timeout,
        "async_http_client": client,
    }


def _embedding_options(settings: Settings, model: str) -> dict[str, Any]:
    options = embedding_options(*embed_server(settings), model)
    return {**options, "timeout": settings.model_timeout}


EMBEDDING = Integration("llama_index.embeddings.openai", "OpenAIEmbedding", _embedding_options)


def server_llm(settings: Settings, model: str) -> LanguageModel:
    """The model of ``HELIX_LLM=server:MODEL``; raises as Integration.embedder does.

    A server that need not tell the context is not asked what it is.
    """
    found = None if settings.model_context else model_at(*model_server(settings), model)
    integration = ChatIntegration(
        "llama_index.llms.openai_like", "OpenAILike", partial(_chat_options, found), finish_reason,
        usage, frozenset({"stop"}), prefers_schema=True,
        schema_options=llama_schema if found and found.owner == "llamacpp" else openai_schema,
    )  # fmt: skip
    return integration.llm(settings, model)


server_embedder = EMBEDDING.embedder
