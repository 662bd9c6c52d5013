"""GatedRetriever: what it keeps, what it gives to LlamaIndex code, sync and async."""

from __future__ import annotations

import asyncio
from typing import Any

from helix.answering.engine import CitationQueryEngine
from helix.domain.contract import REFUSAL
from helix.errors import UpstreamError
from helix.providers.base import LanguageModel
from helix.providers.offline.answerer import OfflineLLM
from helix.retrieval.gated_retriever import GatedRetriever
from helix.retrieval.vector_space import Space
from tests.support.fake_embedder import opened, record, word_embedder, write

TEXT = "Refunds are accepted within 30 days of purchase. Shipping takes four days."
QUESTION = "Within how many days are refunds accepted?"


async def test_a_question_leaves_nothing_behind(database_url: str) -> None:
    embedder = word_embedder()
    async with opened(database_url) as store:
        retriever = GatedRetriever(store, Space(embedder, 0.9))
        for _ in range(20):
            await retriever.search(QUESTION)
        kept = sum(len(ids) for ids in embedder.model.callback_manager._trace_map.values())
    assert kept <= 2


async def test_llamaindex_code_gets_the_same_answer(database_url: str) -> None:
    model = LanguageModel(model=OfflineLLM(), identity="offline", reads_beside=True)
    async with opened(database_url) as store:
        await asyncio.to_thread(write, store, record("a.txt", TEXT))
        retriever = GatedRetriever(store, Space(word_embedder(), 0.9))
        engine = CitationQueryEngine(retriever, model)
        awaited = await engine.aquery(QUESTION)
        blocking = await asyncio.to_thread(engine.query, QUESTION)
        streamed = await CitationQueryEngine(retriever, model, streaming=True).aquery(QUESTION)
        text = "".join([part async for part in streamed.response_gen])  # type: ignore[union-attr]
        assert str(awaited) == str(blocking) == text
        assert "30 days" in text and "[1]" in text
        assert [c["n"] for c in (awaited.metadata or {})["citations"]] == [1]
        (node,) = awaited.source_nodes
        assert node.node.metadata["source_uri"] == "a.txt"
        assert [n.node_id for n in await retriever.aretrieve(QUESTION)] == [
            n.node_id for n in await asyncio.to_thread(retriever.retrieve, QUESTION)
        ]


async def test_a_refusal_gives_no_node(database_url: str) -> None:
    model = LanguageModel(model=OfflineLLM(), identity="offline", reads_beside=True)
    async with opened(database_url) as store:
        await asyncio.to_thread(write, store, record("a.txt", TEXT))
        retriever = GatedRetriever(store, Space(word_embedder(), 0.0))
        assert await retriever.aretrieve(QUESTION) == []
        response = await CitationQueryEngine(retriever, model).aquery(QUESTION)
        assert (str(response), response.source_nodes) == (REFUSAL, [])


def test_upstream_errors_say_whether_to_try_again() -> None:
    assert UpstreamError("x").transient and not UpstreamError("x", transient=False).transient


async def test_the_room_for_sources_is_kept(database_url: str) -> None:
    text = "\n\n".join(f"Refunds are accepted within {n} days of purchase." for n in range(10, 14))
    async with opened(database_url) as store:
        await asyncio.to_thread(write, store, record("a.txt", text))
        rooms: dict[str, Any] = {
            "usual": {}, "few": {"max_sources": 2}, "short": {"max_tokens": 1},
        }  # fmt: skip
        counts = {}
        for name, room in rooms.items():
            retriever = GatedRetriever(store, Space(word_embedder(), 0.9), **room)
            found = await retriever.search(QUESTION)
            counts[name] = (len(found.hits), len(found.sources))
    assert counts["usual"][0] == counts["few"][0] == 4
    assert counts["usual"][1] > 2 and counts["few"][1] == 2 and counts["short"][1] == 1
