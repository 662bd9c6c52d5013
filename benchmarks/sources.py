"""A source of 10,000 files: a sync with nothing changed, with one change, and a folder renamed.

The floor is listing the folder with each file's times, as any program that looks for changes does;
beside it stands hashing every file, as `helix ingest` does. All three look at the same files in
turn. Documents and chunks are there as if they had been ingested, with vectors that mean nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.database import server
from benchmarks.harness import Options, Report, main, p50, seconds_of
from helix.domain.scope import DEFAULT_TENANT
from helix.library.runs import begin_run, finish_run
from helix.library.sources import add_source, start_sync
from helix.settings import Settings, load_settings
from helix.store import ChunkStore
from pipelines.files.recipe import RECIPE
from pipelines.runs.run_steps import end_sync
from pipelines.sources.folder import FolderSource
from pipelines.sources.sync import plan_source

FILES, IN_FOLDER = 10_000, 1_000
SECONDS, STATEMENTS = 3.0, 20.0
"""Targets: of a sync with nothing changed; and of its statements a thousand files."""
TEXT = "Crate {n} holds {n} lanterns, and the keeper of the mill counts them on Mondays. " * 20

_FILL = """
WITH made AS (
    INSERT INTO documents (title, source_uri, content_hash, recipe, text, file_name)
    SELECT 'Crate', 'source:' || %(id)s || '/' || key, hash, %(recipe)s, 'Crate ' || key, key
    FROM unnest(%(keys)s::text[], %(hashes)s::text[]) AS file (key, hash)
    RETURNING id, source_uri
)
INSERT INTO source_entries (source_id, key, size, modified, etag, content_hash, coming, document_id)
SELECT %(id)s, key, size, to_timestamp(modified), etag, hash, false, made.id
FROM unnest(%(keys)s::text[], %(hashes)s::text[], %(sizes)s::bigint[], %(times)s::float8[],
            %(etags)s::text[]) AS file (key, hash, size, modified, etag)
JOIN made ON made.source_uri = 'source:' || %(id)s || '/' || key
"""
_CHUNKS = """
INSERT INTO chunks (node_id, content, embedding, metadata_)
SELECT 'node ' || id, text, array_fill(0.1::real, ARRAY[1536])::vector, jsonb_build_object(
    'document_id', id::text, 'ordinal', 0, 'start_char', 0, 'end_char', length(text))
FROM documents
"""
_IDS = "SELECT array_agg(id ORDER BY id) FROM {}"


class Synced:
    """A folder that is a source, and its syncs in this process."""

    def __init__(self, url: str, folder: Path, store: ChunkStore, settings: Settings) -> None:
        self.url, self.folder, self.store, self.settings = url, folder, store, settings
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP INDEX chunks_embedding_hnsw")  # nothing is searched here
            given = {"name": "folder", "kind": "folder", "address": str(folder)}
            self.id = add_source(connection, DEFAULT_TENANT, given, trusted=True)
            connection.execute(_FILL, self._rows())
            connection.execute(_CHUNKS)
            connection.execute("VACUUM ANALYZE")

    def _rows(self) -> dict[str, Any]:
        entries = list(FolderSource(self.folder).entries())
        hashes = [hashlib.sha256((self.folder / each.key).read_bytes()) for each in entries]
        return {
            "id": self.id, "recipe": RECIPE, "keys": [entry.key for entry in entries],
            "hashes": [digest.hexdigest() for digest in hashes],
            "sizes": [entry.size for entry in entries], "etags": [entry.etag for entry in entries],
            "times": [entry.modified.timestamp() for entry in entries if entry.modified],
        }  # fmt: skip

    def sync(self) -> int:
        """One sync; how many files its run was given to read."""
        with self.store.connection() as connection:
            run_id, _ = start_sync(connection, DEFAULT_TENANT, self.id)
            run = begin_run(connection, run_id)
        assert run is not None
        plan_source(self.settings, self.store, run)
        with self.store.connection() as connection:
            error = end_sync(connection, run_id)
            assert not error, error
            row = connection.execute(
                "SELECT count(*) FROM run_files WHERE run_id = %s", (run_id,)
            ).fetchone()
            finish_run(connection, run_id, "cancelled")  # what was to be read is not
        return int(row[0]) if row else 0

    def ids(self) -> tuple[list[int], list[int]]:
        """The ids of all documents and chunks."""
        with psycopg.connect(self.url) as connection:
            found = [connection.execute(_IDS.format(t)).fetchone() for t in ("documents", "chunks")]
        documents, chunks = (list(row[0]) for row in found if row)
        return documents, chunks


def _listed(folder: Path) -> int:
    """The floor: every file's times."""
    return sum(
        (Path(place, name).stat().st_mtime_ns > 0)
        for place, _, names in os.walk(folder)
        for name in names
    )


def _hashed(folder: Path) -> int:
    files = (Path(place, name) for place, _, names in os.walk(folder) for name in names)
    return sum(len(hashlib.sha256(file.read_bytes()).hexdigest()) for file in files)


@contextmanager
def _counted(owner: Any, name: str) -> Iterator[list[int]]:
    """The calls of a method meanwhile."""
    count, plain = [0], getattr(owner, name)

    def counting(self: Any, *given: Any, **more: Any) -> Any:
        count[0] += 1
        return plain(self, *given, **more)

    setattr(owner, name, counting)
    try:
        yield count
    finally:
        setattr(owner, name, plain)


async def run(options: Options, report: Report) -> None:
    """Fill a folder and a database, and sync the one into the other."""
    await asyncio.to_thread(_run, options, report)


def _run(options: Options, report: Report) -> None:
    files = FILES // 10 if options.quick else FILES
    settings = load_settings(database_url="embedded", llm="offline", embedder="offline")
    with tempfile.TemporaryDirectory() as place, server() as servers, servers.database() as url:
        folder = Path(place)
        for n in range(files):
            (folder / str(n // IN_FOLDER)).mkdir(exist_ok=True)
            (folder / str(n // IN_FOLDER) / f"{n}.md").write_text(TEXT.format(n=n))
        store = ChunkStore(url, "fake:words:1536")
        try:
            _measure(Synced(url, folder, store, settings), files, options, report)
        finally:
            store.connections.close_writing()


def _measure(source: Synced, files: int, options: Options, report: Report) -> None:
    source.sync()
    rounds = 3 if options.quick else 9
    ways: dict[str, Callable[[], object]] = {
        "listing with times (the floor)": lambda: _listed(source.folder),
        "a sync, nothing changed": source.sync,
        "hashing every file": lambda: _hashed(source.folder),
    }
    seconds = {name: [0.0] * rounds for name in ways}
    for at in range(rounds):
        for name, way in ways.items():
            seconds[name][at] = seconds_of(way)
    with _counted(psycopg.Cursor, "execute") as statements:
        source.sync()
    times = {name: p50(values) for name, values in seconds.items()}
    floor, unchanged, hashing = times.values()
    rows = [[name, f"{value:.3f}", f"{value / floor:.1f}"] for name, value in times.items()]
    report.table(f"{files} files, p50 of {rounds}", ["", "s", "of the floor"], rows)

    (source.folder / "0" / "7.md").write_text("Crate 7 is empty now.")
    with _counted(FolderSource, "read") as reads:
        given = source.sync()
    before = source.ids()
    (source.folder / "0").rename(source.folder / "renamed")
    (source.folder / "renamed" / "7.md").unlink()
    renaming = time.perf_counter()
    embedded = source.sync()
    renaming = time.perf_counter() - renaming
    kept = source.ids()
    report.table(
        "What it took",
        ["", "statements", "files read", "given to be embedded", "s"],
        [
            ["nothing changed", statements[0], 0, 0, f"{unchanged:.2f}"],
            ["one file changed", "", reads[0], given, ""],
            [f"a folder of {min(files, IN_FOLDER)} renamed", "", "", embedded, f"{renaming:.2f}"],
        ],
    )
    report.at_most("seconds of a sync with nothing changed", unchanged, SECONDS)
    report.at_most("its share of hashing every file", unchanged / hashing, 3.0)
    report.at_most("its statements a thousand files", statements[0] * 1000 / files, STATEMENTS)
    report.at_most("files read for one that changed", reads[0], 1)
    report.at_most("files embedded for a renamed folder", embedded, 0)
    lost = len(set(before[0]) - set(kept[0])) + len(set(before[1]) - set(kept[1]))
    report.at_most("ids of documents and chunks lost by it, but those of the file removed", lost, 2)


if __name__ == "__main__":
    main({"sources": run})
