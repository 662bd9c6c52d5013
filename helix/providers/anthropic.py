"""Anthropic: LlamaIndex's Anthropic, the extra ``anthropic``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from helix.domain.usage import Usage
from helix.providers.base import HOOKS
from helix.providers.integrations import ChatIntegration
from helix.settings import Settings

OUTPUT_TOKENS = 8192
"""Anthropic's API wants a limit with each request, and LlamaIndex's default of 512 cuts answers."""


def finish_reason(raw: Any) -> str | None:
    """``stop_reason`` of a message, or of a stream's ``message_delta`` event."""
    reason: str | None = raw.get("stop_reason") or getattr(raw.get("delta"), "stop_reason", None)
    return reason


def usage(raw: Any) -> Usage | None:
    """Usage of a message, or of a stream's ``message_delta`` event, which has no model.

    ``input_tokens`` has neither those read from the cache nor those written to it.
    """
    counts = raw.get("usage")
    if counts is None:
        return None
    cached = getattr(counts, "cache_read_input_tokens", None)
    read = getattr(counts, "input_tokens", None)
    if read is not None:
        read += (cached or 0) + (getattr(counts, "cache_creation_input_tokens", None) or 0)
    return Usage(str(raw.get("model") or ""), read, getattr(counts, "output_tokens", None), cached)


def _chat_options(settings: Settings, model: str) -> dict[str, Any]:
    return {
        "model": model,
        "temperature": 0.0,
        "max_tokens": settings.answer_tokens or OUTPUT_TOKENS,
        "timeout": settings.model_timeout,
        "max_retries": 0,
    }


def _connect(chat: Any, settings: Settings) -> Callable[[], Awaitable[None]]:
    from anthropic import DefaultAsyncHttpxClient

    client = DefaultAsyncHttpxClient(timeout=settings.model_timeout, event_hooks=HOOKS)
    chat._aclient = chat._aclient.with_options(http_client=client)
    close: Callable[[], Awaitable[None]] = client.aclose
    return close


CHAT = ChatIntegration(
    "llama_index.llms.anthropic",
    "Anthropic",
    _chat_options,
    finish_reason,
    usage,
    frozenset({"end_turn", "stop_sequence"}),
    connect=_connect,
)

anthropic_llm = CHAT.llm
