"""The real worker over a benchmark's database, its parts on the clock, in a process of its own.

``python -m benchmarks.timed_worker JSON``: the JSON names ``database_url``, the ``folder`` to
ingest and the file of ``vectors`` that stands in for an embedder; the figures are printed as
JSON.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import psycopg
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import BaseNode
from psycopg.rows import TupleRow

from benchmarks.corpus import IDENTITY, Matrix
from helix.library.access import Row
from helix.library.runs import create_run, this_host
from helix.providers.base import Embedder
from helix.sandbox import Sandbox as Processes
from helix.settings import load_settings
from helix.storage import document_writes as writing
from helix.storage import indexes as index
from pipelines.files import ingestion
from pipelines.runs import worker
from pipelines.runs.foreground import follow_run
from pipelines.runs.run_steps import Worker
from pipelines.sandbox import ReadLimits, Sandbox
from pipelines.splitters import SectionSplitter

T = TypeVar("T")

STAGES = ("read", "split", "terms", "embed", "write", "index")
"""The stages on the clock. Reading, and the terms of a larger document, are a process's whole life,
writing is a document's transaction."""


@dataclass
class IngestFigures:
    """Seconds from the run's start to its end, what it wrote, and what each stage took in sum.

    Stages go on side by side, so their sum may exceed the whole; ``split`` and ``embed`` do not:
    each is done by one thread.
    """

    seconds: float = 0.0
    chunks: int = 0
    characters: int = 0
    failed: list[str] = field(default_factory=list)
    busy: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """The block counts as this stage."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.busy[name] += time.perf_counter() - started

    def timed(self, name: str, function: Callable[..., T]) -> Callable[..., T]:
        """``function``, whose calls count as this stage."""

        def call(*given: Any, **named: Any) -> T:
            with self.stage(name):
                return function(*given, **named)

        return call

    def reset(self) -> None:
        """Forget what was measured."""
        self.busy.update(dict.fromkeys(STAGES, 0.0))


_measured = IngestFigures()


class _TimedProcesses(Processes):
    def __init__(self, processes: int, stage: str) -> None:
        super().__init__(processes)
        self._stage = stage

    async def _answer(self, *given: Any) -> Any:
        with _measured.stage(self._stage):  # a slot is held: what was waited for it does not count
            return await super()._answer(*given)


class _TimedSandbox(Sandbox):
    def __init__(self, limits: ReadLimits, processes: int) -> None:
        super().__init__(limits, processes)
        self._processes = _TimedProcesses(processes, "read")
        self._packing = _TimedProcesses(processes, "terms")


class _TimedSplitter(SectionSplitter):
    def _parse_nodes(self, nodes: Sequence[BaseNode], *given: Any, **named: Any) -> list[BaseNode]:
        with _measured.stage("split"):
            return super()._parse_nodes(nodes, *given, **named)


class _PooledEmbedding(BaseEmbedding):
    """Gives each text one of some real vectors, in hardly any time."""

    _vectors: Matrix = PrivateAttr()

    def __init__(self, vectors: Matrix) -> None:
        super().__init__(model_name="pooled", embed_batch_size=100)
        self._vectors = vectors

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        with _measured.stage("embed"):
            count = len(self._vectors)
            chosen = [zlib.crc32(text.encode()) % count for text in texts]
            vectors: list[list[float]] = self._vectors[chosen].tolist()
        return vectors

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._get_text_embeddings(texts)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def _put_on_the_clock(vectors: Matrix) -> None:
    embedder = Embedder(_PooledEmbedding(vectors), IDENTITY, max_distance=2.0)
    vars(worker)["build_embedder"] = lambda settings, patient: embedder
    vars(worker)["Sandbox"] = _TimedSandbox
    vars(ingestion)["SectionSplitter"] = _TimedSplitter
    vars(writing)["replace_document"] = _measured.timed("write", writing.replace_document)
    timed = _measured.timed("index", index.build_vectors_if_missing)
    vars(index)["build_vectors_if_missing"] = timed


async def _ingest(own: Worker, attending: asyncio.Task[None], folder: str) -> None:
    options = {"paths": [folder], "base": folder, "title": None}

    def begin(connection: psycopg.Connection[TupleRow]) -> int:
        return create_run(connection, "paths", options, host=this_host())

    started = time.perf_counter()
    run_id = await own.database(begin)

    def report(file: Row) -> None:
        if file["status"] == "failed":
            _measured.failed.append(f"{file['source_uri']}: {file['reason']}")

    await follow_run(own, attending, run_id, report)
    _measured.seconds = time.perf_counter() - started


async def _ingest_warm(own: Worker, attending: asyncio.Task[None], folder: str) -> None:
    """Ingest the folder by a worker that has done one of its files before, into an empty table."""
    with tempfile.TemporaryDirectory() as room:
        shutil.copy(min(Path(folder).iterdir()), room)
        await _ingest(own, attending, room)

    def empty(connection: psycopg.Connection[TupleRow]) -> None:
        connection.execute("TRUNCATE documents, embedding_cache CASCADE")
        connection.execute("CHECKPOINT")

    await own.database(empty)
    _measured.reset()
    await _ingest(own, attending, folder)


def _count(connection: psycopg.Connection[TupleRow]) -> None:
    row = connection.execute(
        "SELECT (SELECT count(*) FROM chunks), coalesce(sum(char_length(text)), 0) FROM documents"
    ).fetchone()
    assert row is not None
    _measured.chunks, _measured.characters = int(row[0]), int(row[1])


async def main() -> None:
    """Ingest the folder and print what was measured."""
    given = json.loads(sys.argv[1])
    _put_on_the_clock(np.load(given["vectors"]))
    settings = load_settings(database_url=given["database_url"], llm="offline", embedder="offline")
    async with worker.open_worker(settings) as (own, attending):
        await _ingest_warm(own, attending, given["folder"])
        await own.database(_count)
    print(json.dumps(asdict(_measured)))


if __name__ == "__main__":
    asyncio.run(main())
