"""Ingest: ChunkStore.write against raw binary COPY, and a first load against stock ``add``.

The floor of a write is psycopg's own binary COPY of the same rows into the same indexed tables: the
document with its names, its chunks and their BM25 terms. What it writes is made before the clock
starts, words stemmed and metadata encoded, and it checks nothing. That the rows are the same in
both databases, but for the chunks' ids and times, is compared at the end. ChunkStore is given the
words too, for a worker's sandbox makes them in other processes. Each writes the same documents in
turn, in a database of its own, so that what a busy machine does to one it does to the others.
"""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, NamedTuple

import psycopg
from llama_index.core.schema import BaseNode, MetadataMode
from llama_index.core.vector_stores.utils import node_to_metadata_dict
from pgvector import SparseVector, Vector
from pgvector.psycopg import register_vector
from psycopg import sql
from psycopg.types.json import Jsonb

from benchmarks import corpus
from benchmarks.corpus import ABSTRACTS, IDENTITY, Corpus, Paper, documents, terms_of
from benchmarks.database import Server, add_stock_index, server, stock_store
from benchmarks.harness import Options, Report, main, ms, p50, p99
from benchmarks.loop_gaps import Gap, idle_beside, watched
from helix.domain.file_kinds import name_of_source
from helix.domain.names import document_names
from helix.domain.scope import DEFAULT_TENANT
from helix.language.terms import language_of, term_counts
from helix.storage.indexes import INDEX_NAME, build_if_missing, drop_if_empty
from helix.storage.packed_terms import SLOTS, searched_text, term_row
from helix.store import ChunkStore

COPY_RATIO = 0.95
STOCK_RATIO = 6.0
FLOOR_RATIO = 1.5
LONGEST_BLOCK_MS = 50
FLOOR = "raw binary COPY, a document a transaction (the floor)"
OURS = "ChunkStore.write"
GROUPED = "raw binary COPY, a group a transaction"
WRITERS = 4  # connections that a store writes over
GROUP = 3  # documents, so about 100 chunks, in turn
STOCK_BATCH = 1_000  # nodes to one add of the stock store, all in one transaction

_COPY = "COPY chunks (node_id, content, embedding, metadata_) FROM STDIN (FORMAT BINARY)"
_DOCUMENT = """
INSERT INTO documents (id, source_uri, title, content_hash, recipe, text, language, file_name)
VALUES (%(id)s, %(source_uri)s, %(title)s, %(content_hash)s, %(recipe)s, %(text)s, %(language)s,
        %(file_name)s)
"""
_NAME = """
INSERT INTO document_names (tenant_id, document_id, kind, name) VALUES ('default', %s, %s, %s)
"""

_COPY_TERMS = (
    "COPY chunk_terms (tenant_id, document_id, chunk_id, length, keys, impacts)"
    " FROM STDIN (FORMAT BINARY)"
)
_DIGESTS = """
SELECT 'documents', md5(string_agg(
    (to_jsonb(d) - '{created_at,updated_at}'::text[])::text, ',' ORDER BY id)) FROM documents d
UNION ALL SELECT 'document_names', md5(string_agg(n::text, ',' ORDER BY n::text))
    FROM document_names n
UNION ALL SELECT 'chunks', md5(string_agg(
    concat(tenant_id, document_id, node_id, content, metadata_, md5(vector_send(embedding))),
    ',' ORDER BY node_id)) FROM chunks
UNION ALL SELECT 'chunk_terms', md5(string_agg(
    concat(t.tenant_id, t.document_id, length, keys, impacts), ',' ORDER BY node_id))
    FROM chunk_terms t JOIN chunks c ON c.id = chunk_id
"""
_IDS = "SELECT node_id, document_id, id FROM chunks WHERE tenant_id = %s AND node_id = ANY(%s)"

Row = tuple[str, str, Vector, Jsonb, tuple[int, list[int], SparseVector]]
"""Node id, text, vector, metadata, and of its terms the length, keys and impacts."""


class Prepared(NamedTuple):
    """A document as it is written: its columns, names (document, kind, name) and chunks."""

    columns: dict[str, Any]
    names: list[tuple[int, str, str]]
    rows: list[Row]


async def run(options: Options, report: Report) -> None:
    """The write into an indexed table, then the first load with the event loop watched."""
    whole = corpus.load_or_generate(options.data, options.rows)
    with server() as postgres:
        await _indexed_write(postgres, whole.first(min(ABSTRACTS, options.rows)), report)
        await _first_load(postgres, whole, report)


# --- into an indexed table ----------------------------------------------------------------------

# A writer takes documents, the first of which is to have the given id, and returns the seconds
# that the database part of writing them took.
Writer = Callable[[Sequence[Paper], int], Awaitable[float]]


async def _indexed_write(postgres: Server, papers: Corpus, report: Report) -> None:
    seconds: dict[str, list[float]] = {name: [] for name in (FLOOR, OURS, GROUPED)}
    async with AsyncExitStack() as stack:
        urls = [stack.enter_context(postgres.database()) for _ in seconds]
        store = ChunkStore(urls[1], IDENTITY)
        stack.push_async_callback(store.close)
        raw, grouped = (stack.enter_context(_connected(url)) for url in (urls[0], urls[2]))
        writers = dict(
            zip(seconds, (_each(raw), _by_store(store), _together(grouped)), strict=True)
        )
        await _in_turn(writers, list(documents(papers)), seconds)
        differing = {table for table, _ in _digests(urls[0]) ^ _digests(urls[1])}
    _report_write(report, len(papers.texts), seconds)
    report.at_most(f"tables that differ {sorted(differing)}", len(differing), 0)


async def _in_turn(
    writers: Mapping[str, Writer], papers: Sequence[Paper], seconds: Mapping[str, list[float]]
) -> None:
    """Give each group of documents to every writer; who is first changes from group to group."""
    names = list(writers)
    for number, start in enumerate(range(0, len(papers), GROUP)):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            group = papers[start : start + GROUP]
            seconds[name].append(await writers[name](group, start + 1))


def _by_store(store: ChunkStore) -> Writer:
    """Write a file like a worker: reserve, ask what is stored, then one transaction."""

    async def write(group: Sequence[Paper], _: int) -> float:
        seconds = 0.0
        for paper in group:
            started = time.perf_counter()
            reserved = _reserved(store, paper)
            seconds += time.perf_counter() - started
            nodes = paper.embedded_nodes(str(reserved))
            terms = terms_of(paper.record, nodes)
            started = time.perf_counter()
            await store.write(paper.record, nodes, reserved, terms=terms)
            seconds += time.perf_counter() - started
        return seconds

    return write


def _reserved(store: ChunkStore, paper: Paper) -> int:
    reserved = store.reserve(paper.record.source_uri)
    store.known_nodes(paper.record.source_uri)
    return reserved


def _each(connection: psycopg.Connection[Any]) -> Writer:
    """Raw COPY with ChunkStore's own transactions: one a document."""

    async def write(group: Sequence[Paper], first_id: int) -> float:
        return sum(
            _copy(connection, [_prepared(paper, number)])
            for number, paper in enumerate(group, start=first_id)
        )

    return write


def _together(connection: psycopg.Connection[Any]) -> Writer:
    """Raw COPY of the whole group in one transaction, which no store may do that writes documents
    one by one: what the transactions cost is the difference."""

    async def write(group: Sequence[Paper], first_id: int) -> float:
        return _copy(connection, _numbered(group, first_id))

    return write


def _connected(url: str) -> psycopg.Connection[Any]:
    connection = psycopg.connect(url, autocommit=True)
    register_vector(connection)
    return connection


def _report_write(report: Report, chunks: int, seconds: Mapping[str, list[float]]) -> None:
    def of_floor(name: str) -> float:
        pairs = zip(seconds[FLOOR], seconds[name], strict=True)
        return p50([floor / own for floor, own in pairs])

    report.table(
        f"ingest: {chunks} chunks into an indexed table, {len(seconds[FLOOR])} groups of {GROUP}"
        " documents in turn",
        ["write", "chunks/s", "of the floor, in sum", "of the floor, median group"],
        [
            [
                name,
                f"{chunks / sum(own):.0f}",
                f"{sum(seconds[FLOOR]) / sum(own):.3f}",
                f"{of_floor(name):.3f}",
            ]
            for name, own in seconds.items()
        ],
    )
    ratio = of_floor(OURS)
    report.at_least("chunks/s of ChunkStore / raw COPY, median group", ratio, COPY_RATIO)


def _nodes(batch: Sequence[Paper], references: Sequence[str]) -> Iterator[BaseNode]:
    for paper, reference in zip(batch, references, strict=True):
        yield from paper.nodes(reference)


def _numbered(group: Sequence[Paper], first_id: int) -> list[Prepared]:
    """``group`` as it is written, with ids from ``first_id`` on."""
    return [_prepared(paper, number) for number, paper in enumerate(group, start=first_id)]


def _prepared(paper: Paper, number: int) -> Prepared:
    """The rows to write of the document with this id."""
    record = paper.record
    file_name = name_of_source(record.source_uri)
    columns = {**vars(record), "id": number, "file_name": file_name}
    columns["language"] = language_of(record.text)
    names = [(number, *name) for name in document_names(record.title, file_name, record.facts)]
    return Prepared(columns, names, [_row(node) for node in paper.embedded_nodes(str(number))])


def _row(node: BaseNode) -> Row:
    bare = node.model_copy(update={"embedding": None})
    encoded = json.dumps(node_to_metadata_dict(bare, remove_text=True))
    metadata = Jsonb(encoded, dumps=lambda text: text)  # encoded once, here
    text = node.get_content(MetadataMode.NONE)
    found = term_row(term_counts(searched_text(node.metadata.get("title"), None, text)))
    of_terms = found.length, found.keys, SparseVector(found.impacts, SLOTS)
    return node.node_id, text, Vector(node.get_embedding()), metadata, of_terms


def _copy(connection: psycopg.Connection[Any], group: Sequence[Prepared]) -> float:
    """Seconds that writing ``group`` in one transaction takes, its commit included."""
    rows = [row for document in group for row in document.rows]
    started = time.perf_counter()
    with connection.transaction():
        cursor = connection.cursor()
        cursor.executemany(_DOCUMENT, [document.columns for document in group])
        cursor.executemany(_NAME, [name for document in group for name in document.names])
        with cursor.copy(_COPY) as copy:
            copy.set_types(["text", "text", "vector", "jsonb"])
            for row in rows:
                copy.write_row(row[:4])
        nodes = [row[0] for row in rows]
        ids = {n: i for n, *i in connection.execute(_IDS, (DEFAULT_TENANT, nodes))}
        with connection.cursor().copy(_COPY_TERMS) as copy:
            copy.set_types(["text", "int8", "int8", "int4", "int8[]", "sparsevec"])
            for row in rows:
                copy.write_row((DEFAULT_TENANT, *ids[row[0]], *row[4]))
    return time.perf_counter() - started


def _digests(url: str) -> set[tuple[str, str]]:
    """Each table that a write fills, with a digest of its rows but for chunks.id and times."""
    with psycopg.connect(url) as connection:
        return set(connection.execute(_DIGESTS).fetchall())


# --- the first load -----------------------------------------------------------------------------


async def _first_load(postgres: Server, papers: Corpus, report: Report) -> None:
    async with idle_beside() as idle:
        before = await _bulk(postgres, papers)
    stock, floor = _stock_add(postgres, papers), _raw_load(postgres, papers)
    async with idle_beside() as idle_after:
        after = await _bulk(postgres, papers)
    _report_load(report, len(papers.texts), (before, after), stock, floor)
    _report_loop(report, len(papers.texts), before[1] + after[1], idle + idle_after)


async def _bulk(postgres: Server, papers: Corpus) -> tuple[float, list[Gap]]:
    """Seconds of a first load, WRITERS documents at a time, index included; and the event loop's
    gaps in it."""
    batch = list(documents(papers))
    with postgres.database() as url:
        store = ChunkStore(url, IDENTITY)
        started = time.perf_counter()
        reserved = [_reserved(store, paper) for paper in batch]
        seconds = time.perf_counter() - started
        nodes = [
            paper.embedded_nodes(str(number)) for paper, number in zip(batch, reserved, strict=True)
        ]
        terms = [
            terms_of(paper.record, its_nodes) for paper, its_nodes in zip(batch, nodes, strict=True)
        ]
        # all nodes at once are the benchmark's: a worker has those of a few files to go over
        gc.collect()
        gc.freeze()
        writing = asyncio.Semaphore(WRITERS)

        async def write(place: int) -> None:
            async with writing:
                record, number = batch[place].record, reserved[place]
                await store.write(record, nodes[place], number, terms=terms[place])

        async with watched() as gaps:
            started = time.perf_counter()
            async with store.bulk_load():
                await asyncio.gather(*map(write, range(len(batch))))
            seconds += time.perf_counter() - started
        await store.close()
        gc.unfreeze()
    return seconds, gaps


def _raw_load(postgres: Server, papers: Corpus) -> float:
    """Seconds of one raw COPY of everything into tables without indexes, and of building these."""
    batch = list(documents(papers))
    with postgres.database() as url, _connected(url) as connection:
        drop_if_empty(connection)
        seconds = _copy(connection, _numbered(batch, 1))
        started = time.perf_counter()
        build_if_missing(connection)
        return seconds + time.perf_counter() - started


def _stock_add(postgres: Server, papers: Corpus) -> float:
    """Seconds of the stock store's add into the same schema, its own index from the start."""
    batch = list(documents(papers))
    with postgres.database() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            columns = [document.columns for document in _numbered(batch, 1)]
            connection.cursor().executemany(_DOCUMENT, columns)
            connection.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(INDEX_NAME)))
        add_stock_index(url)
        nodes = list(_nodes(batch, [str(number) for number in range(1, len(batch) + 1)]))
        store = stock_store(url)
        started = time.perf_counter()
        for start in range(0, len(nodes), STOCK_BATCH):
            store.add(nodes[start : start + STOCK_BATCH])
        return time.perf_counter() - started


def _report_load(
    report: Report, rows: int, ours: Sequence[tuple[float, list[Gap]]], stock: float, floor: float
) -> None:
    mean = sum(seconds for seconds, _ in ours) / len(ours)
    report.table(
        f"ingest: first load of {rows} chunks, ChunkStore before and after stock",
        ["load", "seconds", "chunks/s", "times stock"],
        [
            [name, f"{seconds:.1f}", f"{rows / seconds:.0f}", f"{stock / seconds:.2f}"]
            for name, seconds in (
                ("stock PGVectorStore.add", stock),
                ("raw COPY in one transaction, and its indexes (the floor)", floor),
                ("ChunkStore, before", ours[0][0]),
                ("ChunkStore, after", ours[1][0]),
            )
        ],
    )
    report.at_least("first load, stock add / ChunkStore", stock / mean, STOCK_RATIO)
    report.at_most("first load, ChunkStore / raw COPY and its indexes", mean / floor, FLOOR_RATIO)


def _report_loop(report: Report, rows: int, gaps: Sequence[Gap], idle: Sequence[Gap]) -> None:
    lines = []
    for name, own in (
        ("idle, in a process beside it (the floor)", idle),
        ("during ChunkStore.write", gaps),
    ):
        seconds = [gap.seconds for gap in own]
        most = max(own)
        lines.append([name, *map(ms, (p50(seconds), p99(seconds), most.seconds, most.cpu))])
    report.table(
        f"ingest: how long the event loop was held while {rows} chunks were loaded, twice",
        ["loop", "p50 ms", "p99 ms", "longest ms", "processor ms in it"],
        lines,
    )
    longest = max(gaps).seconds * 1000
    report.at_most("longest block of the event loop, ms", longest, LONGEST_BLOCK_MS)


if __name__ == "__main__":
    main({"ingest": run})
