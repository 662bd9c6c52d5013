"""Hybrid search on 100,000 chunks: beside its own two halves, at once, and for a small tenant.

A search is one statement; its floor is the slower of the two that it stands for, each by itself:
the 50 nearest, and BM25's first 50. Every question goes to every contender in turn.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.database import server
from benchmarks.harness import Options, Report, main, ms, p50, p99, percentiles
from benchmarks.sentence_windows import IDENTITY, SMALL, EmbeddedQuestion, fill_windows, questions
from helix.domain.records import SearchResult
from helix.domain.retrieval import DEFAULT_FUSION
from helix.domain.scope import DEFAULT_TENANT, Scope
from helix.providers.base import Embedder
from helix.providers.offline import OfflineEmbedding
from helix.retrieval.gated_retriever import GatedRetriever
from helix.retrieval.vector_space import Space
from helix.storage.searches import dense_search, hybrid_search
from helix.storage.statements.dense_search import dense_statement
from helix.storage.statements.hybrid_search import hybrid_statement
from helix.store import ChunkStore

ROWS, QUICK_ROWS = 100_000, 6_000
TOP_K = 10
EF_SEARCH = 100
AT_ONCE = (1, 8, 32)
WHOLE_RATIO, TENANT_RATIO, TENANT_RECALL = 1.1, 1.5, 0.95
_EXACT = """
SELECT id FROM chunks WHERE tenant_id = %(tenant)s
ORDER BY (embedding <=> %(vector)b) + 0, id LIMIT %(top_k)s
"""

Search = Callable[[EmbeddedQuestion], Awaitable[Any]]
EVERYTHING, NARROW = Scope(DEFAULT_TENANT), Scope(SMALL)


async def run(options: Options, report: Report) -> None:
    """One size, whatever ``options.rows`` says but for a quick look."""
    asked = questions(options.data)
    rows = QUICK_ROWS if options.quick else ROWS
    with server() as postgres, postgres.database() as url:
        store = ChunkStore(url, IDENTITY, ef_search=EF_SEARCH, pool_size=max(AT_ONCE))
        try:
            await fill_windows(store, options.data, rows)
            await _compare(store, asked[: 60 if options.quick else None], rows, report)
            await _stages(store, asked, report)
            await _recall(store, asked[:100], report)
        finally:
            await store.close()


def _contenders(store: ChunkStore) -> dict[str, Search]:
    async def dense(question: EmbeddedQuestion) -> Any:
        search = hybrid_search("", question.vector, TOP_K, EVERYTHING, DEFAULT_FUSION, EF_SEARCH)
        of_distance = replace(
            search, statement=dense_statement(()), read=lambda _: SearchResult([], None)
        )
        return await store.run_search(of_distance)

    async def lexical(question: EmbeddedQuestion) -> Any:
        search = hybrid_search(
            question.text, question.vector, TOP_K, EVERYTHING, DEFAULT_FUSION, EF_SEARCH
        )
        return await store.run_search(replace(search, statement=hybrid_statement((), dense=False)))

    async def hybrid(question: EmbeddedQuestion) -> Any:
        return await store.search_hybrid(question.text, question.vector, TOP_K, EVERYTHING)

    async def of_small(question: EmbeddedQuestion) -> Any:
        return await store.search_hybrid(question.text, question.vector, TOP_K, NARROW)

    async def dense_of_small(question: EmbeddedQuestion) -> Any:
        return await store.search(question.vector, TOP_K, NARROW)

    return {
        "the 50 nearest": dense,
        "BM25's first 50": lexical,
        "hybrid": hybrid,
        "hybrid, a tenant of 1%": of_small,
        "by distance, a tenant of 1%": dense_of_small,
    }


async def _compare(
    store: ChunkStore, asked: Sequence[EmbeddedQuestion], rows: int, report: Report
) -> None:
    """Each contender at each number of questions at once."""
    contenders = _contenders(store)
    for at_once in AT_ONCE:
        for search in contenders.values():  # connections, plans and caches
            await _timed(search, asked[: 4 * at_once], at_once)
        taken: dict[str, list[float]] = {name: [] for name in contenders}
        for start in range(0, len(asked), 50):
            for name, search in contenders.items():
                taken[name] += await _timed(search, asked[start : start + 50], at_once)
        _report(report, taken, rows, at_once)


async def _timed(search: Search, asked: Sequence[EmbeddedQuestion], at_once: int) -> list[float]:
    """Seconds of each question, ``at_once`` of them under way."""
    seconds: list[float] = []
    waiting = iter(asked)

    async def go_on() -> None:
        for question in waiting:
            started = time.perf_counter()
            await search(question)
            seconds.append(time.perf_counter() - started)

    await asyncio.gather(*(go_on() for _ in range(at_once)))
    return seconds


def _report(report: Report, taken: dict[str, list[float]], rows: int, at_once: int) -> None:
    middle = {name: p50(seconds) for name, seconds in taken.items()}
    floor = max(middle["the 50 nearest"], middle["BM25's first 50"])
    report.table(
        f"hybrid: {rows:,} chunks, {at_once} questions at once",
        ["search", "p50 ms", "p99 ms", "/ the slower half"],
        [
            [name, ms(middle[name]), ms(p99(seconds)), f"{middle[name] / floor:.2f}"]
            for name, seconds in taken.items()
        ],
    )
    report.at_most(
        f"hybrid / the slower of its halves, p50, {at_once} at once",
        middle["hybrid"] / floor,
        WHOLE_RATIO,
    )
    report.at_most(
        f"hybrid of a tenant of 1% / of all, p50, {at_once} at once",
        middle["hybrid, a tenant of 1%"] / middle["hybrid"],
        TENANT_RATIO,
    )


async def _stages(store: ChunkStore, asked: Sequence[EmbeddedQuestion], report: Report) -> None:
    """Measure the stages of a retrieval, from the question's text to its sources."""
    embedder = Embedder(model=OfflineEmbedding(), identity=IDENTITY, max_distance=2, local=True)
    retriever = GatedRetriever(store, Space(embedder, 2, DEFAULT_FUSION))
    taken: dict[str, list[float]] = {}
    for question in asked:
        started = time.perf_counter()
        retrieval = await retriever.search(question.text)
        whole = time.perf_counter() - started
        seconds = {stage: retrieval.trace.seconds[stage] for stage in ("embed", "search")}
        seconds["gate and context"] = whole - sum(seconds.values())
        for stage, value in (*seconds.items(), ("whole", whole)):
            taken.setdefault(stage, []).append(value)
    whole = p50(taken["whole"])
    report.table(
        "hybrid: the stages of a retrieval of 5 sources, one question at a time",
        ["stage", "p50 ms", "p99 ms", "share"],
        [
            [stage, *percentiles(values), f"{p50(values) / whole:.0%}"]
            for stage, values in taken.items()
        ],
    )


async def _recall(store: ChunkStore, asked: Sequence[EmbeddedQuestion], report: Report) -> None:
    found = {SMALL: 0.0, DEFAULT_TENANT: 0.0}
    for tenant in found:
        for question in asked:
            hits = await store.search(question.vector, TOP_K, Scope(tenant))
            values = dense_search(question.vector, TOP_K, Scope(tenant), EF_SEARCH).values
            with store.connection() as connection:
                exact = connection.cursor(binary=True).execute(_EXACT, values).fetchall()
            found[tenant] += len({hit.chunk_id for hit in hits} & {row[0] for row in exact})
    of_small, of_all = (found[tenant] / len(asked) / TOP_K for tenant in found)
    report.at_least("recall@10 of a tenant of 1% against exact search", of_small, TENANT_RECALL)
    # windows of the same sentences lie close together, which is hard on the index
    report.table(
        f"hybrid: recall@10 by distance against exact search, ef_search {EF_SEARCH}",
        ["tenant", "recall@10"],
        [["of 1%, compared one by one", f"{of_small:.3f}"],
         ["of 99%, through the index", f"{of_all:.3f}"]],
    )  # fmt: skip


if __name__ == "__main__":
    main({"hybrid": run})
