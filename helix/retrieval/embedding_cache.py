"""Vectors already paid for: an embedder that asks the database before it asks the model.

Keyed by embedder, task and text, so another model, width or task never gets a foreign vector. A
question whose cache fails is embedded as if there were none. A document's read of the cache that
fails is an error: what is embedded while the database is away could not be stored anyway.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr

from helix.errors import StoreUnavailable
from helix.providers.base import Embedder
from helix.storage.cache_rows import CacheRows, Floats
from helix.storage.cache_rows import cache_key as cache_key
from helix.storage.tenant_store import TenantStore

QUESTION_SECONDS = 1.0
"""Longest that a question waits for the cache: more than any model saves by it."""
RESTING_SECONDS = 30.0
"""Seconds that questions do without a cache that failed."""
_CHECKS = 64  # how often a limit's worth of new vectors is measured

_logger = logging.getLogger(__name__)


def with_cache(embedder: Embedder, store: TenantStore, limit_mb: int) -> Embedder:
    """``embedder`` behind the cache in ``store``'s database, of ``limit_mb`` MB; 0 is no cache.

    Its ``model`` is then a CachedEmbedding. Closing it closes the embedder's own connections.
    """
    if not limit_mb or isinstance(embedder.model, CachedEmbedding):
        return embedder
    return replace(
        embedder,
        model=CachedEmbedding(
            embedder, CacheRows(store.connections, store.tenant), limit_mb * 2**20
        ),
    )


class CachedEmbedding(BaseEmbedding):
    """An embedding whose vectors are looked up first, and kept when they had to be made.

    Args:
        embedder: makes the vectors that are not there, at most ``max_batch`` in a request.
        rows: the rows of the cache in the database.
        limit: bytes to keep at most, about; past it the least recently used go.

    Raises what the embedder does, and StoreUnavailable where the cache of documents cannot be read.
    """

    _embedder: Embedder = PrivateAttr()
    _rows: CacheRows = PrivateAttr()
    _limit: int = PrivateAttr()
    _unmeasured: int = PrivateAttr()
    _rests_until: float = PrivateAttr(default=0.0)

    def __init__(self, embedder: Embedder, rows: CacheRows, limit: int) -> None:
        super().__init__(
            model_name=embedder.model.model_name,
            embed_batch_size=embedder.max_batch,
            callback_manager=embedder.model.callback_manager,
        )
        self._embedder = embedder
        self._rows = rows
        self._limit = limit
        self._unmeasured = limit  # so that the first that is kept is measured with the rest

    @classmethod
    def class_name(cls) -> str:
        return "CachedEmbedding"

    async def embed(self, texts: Sequence[str]) -> list[Floats]:
        """One vector of 1536 numbers a text of a document, in order.

        One statement looks all of them up, one request makes those that are missing (several where
        they are more than ``max_batch``), and they are kept at once; a text twice is made once.
        """
        await self._embedder.learn_width()
        keys = [cache_key(self._embedder.vector_space, "document", text) for text in texts]
        by_key = dict(zip(keys, texts, strict=True))
        vectors = await self._rows.find(list(by_key))
        if missing := {key: text for key, text in by_key.items() if key not in vectors}:
            made = await self._embedder.model.aget_text_embedding_batch(list(missing.values()))
            new = dict(zip(missing, map(_as_floats, made), strict=True))
            await self._keep(new)
            vectors |= new
        return [vectors[key] for key in keys]

    async def _keep(self, vectors: Mapping[str, Floats]) -> None:
        """Keep what was made; paid for as it is, it is not lost to the caller if that fails."""
        try:
            self._unmeasured += await self._rows.put(self._embedder.vector_space, vectors)
            if self._unmeasured >= self._limit // _CHECKS:
                self._unmeasured = 0
                await asyncio.to_thread(self._rows.make_room, self._limit)
        except StoreUnavailable as problem:
            self._complain(problem)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return [vector.tolist() for vector in await self.embed(texts)]

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return (await self._aget_text_embeddings([text]))[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        if self._embedder.local:
            return await self._embedder.model.aget_query_embedding(query)
        await self._embedder.learn_width()
        key = cache_key(self._embedder.vector_space, "query", query)
        vector = (await self._find_soon([key])).get(key)
        if vector is None:
            vector = _as_floats(await self._embedder.model.aget_query_embedding(query))
            if not self._rests():
                await self._keep_soon({key: vector})
        numbers: list[float] = vector.tolist()
        return numbers

    async def _find_soon(self, keys: list[str]) -> dict[str, Floats]:
        """The cache's entries, or nothing where it fails or takes longer than it could save."""
        if self._rests():
            return {}
        try:
            async with asyncio.timeout(QUESTION_SECONDS):
                return await self._rows.find(keys)
        except (StoreUnavailable, TimeoutError) as problem:
            self._complain(problem)
            return {}

    async def _keep_soon(self, vectors: Mapping[str, Floats]) -> None:
        try:
            async with asyncio.timeout(QUESTION_SECONDS):
                await self._keep(vectors)
        except TimeoutError as problem:
            self._complain(problem)

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._rows.run_blocking(self._aget_text_embeddings, texts)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._rows.run_blocking(self._aget_query_embedding, query)

    def _rests(self) -> bool:
        return time.monotonic() < self._rests_until

    def _complain(self, problem: Exception) -> None:
        if not self._rests():
            kind = type(problem).__name__
            _logger.warning("the embedding cache failed (%s): going on without it", kind)
        self._rests_until = time.monotonic() + RESTING_SECONDS


def _as_floats(vector: Sequence[float]) -> Floats:
    return np.asarray(vector, dtype=np.float32)
