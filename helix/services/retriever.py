"""The retriever of a process: its vector spaces, reranker, rewriter and calibration."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from helix.providers.base import LanguageModel
from helix.retrieval.calibration import build_calibration
from helix.retrieval.embedding_cache import with_cache
from helix.retrieval.gated_retriever import GatedRetriever
from helix.retrieval.reranking import build_reranker
from helix.retrieval.reranking.base import Reranker
from helix.retrieval.reranking.stage import Reranking
from helix.retrieval.rewriting import build_rewriter
from helix.retrieval.rewriting.model import ModelRewriter
from helix.retrieval.vector_space import Space
from helix.services.models import closed_by
from helix.settings import Settings
from helix.storage.tenant_store import TenantStore


@dataclass(frozen=True)
class Retrieving:
    """An open retriever, with its rewriter and its reranker where the settings name one."""

    retriever: GatedRetriever
    rewriter: ModelRewriter | None
    reranking: Reranking | None

    @property
    def reranker(self) -> str | None:
        """The reranker's identity."""
        return self.reranking.reranker.identity if self.reranking else None


async def open_retriever(
    settings: Settings, llm: LanguageModel, store: TenantStore, spaces: list[Space],
    stack: AsyncExitStack,
) -> Retrieving:  # fmt: skip
    """The retriever over ``store`` in ``spaces``; what it opens is closed with ``stack``.

    Raises:
        SettingsError: as build_reranker does.
    """
    reranking = await _reranking(settings, stack)
    rewriter = build_rewriter(llm, enabled=settings.rewrite, timeout=settings.rewrite_timeout)
    if rewriter:
        closed_by(stack, rewriter)
    first, *others = (_cached(space, store, settings) for space in spaces)
    retriever = GatedRetriever(
        store, first, top_k=settings.retrieval_top_k, max_tokens=settings.max_context_tokens,
        max_sources=settings.max_context_chunks, following=others, rewriter=rewriter,
        reranking=reranking, calibration=build_calibration(settings),
    )  # fmt: skip
    return Retrieving(retriever, rewriter, reranking)


async def _reranking(settings: Settings, stack: AsyncExitStack) -> Reranking | None:
    """The reranker of HELIX_RERANKER, closed with ``stack``."""
    reranker = await asyncio.to_thread(reranker_of, settings)
    if reranker is None:
        return None
    return Reranking(closed_by(stack, reranker), settings.rerank_timeout)


def reranker_of(settings: Settings) -> Reranker | None:
    """The reranker of HELIX_RERANKER; it blocks, and raises, as build_reranker does."""
    keys = {"COHERE_API_KEY": settings.cohere_api_key, "VOYAGE_API_KEY": settings.voyage_api_key}
    return build_reranker(
        settings.reranker, keys=keys, timeout=settings.rerank_timeout,
        min_score=settings.rerank_min_score,
    )  # fmt: skip


def _cached(space: Space, store: TenantStore, settings: Settings) -> Space:
    """``space`` with its embedder behind the cache; a local embedder is faster than the cache."""
    if space.embedder.local:
        return space
    return replace(space, embedder=with_cache(space.embedder, store, settings.embed_cache_mb))
