"""Search: the database part of GatedRetriever against one prepared raw statement.

The floor is the plainest statement that finds the same chunks, prepared, binary, on one connection
of the same driver with the same ef_search set on its session. It is run over the index of half
precision, which ChunkStore has, and over one of the vectors as they are, which the stock store has:
both stand in the one database. Every query goes to every contender in turn, so a busy machine slows
all of them alike. Recall is against exact search in NumPy.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import numpy as np
import psycopg
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters, VectorStoreQuery
from llama_index.vector_stores.postgres import PGVectorStore
from pgvector import Vector
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection, sql

from benchmarks import corpus
from benchmarks.corpus import IDENTITY, Corpus, Matrix, documents, fill
from benchmarks.database import STOCK_INDEX, Server, add_stock_index, server, stock_store
from benchmarks.harness import Options, Report, main, p50, p99, percentiles
from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.domain.scope import Scope
from helix.storage.indexes import HALF, INDEX_NAME, build_if_missing
from helix.store import ChunkStore

TOP_K = 10
EF_SEARCH = 100
P50_RATIO = 1.1
RECALL = 0.95

_RAW = f"""
SELECT node_id, content, embedding <=> %(vector)b AS distance
FROM chunks ORDER BY embedding::{HALF} <=> %(vector)b::{HALF} LIMIT 10
"""
_RAW_WHOLE = """
SELECT node_id, content, embedding <=> %(vector)b AS distance
FROM chunks ORDER BY embedding <=> %(vector)b LIMIT 10
"""
_INDEXES = """
SELECT indexrelid::regclass::text, pg_relation_size(indexrelid) / 1048576.0
FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam
WHERE indrelid = 'chunks'::regclass AND amname = 'hnsw' ORDER BY 1
"""
# SET takes no bound values; a literal of psycopg is quoted
_SESSION = sql.SQL("SET hnsw.ef_search = {}").format(sql.Literal(EF_SEARCH))

NodeIds = Sequence[str]
"""Nearest first."""


@dataclass(frozen=True)
class PreparedQuery:
    """One query in the forms that the contenders take, made before the clock starts."""

    numbers: list[float]
    vector: Vector
    nearest: set[str]
    document_id: int = 0


@dataclass
class Contender:
    """A way to search, and what was measured of it. Times in seconds."""

    name: str
    search: Callable[[PreparedQuery], Awaitable[NodeIds]]
    seconds: list[float] = field(default_factory=list)
    recalls: list[float] = field(default_factory=list)
    least_found: int = TOP_K

    async def take(self, query: PreparedQuery) -> None:
        """Search once, timed; what came back is compared after the clock has stopped."""
        started = time.perf_counter()
        found = await self.search(query)
        self.seconds.append(time.perf_counter() - started)
        self.recalls.append(len(query.nearest & set(found)) / len(query.nearest))
        self.least_found = min(self.least_found, len(found))

    @property
    def recall(self) -> float:
        """Mean recall@10."""
        return float(np.mean(self.recalls))


async def run(options: Options, report: Report) -> None:
    """Both sizes: SciFact as it is, and grown to ``options.rows``."""
    whole = corpus.load(options.data, options.rows)
    rounds = 1 if options.quick else 5
    with server() as postgres:
        for rows in sorted({min(corpus.ABSTRACTS, options.rows), options.rows}):
            await _one_size(postgres, whole.first(rows), rounds, report)


async def _one_size(postgres: Server, papers: Corpus, rounds: int, report: Report) -> None:
    with postgres.database() as url:
        async with AsyncExitStack() as stack:
            store = ChunkStore(url, IDENTITY, ef_search=EF_SEARCH)
            stack.push_async_callback(store.close)
            ids = await fill(store, papers)
            built = _build_again(url)
            stock = stock_store(url, ef_search=EF_SEARCH)
            stack.push_async_callback(stock.close)
            raw = await stack.enter_async_context(await _raw_connection(url))
            contenders = _contenders(store, raw, stock)
            queries = [_query(vector, papers.vectors, 0) for vector in papers.queries]
            await _measure(contenders, queries, rounds)
            _report_all(report, len(papers.texts), contenders)
            await _report_indexes(report, len(papers.texts), raw, built)
            filtered = _filtered(store, stock)
            await _measure(filtered, _queries_within(papers, ids), 1)
            _report_filtered(report, len(papers.texts), filtered)


async def _raw_connection(url: str) -> AsyncConnection[Any]:
    connection = await AsyncConnection.connect(url, autocommit=True)
    await register_vector_async(connection)
    await connection.execute(_SESSION)
    return connection


def _contenders(
    store: ChunkStore, raw: AsyncConnection[Any], stock: PGVectorStore
) -> list[Contender]:
    """The floor first."""

    async def by_raw(query: PreparedQuery, statement: str = _RAW) -> NodeIds:
        cursor = raw.cursor(binary=True)
        await cursor.execute(statement, {"vector": query.vector}, prepare=True)
        return [row[0] for row in await cursor.fetchall()]

    async def by_raw_whole(query: PreparedQuery) -> NodeIds:
        return await by_raw(query, _RAW_WHOLE)

    async def by_store(query: PreparedQuery) -> NodeIds:
        return [hit.node_id for hit in await store.search(query.numbers, TOP_K)]

    async def by_stock(query: PreparedQuery) -> NodeIds:
        return (await stock.aquery(_stock_query(query))).ids or []

    return [
        Contender("raw prepared statement (the floor)", by_raw),
        Contender("ChunkStore.search", by_store),
        Contender("stock PGVectorStore.aquery", by_stock),
        Contender("raw, over the index of whole vectors", by_raw_whole),
    ]


def _filtered(store: ChunkStore, stock: PGVectorStore) -> list[Contender]:
    async def by_store(query: PreparedQuery) -> NodeIds:
        hits = await store.search(query.numbers, TOP_K, Scope(document_ids=(query.document_id,)))
        return [hit.node_id for hit in hits]

    async def by_stock(query: PreparedQuery) -> NodeIds:
        # the stock store writes a filter's value into its SQL as text: this one is a number of ours
        wanted = MetadataFilter(key="document_id", value=str(query.document_id))
        filters = MetadataFilters(filters=[wanted])
        return (await stock.aquery(_stock_query(query, filters))).ids or []

    return [
        Contender("ChunkStore.search(document_id)", by_store),
        Contender("stock PGVectorStore.aquery(filters)", by_stock),
    ]


def _stock_query(query: PreparedQuery, filters: MetadataFilters | None = None) -> VectorStoreQuery:
    return VectorStoreQuery(query_embedding=query.numbers, similarity_top_k=TOP_K, filters=filters)


async def _measure(contenders: list[Contender], queries: list[PreparedQuery], rounds: int) -> None:
    for contender in contenders:  # connections opened, statements prepared, pages read
        for query in queries[:20]:
            await contender.take(query)
        contender.seconds.clear()
        contender.recalls.clear()
    for round_number in range(rounds):
        for number, query in enumerate(queries):
            first = (number + round_number) % len(contenders)
            for contender in contenders[first:] + contenders[:first]:
                await contender.take(query)


def _queries_within(papers: Corpus, ids: dict[int, int]) -> list[PreparedQuery]:
    """Each query about one document, in turn, that has at least ten chunks."""
    full = [paper for paper in documents(papers) if len(paper.spans) >= TOP_K]
    return [
        _query(vector, paper.vectors, paper.start, ids[paper.start])
        for vector, paper in zip(papers.queries, cycle(full), strict=False)
    ]


def _query(
    vector: np.ndarray[Any, np.dtype[np.float32]], among: Matrix, start: int, document_id: int = 0
) -> PreparedQuery:
    nearest = np.argsort(-(among @ vector), kind="stable")[:TOP_K] + start
    return PreparedQuery(
        vector.tolist(), Vector(vector), {corpus.node_id(int(row)) for row in nearest}, document_id
    )


def _report_all(report: Report, rows: int, contenders: list[Contender]) -> None:
    floor, ours = contenders[:2]
    columns = ["search", "p50 ms", "p99 ms", "p50 / floor", "p99 / floor", "recall@10"]
    report.table(
        f"search: {rows} chunks, top {TOP_K}, ef_search {EF_SEARCH}, {len(ours.seconds)} searches",
        columns,
        [
            [
                one.name,
                *percentiles(one.seconds),
                f"{p50(one.seconds) / p50(floor.seconds):.2f}",
                f"{p99(one.seconds) / p99(floor.seconds):.2f}",
                f"{one.recall:.3f}",
            ]
            for one in contenders
        ],
    )
    ratio = p50(ours.seconds) / p50(floor.seconds)
    report.at_most(f"search p50 / raw prepared statement, {rows} chunks", ratio, P50_RATIO)
    report.at_least(f"recall@10, {rows} chunks", ours.recall, RECALL)


def _build_again(url: str) -> dict[str, float]:
    """Seconds that each of the two vector indexes takes to build, by its name; both stand then."""
    seconds = {}
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(INDEX_NAME)))
        started = time.perf_counter()
        build_if_missing(connection)
        seconds[INDEX_NAME] = time.perf_counter() - started
    started = time.perf_counter()
    add_stock_index(url)
    seconds[STOCK_INDEX] = time.perf_counter() - started
    return seconds


async def _report_indexes(
    report: Report, rows: int, raw: AsyncConnection[Any], built: dict[str, float]
) -> None:
    """Of the same database before and after: size and build of the index, and what plans use it."""
    sizes = await (await raw.execute(_INDEXES)).fetchall()
    vector = Vector(np.ones(EMBEDDING_DIMENSIONS, dtype=np.float32))
    plans = {INDEX_NAME: _RAW, STOCK_INDEX: _RAW_WHOLE}
    lines = []
    for name, megabytes in sizes:
        plan = await raw.execute(f"EXPLAIN {plans[name]}", {"vector": vector})
        scans = [line for (line,) in await plan.fetchall() if "Scan" in line]
        lines.append(
            [name, f"{megabytes:.1f}", f"{built[name]:.1f}", "; ".join(scans).partition("(")[0]]
        )
    report.table(
        f"search: the vector indexes of {rows} chunks", ["index", "MB", "built, s", "plan"], lines
    )


def _report_filtered(report: Report, rows: int, contenders: list[Contender]) -> None:
    report.table(
        f"search: {rows} chunks, top {TOP_K} within one document",
        ["search", "p50 ms", "p99 ms", "fewest found", "recall@10"],
        [
            [
                one.name,
                *percentiles(one.seconds),
                f"{one.least_found} of {TOP_K}",
                f"{one.recall:.3f}",
            ]
            for one in contenders
        ],
    )
    found = contenders[0].least_found
    report.at_least(f"fewest found within one document, {rows} chunks", found, TOP_K)


if __name__ == "__main__":
    main({"search": run})
