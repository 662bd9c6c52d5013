"""The offline embedder: WordLlama's vectors behind LlamaIndex's embedding interface."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from llama_index.core.base.embeddings.base import BaseEmbedding, Embedding

from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.evidence.vectors import WIDTH, is_loaded, word_vectors

MAX_BATCH = 64
"""Texts a call: LlamaIndex validates each batch's floats on the event loop, 256 cost it 43 ms."""

_PADDING = [0.0] * (EMBEDDING_DIMENSIONS - WIDTH)
_worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="offline-embedding")
"""One thread: several fight the event loop for the interpreter's lock (90 ms of silence measured
while embedding 2,000 abstracts, 7 with one), and the tokenizer is parallel by itself."""
_INLINE_CHARS = 2000
"""A shorter text is embedded on the event loop: under 0.5 ms, less than a thread's round trip."""


class OfflineEmbedding(BaseEmbedding):
    """Vectors of 1536 numbers: 256 of length 1, then zeros, which change no cosine.

    Needs no key and no network, and is deterministic. Questions and passages share one space.
    A text without a word gives zeros only; its distance to anything is NaN, which the gate
    refuses. The model is read from disk once a process, on first use.
    """

    @classmethod
    def class_name(cls) -> str:
        return "OfflineEmbedding"

    def _get_text_embeddings(self, texts: list[str]) -> list[Embedding]:
        return [row.tolist() + _PADDING for row in word_vectors().embed(texts)]

    def _get_text_embedding(self, text: str) -> Embedding:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> Embedding:
        return self._get_text_embedding(query)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[Embedding]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(_worker, self._get_text_embeddings, texts)

    async def _aget_text_embedding(self, text: str) -> Embedding:
        if is_loaded() and len(text) <= _INLINE_CHARS:
            return self._get_text_embedding(text)
        return (await self._aget_text_embeddings([text]))[0]

    async def _aget_query_embedding(self, query: str) -> Embedding:
        return await self._aget_text_embedding(query)
