"""Anthropic: LlamaIndex's Anthropic, the extra ``anthropic``."""

from __future__ import annotations

from typing import Any

from helix.providers.integrations import ChatIntegration
from helix.settings import Settings

OUTPUT_TOKENS = 8192
"""Anthropic's API wants a limit with each request, and LlamaIndex's default of 512 cuts answers."""


def finish_reason(raw: Any) -> str | None:
    """``stop_reason`` of a message, or of a stream's ``message_delta`` event."""
    reason: str | None = raw.get("stop_reason") or getattr(raw.get("delta"), "stop_reason", None)
    return reason


def _chat_options(settings: Settings, model: str) -> dict[str, Any]:
    return {
        "model": model,
        "temperature": 0.0,
        "max_tokens": OUTPUT_TOKENS,
        "timeout": settings.model_timeout,
    }


CHAT = ChatIntegration(
    "llama_index.llms.anthropic",
    "Anthropic",
    _chat_options,
    finish_reason,
    frozenset({"end_turn", "stop_sequence"}),
)

anthropic_llm = CHAT.llm
