"""``python -m pipelines.worker``, `helix worker`: a process that carries out queued runs.

Any number of workers, on one machine or many, share the runs of one database. Each holds an
advisory lock named after itself for as long as it lives; what a worker without its lock had under
way is taken over by another.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Annotated, TypeVar

import typer

from helix.embedding_cache import with_cache
from helix.errors import HelixError
from helix.garbage import settle
from helix.logs import configure_logging
from helix.privacy.contacts import counting
from helix.privacy.counter import process_counter
from helix.providers import build_embedder, build_next_embedder
from helix.providers.base import Embedder
from helix.services import open_store
from helix.settings import Settings, load_settings
from helix.store import ChunkStore
from pipelines import workflow
from pipelines.asking import this_host
from pipelines.desk import Desk
from pipelines.embedding import Coalescer, requests_of
from pipelines.filework import Embedding, Tools
from pipelines.program import run
from pipelines.runwork import FilesAtWork, Worker
from pipelines.sandbox import Limits, Sandbox

T = TypeVar("T")

FILES_AT_ONCE = 64
"""Files that a worker has under way: enough small ones to fill an embedding request together."""

_WAIT_SECONDS = 0.1
_GATHER_SECONDS = 0.5  # that a small file's chunks wait for others' to share a request, at most

_logger = logging.getLogger("pipelines.worker")  # run as a program it is __main__


@asynccontextmanager
async def open_worker(
    settings: Settings, *, files_at_once: int = FILES_AT_ONCE, until_idle: bool = False
) -> AsyncIterator[tuple[Worker, asyncio.Task[None]]]:
    """A worker at work, and the task that ends when it has nothing more to do.

    Raises:
        SettingsError, StoreUnavailable, EmbedderMismatch: as open_store does.
    """
    host = this_host()
    name = f"{host}-{os.getpid()}-{secrets.token_hex(4)}"
    limits = Limits(seconds=settings.read_seconds, memory_mb=settings.read_mb)
    processes = max(1, os.cpu_count() or 1)
    sandbox = Sandbox(limits, processes=processes)
    embedders = [build_embedder(settings, patient=True)]
    if following := build_next_embedder(settings, patient=True):
        embedders.append(following)
    try:
        async with open_store(settings, *embedders) as store:
            requests = asyncio.Semaphore(settings.embed_parallel)
            at_work = FilesAtWork()
            embeddings = [_embedding(settings, store, one, requests, at_work) for one in embedders]
            tools = Tools(store, embeddings, sandbox, asyncio.Semaphore(processes))
            worker = Worker(settings, tools, name, host, at_work)
            async with (
                counting(store, "ingesting"),
                workflow.durable_engine(
                    worker,
                    database_url=store.url,
                    executor=name,
                    host=host,
                    files_at_once=files_at_once,
                ),
            ):
                attending = asyncio.create_task(Desk(worker).attend(until_idle=until_idle))
                try:
                    yield worker, attending
                finally:
                    attending.cancel()
                    with suppress(asyncio.CancelledError):
                        await attending
    finally:
        await sandbox.aclose()
        for embedder in embedders:
            await embedder.aclose()


def _embedding(
    settings: Settings,
    store: ChunkStore,
    embedder: Embedder,
    requests: asyncio.Semaphore,
    at_work: FilesAtWork,
) -> Embedding:
    cached = with_cache(embedder, store, settings.embed_cache_mb)
    gathered = Coalescer(
        requests_of(cached),
        cached.max_batch,
        _GATHER_SECONDS,
        parties=lambda: at_work.count,
        limit=requests,
    )
    return Embedding(cached, gathered.embed)


def work(
    files_at_once: Annotated[
        int, typer.Option("--files", min=1, max=256, help="Files under way at once.")
    ] = FILES_AT_ONCE,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="End when there is nothing more to do.")
    ] = False,
    parent: Annotated[int | None, typer.Option("--parent", hidden=True)] = None,
) -> None:
    """Carry out runs until SIGTERM or Ctrl-C; several workers share them.

    What is under way then goes on with another worker, or with the next one that starts.
    """
    try:
        settings = load_settings()
        configure_logging(settings.log_level, settings.log_format)
        process_counter()  # from the first connection on
        asyncio.run(_work(settings, files_at_once, until_idle, parent))
    except HelixError as error:
        typer.echo(f"worker: {error}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


async def _work(
    settings: Settings, files_at_once: int, until_idle: bool, parent: int | None
) -> None:
    async with open_worker(settings, files_at_once=files_at_once, until_idle=until_idle) as (
        worker,
        attending,
    ):
        settle()
        _logger.info("worker %s is ready", worker.name)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, attending.cancel)
        if parent is not None:
            watching = asyncio.create_task(_end_with(parent, attending))
            attending.add_done_callback(lambda _: watching.cancel())
        with suppress(asyncio.CancelledError):
            await attending


async def _end_with(parent: int, attending: asyncio.Task[None]) -> None:
    """End when the server that started this worker is gone, killed as it may be."""
    while os.getppid() == parent:  # noqa: ASYNC110 - nobody tells of that
        await asyncio.sleep(1.0)
    attending.cancel()


if __name__ == "__main__":
    run(work)
