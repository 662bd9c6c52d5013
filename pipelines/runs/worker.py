"""A worker: the models, the sandbox and the durable engine of a process that carries out runs."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial

from helix.library.privacy.contacts import counting
from helix.library.runs import this_host
from helix.library.storage_quota import Quota
from helix.overload.fairness import ReadingPlaces
from helix.providers.base import Embedder
from helix.providers.factories import build_embedder, build_next_embedder
from helix.retrieval.embedding_cache import with_cache
from helix.retrieval.vector_space import open_store
from helix.settings import Settings
from helix.store import ChunkStore
from pipelines.files.embedding import Coalescer, requests_of
from pipelines.files.ingestion import Embedding, Tools
from pipelines.files.recipe import ChunkSizes
from pipelines.runs.path_plan import FileHashes
from pipelines.runs.run_steps import FilesUnderWay, Worker
from pipelines.runs.worker_loop import PausableEngine, WorkerLoop
from pipelines.runs.workflow import durable_engine, migrate_engine
from pipelines.sandbox import ReadLimits, Sandbox

FILES_AT_ONCE = 64
"""Files that a worker has under way: enough small ones to fill an embedding request together."""

_GATHER_SECONDS = 0.5  # that a small file's chunks wait for others' to share a request, at most


@asynccontextmanager
async def open_worker(
    settings: Settings,
    *,
    files_at_once: int = FILES_AT_ONCE,
    until_idle: bool = False,
    hashes: FileHashes | None = None,
) -> AsyncIterator[tuple[Worker, asyncio.Task[None]]]:
    """A worker at work, and the task that ends when it has nothing more to do.

    ``hashes`` are those of files that this process has looked at already.

    Raises:
        SettingsError, StoreUnavailable, EmbedderMismatch: as open_store does.
    """
    host = this_host()
    name = f"{host}-{os.getpid()}-{secrets.token_hex(4)}"
    processes = max(1, os.cpu_count() or 1)
    async with AsyncExitStack() as stack:
        embedders = [build_embedder(settings, patient=True)]
        if following := build_next_embedder(settings, patient=True):
            embedders.append(following)
        for embedder in embedders:
            stack.push_async_callback(embedder.aclose)
        limits = ReadLimits(seconds=settings.read_seconds, memory_mb=settings.read_mb)
        reading = ReadingPlaces(processes)
        sandbox = Sandbox(limits, processes=reading.most)
        stack.push_async_callback(sandbox.aclose)
        store = await stack.enter_async_context(open_store(ChunkStore, settings, *embedders))
        under_way = FilesUnderWay()
        tools = Tools(
            store, _embeddings(settings, embedders, store, under_way), sandbox, reading,
            ChunkSizes.of(settings), Quota.of(settings),
        )  # fmt: skip
        worker = Worker(settings, tools, name, host, under_way, hashes)
        await stack.enter_async_context(counting(store, "ingesting"))
        await migrate_engine(store.connections.url)
        open_engine = partial(
            durable_engine,
            worker,
            database_url=store.connections.url,
            executor=name,
            host=host,
            files_at_once=files_at_once,
        )
        engine = PausableEngine(open_engine)
        stack.push_async_callback(engine.rest)
        await engine.wake()
        attending = asyncio.create_task(WorkerLoop(worker, engine).attend(until_idle=until_idle))
        try:
            yield worker, attending
        finally:
            attending.cancel()
            with suppress(asyncio.CancelledError):
                await attending


def _embeddings(
    settings: Settings, embedders: Sequence[Embedder], store: ChunkStore, under_way: FilesUnderWay
) -> list[Embedding]:
    """Each embedder with its cache; files under way share requests, of which all share a limit."""
    requests = asyncio.Semaphore(settings.embed_parallel)

    def embedding(embedder: Embedder) -> Embedding:
        cached = with_cache(embedder, store, settings.embed_cache_mb)
        coalescer = Coalescer(
            requests_of(cached),
            cached.max_batch,
            _GATHER_SECONDS,
            callers=lambda: under_way.count,
            limit=requests,
        )
        return Embedding(cached, coalescer.embed)

    return [embedding(embedder) for embedder in embedders]
