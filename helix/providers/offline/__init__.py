"""The offline provider: no key, no network, the same answer each time.

Vectors by WordLlama's token table, answers by quoting what a learned model says answers.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from llama_index.core.base.embeddings.base import BaseEmbedding, Embedding

from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.errors import SettingsError
from helix.evidence.vectors import IDENTITY, WIDTH, is_loaded, word_vectors
from helix.providers.base import Embedder, LanguageModel
from helix.providers.offline.answerer import IDENTITY as ANSWERER_IDENTITY
from helix.providers.offline.answerer import OfflineLLM
from helix.settings import Settings

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


MAX_DISTANCE = 0.78
"""The gate's default ceiling, a cosine distance: wide, for the answerer abstains by itself
(evals/CALIBRATION.md, decision record 0080)."""
TITLE = "No model: quotes only"
"""The answerer's ``LanguageModel.title``."""


def offline_embedder(settings: Settings, model: str, *, patient: bool = False) -> Embedder:
    """WordLlama's 256 numbers a text, padded with zeros to 1536; neither option means it anything.

    Raises:
        SettingsError: a model was named; there is one only.
    """
    _refuse_model("HELIX_EMBEDDER", model)
    return Embedder(
        model=OfflineEmbedding(model_name=IDENTITY, embed_batch_size=MAX_BATCH),
        identity=IDENTITY,
        max_distance=MAX_DISTANCE,
        max_batch=MAX_BATCH,
        local=True,
    )


def offline_llm(settings: Settings, model: str) -> LanguageModel:
    """The extractive answerer; raises as offline_embedder does."""
    _refuse_model("HELIX_LLM", model)
    return LanguageModel(
        model=OfflineLLM(risk=settings.offline_risk),
        identity=ANSWERER_IDENTITY,
        sees=False,
        reads_beside=True,
        title=TITLE,
    )


def _refuse_model(variable: str, model: str) -> None:
    if model:
        raise SettingsError(f"{variable}=offline takes no model name: set it to offline alone")
