"""Search scores of a tenant: numbers that what other tenants have stored does not change."""

from __future__ import annotations

import asyncio

from helix.domain.records import SearchResult
from helix.domain.retrieval import Fusion
from helix.domain.scope import Scope
from helix.store import ChunkStore
from tests.support.fake_embedder import opened, record, write
from tests.support.texts import paragraphs
from tests.support.wire.gemini import word_vector


async def test_scores_and_distances_know_of_no_other_tenant(database_url: str) -> None:
    """Chunks that share all their words with the tenant's change no number of its search."""
    texts = paragraphs(14)

    def fill(store: ChunkStore, tenant: str, some: list[str]) -> None:
        for number, text in enumerate(some):
            write(store.of(tenant), record(f"{number}.txt", text))

    async def found(store: ChunkStore) -> list[SearchResult]:
        return [
            await store.search_hybrid(question, word_vector(question), 20, scope, fusion)
            for question in ("the water of the mountain river", "policy report time")
            for scope in (Scope("a"), Scope("a", source_prefix="1"))
            for fusion in (Fusion(), Fusion(0.3))
        ]

    async with opened(database_url) as store:
        await asyncio.to_thread(fill, store, "a", texts[:7])
        before = await found(store)
        assert all(each.candidates for each in before)
        await asyncio.to_thread(fill, store, "b", texts)
        await asyncio.to_thread(fill, store, "c", texts[3:6])
        assert await found(store) == before
        await asyncio.to_thread(store.of("b").clear)
        assert await found(store) == before
