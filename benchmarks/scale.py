"""Scale: what a chunk costs at any size: writing, index, disk, searches.

``python -m benchmarks.scale --rows 200000``. Texts and vectors are made and written a part at a
time, so memory does not grow with ``--rows``; the exact neighbours that recall is judged by are
found on the way. Beyond SciFact's 5,183 abstracts they come again with noise in their vectors.
Figures of this machine: docs/scaling.md says what follows from them, and what does not.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import psycopg
from psycopg.rows import dict_row

from benchmarks.corpus import (
    IDENTITY,
    NOISE,
    Corpus,
    Matrix,
    documents,
    load_or_generate,
    node_id,
    noise,
    terms_of,
)
from benchmarks.database import server
from benchmarks.harness import Options, Report, main, percentiles
from helix.storage.indexes import INDEX_NAME, TERMS_NAME
from helix.store import ChunkStore

TOP_K = 10
EF_SEARCH = 100
WIDER = (200, 400, 1000)
"""Further values of HELIX_EF_SEARCH: what recall and a search's time are with these."""
PART = 5_000
"""Chunks in memory at once."""
LATER = 1_000
"""Chunks that are written when the indexes are there."""
ESTIMATED = (1_000_000, 10_000_000, 100_000_000)

_SIZES = f"""
SELECT pg_table_size('chunks') AS "chunks: text and vectors",
    pg_relation_size('{INDEX_NAME}') AS "vector index",
    pg_indexes_size('chunks') - pg_relation_size('{INDEX_NAME}') AS "other indexes of chunks",
    pg_table_size('chunk_terms') AS "terms", pg_relation_size('{TERMS_NAME}') AS "index of terms",
    pg_total_relation_size('documents') AS "documents: whole texts",
    pg_database_size(current_database()) AS "the database"
"""


@dataclass
class Nearest:
    """The exact ``TOP_K`` of each query among the rows that it was shown."""

    queries: Matrix
    rows: np.ndarray[Any, np.dtype[np.int64]] = field(init=False)
    likeness: Matrix = field(init=False)

    def __post_init__(self) -> None:
        self.rows = np.zeros((len(self.queries), 0), dtype=np.int64)
        self.likeness = np.zeros((len(self.queries), 0), dtype=np.float32)

    def see(self, vectors: Matrix, first: int) -> None:
        """Rows from ``first`` on, as unit vectors."""
        likeness = np.hstack([self.likeness, self.queries @ vectors.T])
        given = np.arange(first, first + len(vectors))
        rows = np.hstack([self.rows, np.broadcast_to(given, (len(self.queries), len(given)))])
        best = np.argsort(-likeness, axis=1, kind="stable")[:, :TOP_K]
        self.likeness = np.take_along_axis(likeness, best, axis=1)
        self.rows = np.take_along_axis(rows, best, axis=1)

    def recall(self, query: int, found: Sequence[str]) -> float:
        """The share of its neighbours that a search by query number ``query`` found."""
        wanted = {node_id(int(row)) for row in self.rows[query]}
        return len(wanted & set(found)) / len(wanted)


@dataclass
class Costs:
    """The measurements of one size; times in seconds."""

    rows: int
    writing: float = 0.0
    indexing: float = 0.0
    later: float = 0.0
    sizes: dict[str, int] = field(default_factory=dict)
    dense: list[float] = field(default_factory=list)
    hybrid: list[float] = field(default_factory=list)
    recalls: list[float] = field(default_factory=list)
    wider: list[list[str]] = field(default_factory=list)
    """A row of the report for each value of ``WIDER``."""


async def run(options: Options, report: Report) -> None:
    """One size: that of ``options.rows``."""
    own = load_or_generate(options.data, min(options.rows, PART))
    nearest, costs = Nearest(own.queries), Costs(options.rows)
    with server() as postgres, postgres.database() as url:
        store = ChunkStore(url, IDENTITY, ef_search=EF_SEARCH)
        try:
            await _load(store, own, nearest, costs)
            costs.sizes = _sizes(url)
            await _search(store, own, nearest, costs)
            costs.wider = [await _search_wider(url, nearest, each) for each in WIDER]
            later = next(parts(own, options.rows, options.rows + LATER))
            costs.later = await _write(store, later, options.rows)
        finally:
            await store.close()
    _report(report, costs)


def parts(own: Corpus, first: int, rows: int) -> Iterator[Corpus]:
    """The rows ``first`` to ``rows`` of ``own`` grown to ``rows``, PART at a time."""
    width = int(np.flatnonzero(own.vectors.any(axis=0))[-1]) + 1
    for start in range(first, rows, PART):
        source = np.arange(start, min(start + PART, rows)) % len(own.texts)
        vectors = own.vectors[source].copy()
        if start:
            random = np.random.default_rng(start)
            vectors[:, :width] += NOISE * noise(random, len(source), width)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        yield Corpus([own.texts[row] for row in source], vectors, own.queries)


async def _load(store: ChunkStore, own: Corpus, nearest: Nearest, costs: Costs) -> None:
    async with store.bulk_load():
        first = 0
        for part in parts(own, 0, costs.rows):
            nearest.see(part.vectors, first)
            costs.writing += await _write(store, part, first)
            first += len(part.texts)
            print(f"{first} of {costs.rows} written", flush=True)
        started = time.perf_counter()
    costs.indexing = time.perf_counter() - started


async def _write(store: ChunkStore, part: Corpus, first: int) -> float:
    """Seconds that the writes took, one after the other; their nodes and terms are made before."""
    seconds = 0.0
    for paper in documents(part, first):
        number = store.reserve(paper.record.source_uri)
        nodes = paper.embedded_nodes(str(number))
        terms = terms_of(paper.record, nodes)
        started = time.perf_counter()
        await store.write(paper.record, nodes, number, terms=terms)
        seconds += time.perf_counter() - started
    return seconds


def _sizes(url: str) -> dict[str, int]:
    with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
        connection.execute("VACUUM")
        row = connection.execute(_SIZES).fetchone()
    assert row is not None
    return {name: int(size) for name, size in row.items()}


async def _search(store: ChunkStore, own: Corpus, nearest: Nearest, costs: Costs) -> None:
    """Each query twice, by distance and by both; the first time brings pages into memory.

    What hybrid is asked are titles of abstracts with the vectors of these.
    """
    for seconds, halves in (([], []), (costs.dense, costs.hybrid)):
        for number, vector in enumerate(own.queries):
            started = time.perf_counter()
            found = await store.search(vector.tolist(), TOP_K)
            seconds.append(time.perf_counter() - started)
            if seconds is costs.dense:
                costs.recalls.append(nearest.recall(number, [hit.node_id for hit in found]))
            row = number % len(own.texts)
            title, its_own = own.texts[row].partition("\n")[0], own.vectors[row].tolist()
            started = time.perf_counter()
            await store.search_hybrid(title, its_own, TOP_K)
            halves.append(time.perf_counter() - started)


async def _search_wider(url: str, nearest: Nearest, ef_search: int) -> list[str]:
    seconds: list[float] = []
    recalls: list[float] = []
    store = ChunkStore(url, IDENTITY, ef_search=ef_search)
    try:
        for number, vector in enumerate(nearest.queries):
            started = time.perf_counter()
            found = await store.search(vector.tolist(), TOP_K)
            seconds.append(time.perf_counter() - started)
            recalls.append(nearest.recall(number, [hit.node_id for hit in found]))
    finally:
        await store.close()
    name = f"by distance, ef_search {ef_search}"
    return [name, *percentiles(seconds), f"{np.mean(recalls):.3f}"]


def _report(report: Report, costs: Costs) -> None:
    rows = costs.rows
    report.table(
        f"scale: {rows} chunks, a chunk costs",
        ["", "ms a chunk"],
        [
            ["writing into tables without indexes", f"{costs.writing / rows * 1000:.2f}"],
            ["building the indexes", f"{costs.indexing / rows * 1000:.2f}"],
            [f"writing {LATER} more, indexes there", f"{costs.later / LATER * 1000:.2f}"],
        ],
    )
    report.table(
        f"scale: {rows} chunks, on disk; further sizes are that times their number, no measurement",
        ["", "MB", "bytes a chunk", *(f"GB at {size:,}" for size in ESTIMATED)],
        [
            [name, f"{size / 2**20:.1f}", f"{size / rows:.0f}",
             *(f"{size / rows * wanted / 2**30:.0f}" for wanted in ESTIMATED)]
            for name, size in costs.sizes.items()
        ],
    )  # fmt: skip
    report.table(
        f"scale: {rows} chunks, top {TOP_K}, ef_search {EF_SEARCH}, {len(costs.dense)} searches",
        ["search", "p50 ms", "p99 ms", "recall@10"],
        [
            ["by distance", *percentiles(costs.dense), f"{np.mean(costs.recalls):.3f}"],
            ["hybrid", *percentiles(costs.hybrid), ""],
            *costs.wider,
        ],
    )


if __name__ == "__main__":
    main({"scale": run})
