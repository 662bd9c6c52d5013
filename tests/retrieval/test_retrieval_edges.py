"""Retrieval at its limits, and where a helper of it fails, must not quietly do something else."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import psycopg
import pytest

from helix.domain.records import Candidate, Hit, SearchResult
from helix.domain.retrieval import Fusion
from helix.domain.scope import Scope
from helix.errors import UpstreamError
from helix.retrieval.gated_retriever import GatedRetriever
from helix.retrieval.reranking.stage import RERANKED, Reranking
from helix.retrieval.vector_space import Space
from helix.storage.statements import scopes
from helix.store import ChunkStore
from tests.support.fake_embedder import documents, opened, record, word_embedder, write
from tests.support.search_statements import indexed_searches
from tests.support.wire.gemini import word_vector

NAMED = "x404b valve"


@pytest.fixture
def never_few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with indexed_searches(monkeypatch):
        yield


def _no_statistics(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE pg_class SET reltuples = 0 WHERE relname = 'chunks'")


async def test_the_gate_by_name_looks_at_what_will_be_answered_from(database_url: str) -> None:
    """Not at candidates beyond, which debug brings and top_k leaves out."""
    async with opened(database_url) as store:
        await asyncio.to_thread(write, store, record("near.txt", "valve valve valve"))
        named = "The x404b valve of the old pump in the cellar was made long ago by somebody."
        await asyncio.to_thread(write, store, record("named.txt", named))
        retriever = GatedRetriever(store, Space(word_embedder(), 0.0, Fusion(1.0), lexical=True))
        for deep in (False, True):
            one = await retriever.search(NAMED, top_k=1, deep=deep)
            assert [hit.source_uri for hit in one.hits] == ["near.txt"]
            assert (one.reason, one.decision.by_name) == ("below_gate", False)
            two = await retriever.search(NAMED, top_k=2, deep=deep)
            assert (two.reason, two.decision.by_name) == (None, True)
            assert "named.txt" in [source.hit.source_uri for source in two.sources]


@pytest.mark.parametrize(
    ("local", "ceiling", "question", "passes"),
    [
        (True, 0.01, "How many days are refunds accepted?", True),
        (True, 0.01, "Who wrote the anthem of Mongolia?", False),
        (True, 0.02, "How many days are refunds accepted?", False),  # set by the operator
        (False, 0.01, "How many days are refunds accepted?", False),
    ],
)
async def test_what_is_far_is_read_by_embedders_of_this_machine(
    database_url: str, local: bool, ceiling: float, question: str, passes: bool
) -> None:
    embedder = replace(word_embedder(), local=local, max_distance=0.01)
    async with opened(database_url) as store:
        text = "Refunds are accepted within thirty days of the purchase."
        await asyncio.to_thread(write, store, record("refunds.txt", text))
        found = await GatedRetriever(store, Space(embedder, ceiling)).search(question)
    assert (found.decision.by_evidence, found.reason) == (passes, None if passes else "below_gate")


async def test_a_chunk_that_moved_or_was_retitled_does_not_hold(database_url: str) -> None:
    text = "Refunds are accepted within thirty days."
    async with opened(database_url) as store:
        await asyncio.to_thread(write, store, record("a.txt", text))
        (hit,) = await store.search(word_vector(text), 1)
        assert await store.holds([hit])
        await asyncio.to_thread(write, store, record("a.txt", text))
        assert await store.holds([hit]), "what was written again as it was still holds"
        await asyncio.to_thread(write, store, record("a.txt", text, "Another Title"))
        assert not await store.holds([hit])
        await asyncio.to_thread(write, store, record("a.txt", f"New.\n\n{text}"))
        hits = await store.search(word_vector(text), 2)
        moved = next(found for found in hits if found.content == text)
        assert not await store.holds([hit]) and await store.holds([moved])
        assert not await store.holds([hit, moved])


async def test_a_narrow_search_keeps_its_exact_matches(database_url: str, never_few: None) -> None:
    """However many chunks of other documents match better."""
    async with opened(database_url) as store:
        better = "\n\n".join(f"bolt bolt x404b {n}" for n in range(150))
        await asyncio.to_thread(write, store, record("better.txt", better))
        worse = "A bolt of the kind x404b, among many other words of another text."
        await asyncio.to_thread(write, store, record("worse.txt", worse))
        _no_statistics(database_url)
        wanted, _ = documents(database_url)["worse.txt"]
        scope = Scope(document_ids=(wanted,))
        found = await store.search_hybrid("bolt x404b", word_vector("zebra"), 5, scope)
        assert [hit.document_id for hit in found.hits] == [wanted]
        assert found.scores[0] > 0


async def test_an_index_that_gives_up_is_made_up_for(
    database_url: str, never_few: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient = scopes.SEARCH_SETTINGS.replace("'20000'", "'1'")
    monkeypatch.setattr("helix.storage.tenant_store.SEARCH_SETTINGS", impatient)
    async with opened(database_url, ef_search=10) as store:
        near = "\n\n".join(f"water of the river {n}" for n in range(300))
        await asyncio.to_thread(write, store, record("near.txt", near))
        far = "\n\n".join(f"teacher at school {n}" for n in range(20))
        await asyncio.to_thread(write, store, record("far.txt", far))
        _no_statistics(database_url)
        scope = Scope(source_prefix="far")
        vector = word_vector("water of the river")
        assert len(await store.search(vector, 10, scope)) == 10
        assert len((await store.search_hybrid("river", vector, 10, scope)).hits) == 10


@dataclass
class _Terms:
    """A rewriter that knows one thing."""

    said: str

    async def terms(self, question: str) -> str | None:
        return self.said


async def test_terms_that_cannot_be_searched_cost_no_answer(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = word_embedder()
    embed = type(embedder.model)._aget_query_embedding

    async def failing(self: object, query: str) -> list[float]:
        if query == "terms":
            raise UpstreamError("too many requests; try again")
        return await embed(self, query)  # type: ignore[arg-type]

    monkeypatch.setattr(type(embedder.model), "_aget_query_embedding", failing)
    async with opened(database_url) as store:
        await asyncio.to_thread(write, store, record("a.txt", "The water of the river."))
        space = Space(embedder, 2.0, Fusion(0.5))
        alone = await GatedRetriever(store, space).search("river")
        beside = await GatedRetriever(store, space, rewriter=_Terms("terms")).search("river")
        assert alone.hits == beside.hits != []
        with pytest.raises(UpstreamError):
            await GatedRetriever(store, space, rewriter=_Terms("x")).search("terms")


@dataclass
class _Scripted:
    """A reranker that prefers what came last, or fails."""

    fails: bool = False
    identity: str = "scripted:one"
    min_score: float | None = None

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        if self.fails:
            raise UpstreamError("no")
        return [float(place) for place in range(len(texts))]

    async def aclose(self) -> None:
        return None


def _found(count: int, fused: float = 0.01) -> SearchResult:
    hit = Hit(0, 1, "T", "t", 0, "text", 0, 4, "n", 0.1)
    return SearchResult(
        [Candidate(replace(hit, chunk_id=n), fused, n + 1) for n in range(count)], 0.1
    )


@pytest.mark.parametrize("fails", [False, True])
async def test_what_is_not_reranked_stays_behind(fails: bool) -> None:
    found = _found(RERANKED + 10)
    hits, scores, enough = await Reranking(_Scripted(fails), 1).apply("q", found)
    ids = [hit.chunk_id for hit in hits]
    first = list(range(RERANKED)) if fails else list(reversed(range(RERANKED)))
    assert ids == [*first, *range(RERANKED, RERANKED + 10)]
    assert (scores is None, enough) == (fails, True)


async def test_the_threshold_of_one_search_is_not_for_several() -> None:
    reranking = Reranking(_Scripted(fails=True), 1)
    assert not (await reranking.apply("q", _found(3), Fusion()))[2], "0.01 is below 0.030"
    assert (await reranking.apply("q", replace(_found(3), searches=2), Fusion()))[2]


async def test_no_hit_is_lost_to_a_store_that_is_not_indexed(database_url: str) -> None:
    """Chunks of another release, without terms: found by distance, all compared."""
    async with opened(database_url) as store:
        await asyncio.to_thread(_fill, store)
        with store.connection() as connection:
            connection.execute("DELETE FROM chunk_terms")
        found = await store.search_hybrid("water", word_vector("water"), 5)
        assert len(found.hits) == 3
        assert await store.fill_terms() == 3
        found = await store.search_hybrid("water", word_vector("water"), 5)
        assert found.scores[0] > 0


def _fill(store: ChunkStore) -> None:
    for n in range(3):
        write(store, record(f"{n}.txt", f"The water of river {n}."))
