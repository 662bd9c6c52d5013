"""Each vendor's way to hold an answer to a JSON schema, as arguments of ``astream_chat``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def openai_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """OpenAI's structured outputs, which llama.cpp, vLLM and others speak too."""
    named = {"name": "answer", "strict": True, "schema": dict(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def ollama_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Ollama's structured outputs."""
    return {"format": dict(schema)}


def gemini_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Gemini's structured output by JSON schema, which keeps the order of keys."""
    form = {"response_mime_type": "application/json", "response_json_schema": dict(schema)}
    return {"generation_config": form}
