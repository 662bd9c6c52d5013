"""Searches of somebody who may read some spaces, against those of who may read everything.

``python -m benchmarks.spaces --rows 100000``: 1,000 spaces of equal size, and every search in turn
with each permission, so that a busy machine slows all of them alike. Recall is against comparing
every chunk that may be read, in the same database.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import psycopg
from pgvector import Vector
from pgvector.psycopg import register_vector

from benchmarks.corpus import IDENTITY, Corpus, documents, load_or_generate, terms_of
from benchmarks.database import server
from benchmarks.harness import Options, Report, main, p50, percentiles
from benchmarks.scale import PART, parts
from helix.domain.scope import Scope, Spaces
from helix.storage.tenant_store import TenantStore
from helix.store import ChunkStore

SPACES = 1_000
TOP_K = 10
P50_RATIO = 1.15
READ: Mapping[str, Spaces] = {
    "everything": None,
    "1 space, 0.1%": tuple(range(2)),
    "10 spaces, 1%": tuple(range(11)),
    "100 spaces, 10%": tuple(range(101)),
    "300 spaces, 30%": tuple(range(301)),
    "1,000 spaces, all": tuple(range(SPACES + 1)),
}
"""The permissions, the first without any; the others as a person's are, with the library, 0, which
no document is in."""
_ONE_PERCENT = "10 spaces, 1%"
_WARM = 10

_FILL = """
INSERT INTO spaces (tenant_id, id, name)
SELECT 'default', n, 'Space ' || n FROM generate_series(1, %(spaces)s) n;
"""
_PLACE = "UPDATE documents SET spaces = ARRAY[1 + id %% %(spaces)s]"
_EXACT = """
SELECT c.node_id FROM chunks c JOIN documents d ON d.id = c.document_id
WHERE %(only)s::bigint[] IS NULL OR d.spaces && %(only)s::bigint[]
ORDER BY (c.embedding <=> %(vector)s) + 0, c.id LIMIT %(most)s
"""


@dataclass
class Reader:
    """One permission, and what was measured with it; times in seconds."""

    name: str
    scope: Scope
    dense: list[float] = field(default_factory=list)
    hybrid: list[float] = field(default_factory=list)
    recalls: list[float] = field(default_factory=list)


async def run(options: Options, report: Report) -> None:
    """One size: that of ``options.rows``."""
    own = load_or_generate(options.data, min(options.rows, PART))
    with server() as postgres, postgres.database() as url:
        await _load(url, own, options.rows)
        readers = await measure(url, own, 50 if options.quick else 200)
    tell(report, options.rows, readers)


async def _load(url: str, own: Corpus, rows: int) -> None:
    store = ChunkStore(url, IDENTITY)
    try:
        async with store.bulk_load():
            first = 0
            for part in parts(own, 0, rows):
                for paper in documents(part, first):
                    number = store.reserve(paper.record.source_uri)
                    nodes = paper.embedded_nodes(str(number))
                    terms = terms_of(paper.record, nodes)
                    await store.write(paper.record, nodes, number, terms=terms)
                first += len(part.texts)
                print(f"{first} of {rows} written", flush=True)
    finally:
        await store.close()
    place(url)


def place(url: str) -> None:
    """Put every document into one of the spaces, in turn."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(_FILL, {"spaces": SPACES})
        connection.execute(_PLACE, {"spaces": SPACES})
        connection.execute("VACUUM ANALYZE")


async def measure(url: str, own: Corpus, searches: int) -> list[Reader]:
    """Each of ``searches`` by distance and by both, with each permission in turn."""
    readers = [Reader(name, Scope(spaces=spaces)) for name, spaces in READ.items()]
    store, order = TenantStore(url, IDENTITY), random.Random(34)
    try:
        for number in range(searches + _WARM):
            row = number * 37 % len(own.texts)
            title, vector = own.texts[row].partition("\n")[0], own.vectors[row].tolist()
            # Whoever reads what somebody has just read finds it in memory
            for reader in order.sample(readers, len(readers)):
                started = time.perf_counter()
                found = await store.search(vector, TOP_K, reader.scope)
                between = time.perf_counter()
                await store.search_hybrid(title, vector, TOP_K, reader.scope)
                ended = time.perf_counter()
                if number >= _WARM:
                    reader.dense.append(between - started)
                    reader.hybrid.append(ended - between)
                if number < _WARM:  # comparing all takes long
                    nodes = {hit.node_id for hit in found}
                    reader.recalls.append(_recall(url, own, row, reader.scope.spaces, nodes))
    finally:
        await store.close()
    return readers


def _recall(url: str, own: Corpus, row: int, only: Spaces, found: set[str]) -> float:
    """The share of the nearest that may be read which a search found."""
    with psycopg.connect(url) as connection:
        register_vector(connection)
        values = {
            "only": None if only is None else list(only), "vector": Vector(own.vectors[row]),
            "most": TOP_K,
        }  # fmt: skip
        wanted = {node for (node,) in connection.execute(_EXACT, values)}
    return len(wanted & found) / max(len(wanted), 1)


def tell(report: Report, rows: int, readers: list[Reader]) -> None:
    """The table, and whether the targets are met."""
    everything = readers[0]
    report.table(
        f"spaces: {rows} chunks, {SPACES} spaces, top {TOP_K}, {len(everything.dense)} searches",
        ["may read", "by distance p50 ms", "p99 ms", "hybrid p50 ms", "p99 ms",
         "hybrid p50 / everything", "recall@10"],
        [
            [one.name, *percentiles(one.dense), *percentiles(one.hybrid),
             f"{p50(one.hybrid) / p50(everything.hybrid):.2f}", f"{np.mean(one.recalls):.3f}"]
            for one in readers
        ],
    )  # fmt: skip
    for one in readers[1:]:
        ratio = p50(one.hybrid) / p50(everything.hybrid)
        report.at_most(f"hybrid p50 / everything, {one.name}", ratio, P50_RATIO)
        if one.name == _ONE_PERCENT:
            report.at_least("recall@10 of 1%", float(np.mean(one.recalls)), 1.0)


if __name__ == "__main__":
    main({"spaces": run})
