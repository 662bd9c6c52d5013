"""The library at 10,000 documents: its lists, its counts, the look for changes, and batches."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from functools import partial
from typing import Any

import psycopg

from benchmarks.database import server
from benchmarks.harness import Options, Report, main, percentiles
from helix.library.access import Library
from helix.library.batches import delete_documents, label_documents
from helix.library.change_feed import changes
from helix.library.document_list import (
    DocumentFilter,
    Page,
    list_documents,
    matching_ids,
    summarise,
)
from helix.store import ChunkStore

DOCUMENTS = 10_000
LIST_MS = 300
"""A list that comes within this feels at once on a page that waits 250 ms for the next letter."""
# texts of 20,000 characters that do not compress to nothing, as those of real documents
_FILL = """
INSERT INTO documents (title, source_uri, content_hash, media, size, tags, status, facts, text,
                       updated_at)
SELECT 'Document ' || md5(n::text), 'folder/' || n || '.pdf', md5(n::text),
       (ARRAY['pdf', 'docx', 'markdown', 'text'])[n %% 4 + 1], n * 37 %% 900000,
       ARRAY['label ' || n %% 40, 'year ' || n %% 7],
       CASE WHEN n %% 50 = 0 THEN 'failed' ELSE 'ready' END,
       jsonb_build_object('kind', 'kind ' || n %% 9, 'company', 'Company ' || n %% 300),
       (SELECT string_agg(md5((n * 1000 + k)::text), ' ') FROM generate_series(1, 600) k),
       now() - n * interval '1 hour'
FROM generate_series(1, %s) n
"""
_CHUNKS = """
INSERT INTO chunks (node_id, content, embedding, metadata_)
SELECT d.id || '-' || k, substr(d.text, k * 1000 + 1, 1000),
       array_fill(0.1::real, ARRAY[1536])::vector,
       jsonb_build_object('document_id', d.id::text, 'ordinal', k, 'start_char', k * 1000,
                          'end_char', (k + 1) * 1000)
FROM documents d, generate_series(0, 1) k
"""
_NAMES = """
INSERT INTO document_names (tenant_id, document_id, kind, name)
SELECT tenant_id, id, 'kind', facts ->> 'kind' FROM documents
"""


async def run(options: Options, report: Report) -> None:
    """Fill a database with documents, then time what the page asks for."""
    documents = DOCUMENTS // 10 if options.quick else DOCUMENTS
    rounds = 5 if options.quick else 20
    with server() as postgres, postgres.database() as url:
        await asyncio.to_thread(_fill, url, documents)
        store = ChunkStore(url, "none:none:1536")
        try:
            await _measure(Library(store), documents, rounds, report)
        finally:
            await store.close()


def _fill(url: str, documents: int) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP INDEX chunks_embedding_hnsw")  # no search is made here
        connection.execute(_FILL, (documents,))
        connection.execute(_CHUNKS)
        connection.execute(_NAMES)
        connection.execute("ANALYZE")


async def _measure(library: Library, documents: int, rounds: int, report: Report) -> None:
    listed = partial(list_documents, library)
    page = await listed(DocumentFilter(), Page(sort="title", limit=50))
    asked: dict[str, Callable[[], Awaitable[Any]]] = {
        "newest first": lambda: listed(DocumentFilter()),
        "by title": lambda: listed(DocumentFilter(), Page(sort="title")),
        "by title, second page": lambda: listed(
            DocumentFilter(), Page(sort="title", after=page["next"])
        ),
        "by kind": lambda: listed(DocumentFilter(), Page(sort="kind")),
        "largest first": lambda: listed(DocumentFilter(), Page(sort="size")),
        "search of a part": lambda: listed(DocumentFilter(search="a1b")),
        "of a label": lambda: listed(DocumentFilter(tags=("label 7",))),
        "of a kind": lambda: listed(DocumentFilter(kind="kind 3")),
        "PDFs that failed": lambda: listed(DocumentFilter(formats=("pdf",), status="failed")),
        "all counts": lambda: summarise(library),
        "all ids": lambda: matching_ids(library, DocumentFilter(), documents),
        "look for changes": lambda: _looked(library),
    }
    rows, slowest = [], 0.0
    for name, ask in asked.items():
        taken = [await _timed(ask) for _ in range(rounds)]
        rows.append([name, *percentiles(taken)])
        slowest = max(slowest, sorted(taken)[len(taken) // 2])
    report.table(f"{documents:,} documents", ["asked for", "p50, ms", "p99, ms"], rows)
    report.at_most("slowest of these, p50 in ms", slowest * 1000, LIST_MS)
    ids = await matching_ids(library, DocumentFilter(), 500)
    labelled = await _timed(lambda: label_documents(library, ids, ["new"], ["label 7"]))
    deleted = await _timed(lambda: delete_documents(library, ids[:100]))
    report.table(
        "batches, a transaction each",
        ["", "documents", "ms a document"],
        [["label", len(ids), f"{labelled * 1000 / len(ids):.2f}"],
         ["delete", 100, f"{deleted * 10:.2f}"]],
    )  # fmt: skip


async def _looked(library: Library) -> None:
    async with aclosing(changes(library)) as told:
        await anext(told)


async def _timed(ask: Callable[[], Awaitable[Any]]) -> float:
    began = time.perf_counter()
    await ask()
    return time.perf_counter() - began


if __name__ == "__main__":
    main({"library": run})
