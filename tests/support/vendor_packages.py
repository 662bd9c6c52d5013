"""Stand-ins for vendors' packages: a module by their name, an embedding model, settings."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding

from helix.providers import anthropic, huggingface, ollama, openai
from helix.settings import Settings, load_settings

EMBEDDINGS = {
    "openai": openai.EMBEDDING,
    "ollama": ollama.EMBEDDING,
    "huggingface": huggingface.EMBEDDING,
}
CHATS = {"openai": openai.CHAT, "ollama": ollama.CHAT, "anthropic": anthropic.CHAT}
KEY = "sk-not-a-real-key"


class LetterEmbedding(BaseEmbedding):
    """Counts letters; ``width`` wide, and wrong on demand."""

    width: int = 26
    fails: bool = False

    def _get_text_embedding(self, text: str) -> list[float]:
        if self.fails:
            raise ConnectionError(f"401 for {KEY}: {text}")
        return [float(text.count(chr(97 + place))) for place in range(self.width)]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def settings(**names: str) -> Settings:
    return load_settings(
        database_url="embedded", **{"llm": "offline", "embedder": "offline", **names}
    )


def install(monkeypatch: pytest.MonkeyPatch, module: str, name: str, value: Any) -> None:
    fake = ModuleType(module)
    setattr(fake, name, value)
    monkeypatch.setitem(sys.modules, module, fake)
