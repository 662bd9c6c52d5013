"""The space that a retrieval says it was made in, and the cost of reading more candidates."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from helix.domain.retrieval import Fusion, SearchSpace
from helix.domain.scope import Scope
from helix.retrieval.gated_retriever import GatedRetriever
from helix.retrieval.vector_space import Space
from helix.store import ChunkStore
from tests.support.fake_embedder import (
    WordEmbedding,
    opened,
    record,
    rows,
    word_embedder,
    write,
)
from tests.support.service_process import eventually
from tests.support.texts import paragraphs

QUESTION = "the water of the mountain river"
OTHER = "fake:other:1536"


@dataclass
class Terms:
    """A rewriter that knows one thing, and notes what it was asked."""

    asked: list[str] = field(default_factory=list)

    async def terms(self, question: str) -> str | None:
        self.asked.append(question)
        return "bread butter sugar coffee"


async def test_a_retrieval_keeps_its_space_though_the_retriever_settles_on_another(
    database_url: str,
) -> None:
    first = Space(word_embedder(), 0.9, Fusion(0.5))
    second = Space(word_embedder(OTHER), 1.7, None, lexical=True)
    async with opened(database_url) as store:
        await asyncio.to_thread(write, store, record("a.txt", "Water of the river."))
        retriever = GatedRetriever(store, first, following=[second])
        before = await retriever.search(QUESTION)
        rows(database_url, "UPDATE embedding_space SET identity = %s RETURNING 1", OTHER)
        after = await retriever.search(QUESTION)
    assert retriever.space is second
    assert before.space == SearchSpace(first.embedder.identity, 0.9, Fusion(0.5), lexical=False)
    assert after.space == SearchSpace(OTHER, 1.7, None, lexical=True)


@pytest.mark.parametrize("fusion", [None, Fusion(0.5), Fusion()], ids=["dense", "sum", "rrf"])
async def test_a_deep_search_is_the_plain_one_with_more_of_its_candidates(
    database_url: str, fusion: Fusion | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same embeddings and searches, the rewriter's terms among them, and the same sources."""
    counts: Counter[str] = Counter()
    embed, run_search = WordEmbedding._aget_query_embedding, ChunkStore.run_search

    async def embedding(self: WordEmbedding, query: str) -> list[float]:
        counts[f"embed {query}"] += 1
        return await embed(self, query)

    async def searching(self: ChunkStore, search: Any) -> Any:
        counts["search"] += 1
        return await run_search(self, search)

    monkeypatch.setattr(WordEmbedding, "_aget_query_embedding", embedding)
    monkeypatch.setattr(ChunkStore, "run_search", searching)
    rewriter = Terms()
    async with opened(database_url) as store:
        for n, text in enumerate(paragraphs(60, 3)):
            # each twice, so that there are equal distances and scores to order
            await asyncio.to_thread(write, store, record(f"{n}.txt", text))
            await asyncio.to_thread(write, store, record(f"copy of {n}.txt", text))
        retriever = GatedRetriever(store, Space(word_embedder(), 2.0, fusion), rewriter=rewriter)
        plain = await retriever.search(QUESTION, top_k=5)
        asked_plainly = counts.copy()
        counts.clear()
        deep = await retriever.search(QUESTION, top_k=5, deep=True)
    assert counts == asked_plainly == Counter(
        {f"embed {QUESTION}": 1, "embed bread butter sugar coffee": 1, "search": 2}
    )  # fmt: skip
    assert rewriter.asked == [QUESTION, QUESTION]
    assert replace(deep, trace=plain.trace) == plain
    assert deep.trace.terms == plain.trace.terms == "bread butter sugar coffee"
    ids = [candidate.hit.chunk_id for candidate in deep.trace.candidates]
    assert len(set(ids)) == len(ids) > len(plain.trace.candidates)
    assert deep.trace.candidates[: len(plain.trace.candidates)] == plain.trace.candidates
    about_bread = [hit for hit in (c.hit for c in deep.trace.candidates) if "bread" in hit.content]
    assert about_bread, "what only the rewriter's terms find is among the candidates"


async def test_blocking_code_gets_what_awaiting_code_gets(database_url: str) -> None:
    """From a thread, and from inside a running event loop, whose pool is open already."""
    rewriter = Terms()
    async with opened(database_url) as store:
        await asyncio.to_thread(write, store, record("a.txt", "Water of the river."))
        await asyncio.to_thread(write, store, record("b.txt", "Bread and butter."))
        retriever = GatedRetriever(
            store, Space(word_embedder(), 2.0, Fusion(0.5)), rewriter=rewriter
        )
        awaited = [node.node_id for node in await retriever.aretrieve(QUESTION)]
        assert len(awaited) == 2
        within_the_loop = [node.node_id for node in retriever.retrieve(QUESTION)]
        threads = [asyncio.to_thread(retriever.retrieve, QUESTION) for _ in range(8)]
        in_threads = [[node.node_id for node in nodes] for nodes in await asyncio.gather(*threads)]
        assert within_the_loop == awaited and in_threads == [awaited] * 8
        assert len(rewriter.asked) == 10, "the rewriter is asked by blocking code too"
        nowhere = Scope(source_prefix="nowhere")
        nothing = store.connections.run_blocking(retriever.search, QUESTION, nowhere)
        assert nothing.reason == "filtered_empty"
        assert [node.node_id for node in await retriever.aretrieve(QUESTION)] == awaited


def test_a_store_that_only_blocking_code_uses_closes(database_url: str) -> None:
    store = ChunkStore(database_url, word_embedder().identity)
    write(store, record("a.txt", "Water of the river."))
    retriever = GatedRetriever(store, Space(word_embedder(), 2.0))
    assert len(retriever.retrieve(QUESTION)) == 1
    asyncio.run(store.close())
    others = (
        "SELECT FROM pg_stat_activity WHERE datname = current_database()"
        " AND pid <> pg_backend_pid()"
    )
    assert eventually(lambda: not rows(database_url, others)), "a server's process ends by itself"
