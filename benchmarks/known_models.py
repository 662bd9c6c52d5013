"""Models for the serving benchmark: LlamaIndex models that take no time, or a known one.

Each says what it took in the answer's first delta, so that a client can take embedding, search and
model out of the time it waited: ``<tag> <chunk id of source 1> <seconds spent so far>``. The other
deltas carry the question's tag, by which a client sees that a stream is its own.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ChatResponseAsyncGen
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import MockLLM

from benchmarks.corpus import IDENTITY
from helix.domain.records import SearchResult
from helix.providers.base import Embedder, LanguageModel
from helix.storage.tenant_store import TenantStore

DELTAS = 60
_TAG = re.compile(r"tag(\d+)")
_FIRST_SOURCE = re.compile(r"^\[1\] \(id=(\d+)\)", re.MULTILINE)

_spent: dict[str, float] = {}
"""By the tag of a question under way: seconds of its calls that are over. The calls are made in
several tasks, so no context variable would carry them."""


def deltas(tag: str) -> list[str]:
    """The deltas behind the first of the answer to ``tag``."""
    return [*(f"{tag}.{number} " for number in range(DELTAS - 2)), "[1]"]


def _tag(text: str) -> str:
    """The number in the last tag of a text, "0" where there is none."""
    found: list[str] = _TAG.findall(text)
    return found[-1] if found else "0"


class KnownEmbedding(BaseEmbedding):
    """A question's vector is one of the given, chosen by the number in its tag."""

    _vectors: list[list[float]] = PrivateAttr()
    _seconds: float = PrivateAttr()

    def __init__(self, vectors: list[list[float]], seconds: float) -> None:
        super().__init__(model_name="known")
        self._vectors = vectors
        self._seconds = seconds

    async def _aget_query_embedding(self, query: str) -> list[float]:
        started = time.perf_counter()
        if self._seconds:
            await asyncio.sleep(self._seconds)
        vector = self._get_query_embedding(query)
        _spent[_tag(query)] = time.perf_counter() - started
        return vector

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._vectors[int(_tag(query)) % len(self._vectors)]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_query_embedding(text)


class TimedStore(TenantStore):
    """TenantStore whose search is counted among the request's calls."""

    async def search_hybrid(self, question: str, *values: Any, **named: Any) -> SearchResult:
        started = time.perf_counter()
        found = await super().search_hybrid(question, *values, **named)
        _spent[_tag(question)] += time.perf_counter() - started
        return found


class KnownAnswer(MockLLM):
    """Streams the tag's deltas after ``seconds``, without delay between them."""

    _seconds: float = PrivateAttr()

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    async def astream_chat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponseAsyncGen:
        return self._answer(messages[-1].content or "", time.perf_counter())

    async def _answer(self, turn: str, started: float) -> AsyncGenerator[ChatResponse, None]:
        if self._seconds:
            await asyncio.sleep(self._seconds)
        number, source = _tag(turn), _FIRST_SOURCE.search(turn)
        tag = f"tag{number}"
        message = ChatMessage(role="assistant")
        spent = _spent.pop(number) + time.perf_counter() - started
        first = f"{tag} {source[1] if source else 0} {spent:.6f}\n"
        for delta in [first, *deltas(tag)]:
            yield ChatResponse(message=message, delta=delta)


def known_models(
    vectors: list[list[float]], embed_seconds: float, model_seconds: float
) -> tuple[Embedder, LanguageModel]:
    """Both as providers; the gate lets every question through.

    The embedder counts as a local one, which no cache is asked for first: that would be on the
    clock as Helix's own, and save the embedding that is to be waited for.
    """
    model = KnownEmbedding(vectors, embed_seconds)
    embedder = Embedder(model, IDENTITY, max_distance=2.0, local=True)
    return embedder, LanguageModel(KnownAnswer(model_seconds), "benchmark:known")
