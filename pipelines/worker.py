"""A worker: takes queued runs and carries them out; ``python -m pipelines.worker``, `helix worker`.

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
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import psycopg
import typer
from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from helix import index
from helix.embedding_cache import with_cache
from helix.errors import HelixError
from helix.library.runs import CHANNEL, RunEnd, fail_file, finish_run, set_stage, stop_wanted
from helix.logs import configure_logging
from helix.providers import build_embedder, build_next_embedder
from helix.providers.base import Embedder
from helix.services import open_store
from helix.settings import Settings, load_settings
from helix.store import ChunkStore
from pipelines import workflow
from pipelines.asking import this_host
from pipelines.embedding import Coalescer, RunBatch, requests_of
from pipelines.filework import Embedding, FileWork, Tools, through_outages
from pipelines.planning import StopWanted
from pipelines.plans import plan
from pipelines.rows import begin_run, count_open, open_files, queued_runs
from pipelines.rows import stopping_runs as stopping
from pipelines.sandbox import Limits, Sandbox

T = TypeVar("T")

FILES_AT_ONCE = 64
"""Files that a worker has under way: enough small ones to fill an embedding request together."""

_LIVE = 0x4C495645  # "LIVE": the class of the advisory locks of living workers
_LOOK_SECONDS = 1.0  # longest until a queued run is seen whose notification was lost
_ROLL_CALL_SECONDS = 2.0
_WAIT_SECONDS = 0.1
_TIDY_SECONDS = 600.0
_FORGET_HOURS = 24.0  # after which the engine's records of an ended run are only weight
_GATHER_SECONDS = 0.5  # that a small file's chunks wait for others' to share a request, at most

_logger = logging.getLogger(__name__)


@dataclass
class FilesAtWork:
    """How many files this worker has under way."""

    count: int = 0


class Worker:
    """The work of this process, as the workflows ask for it."""

    def __init__(
        self, settings: Settings, tools: Tools, name: str, host: str, at_work: FilesAtWork
    ) -> None:
        self._at_work = at_work
        self.tools = tools
        self.name = name
        self.host = host
        self._settings = settings

    # --- what the workflows do -----------------------------------------------------------------

    async def plan(self, run_id: int) -> bool:
        """Find the run's files; False when the run is to stop."""
        run = await self.database(begin_run, run_id)
        if run is None:
            return False
        try:
            await through_outages(lambda: plan(self._settings, self.tools.store, run))
        except StopWanted:
            return False
        await self.database(set_stage, run_id, "files")
        if await self.database(open_files, run_id, -1, 1):
            await self.database(index.drop_if_empty)
        return True

    async def next_files(self, run_id: int, after: int, limit: int) -> list[int]:
        """Numbers above ``after`` of files not dealt with."""
        return await self.database(open_files, run_id, after, limit)

    async def wait(self, run_id: int, up_to: int, open_files: int) -> bool:
        """Return when at most ``open_files`` up to number ``up_to`` are left; False: stopped."""
        while not await self.database(stop_wanted, run_id):
            if await self.database(count_open, run_id, up_to) <= open_files:
                return True
            await asyncio.sleep(_WAIT_SECONDS)
        return False

    async def file(self, run_id: int, n: int, run_batch: RunBatch) -> None:
        """Bring one file to its outcome."""
        self._at_work.count += 1
        try:
            await FileWork(self.tools, run_id, n, run_batch).carry_out()
        finally:
            self._at_work.count -= 1

    async def set_aside(self, run_id: int, n: int, error: Exception) -> None:
        """Fail one file for an error that nobody foresaw."""
        _logger.error("run %d, file %d: %s", run_id, n, type(error).__name__, exc_info=error)
        await self.database(fail_file, run_id, n, f"internal error ({type(error).__name__})")

    async def give_up(self, run_id: int, error: Exception) -> None:
        """End a run that failed as a whole."""
        _logger.error("run %d: %s", run_id, type(error).__name__, exc_info=error)
        told = str(error) if isinstance(error, HelixError) else f"({type(error).__name__})"
        await self.finish(run_id, f"internal error: {told}")

    async def finish(self, run_id: int, error: str | None = None) -> None:
        """End the run; ``error`` is None unless it was stopped, and empty if by its owner."""
        await self.database(index.build_if_missing)

        def end(connection: psycopg.Connection[TupleRow]) -> None:
            with connection.transaction():
                status: RunEnd = "done" if error is None else "failed" if error else "cancelled"
                finish_run(connection, run_id, status, error or "")

        if error is not None or not await self.database(stop_wanted, run_id):
            await self.database(end)

    # --- what it does of itself ----------------------------------------------------------------

    async def attend(self, *, until_idle: bool = False) -> None:
        """Hear of runs, stop those to be stopped, take over from the dead; until cancelled."""
        while True:
            try:
                async with await self._at_the_desk() as desk:
                    return await self._serve(desk, until_idle)
            except psycopg.OperationalError:
                _logger.warning("the database is away: a worker waits for it")
                await asyncio.sleep(1.0)

    async def _at_the_desk(self) -> AsyncConnection[TupleRow]:
        """A connection that listens, and lives as long as this worker counts as alive."""
        desk = await AsyncConnection.connect(self.tools.store.url, autocommit=True)
        await desk.execute("SELECT pg_advisory_lock_shared(%s, hashtext(%s))", (_LIVE, self.name))
        await desk.execute(f"LISTEN {CHANNEL}")
        return desk

    async def _serve(self, desk: AsyncConnection[TupleRow], until_idle: bool) -> None:
        called = tidied = idle_since = 0.0
        while True:
            await self._look()
            if time.monotonic() - called > _ROLL_CALL_SECONDS:
                called = time.monotonic()
                await self._call_the_roll(desk)
            if time.monotonic() - tidied > _TIDY_SECONDS:
                tidied = time.monotonic()
                await workflow.forget(_FORGET_HOURS)
            if await self._idle():
                idle_since = idle_since or time.monotonic()
                if until_idle and time.monotonic() - idle_since > _LOOK_SECONDS:
                    return
            else:
                idle_since = 0.0
            async for _ in desk.notifies(timeout=_LOOK_SECONDS, stop_after=1):
                pass

    async def _look(self) -> None:
        for run_id, host in await self.database(queued_runs, self.host):
            await workflow.enqueue_run(run_id, host)
        for run_id, error in await self.database(stopping):
            await workflow.cancel_run_workflow(run_id)
            await self.finish(run_id, error)

    async def _call_the_roll(self, desk: AsyncConnection[TupleRow]) -> None:
        """Take over what workers had under way that hold their lock no more."""
        for executor in await workflow.busy_executors() - {self.name}:
            lock = (_LIVE, executor)
            statement = "SELECT pg_try_advisory_lock(%s, hashtext(%s))"
            row = await (await desk.execute(statement, lock)).fetchone()
            if row and row[0]:
                try:
                    _logger.info("taking over from worker %s", executor)
                    await workflow.take_over(executor)
                finally:
                    await desk.execute("SELECT pg_advisory_unlock(%s, hashtext(%s))", lock)

    async def _idle(self) -> bool:
        def any_open(connection: psycopg.Connection[TupleRow]) -> bool:
            row = connection.execute(
                "SELECT 1 FROM runs WHERE status IN ('queued', 'running', 'cancelling')"
                " AND (host IS NULL OR host = %s) LIMIT 1",
                (self.host,),
            ).fetchone()
            return row is not None

        return not await self.database(any_open)

    # --- helpers -------------------------------------------------------------------------------

    async def database(self, action: Callable[..., T], *arguments: Any) -> T:
        """``action`` of a connection, in a thread; a database that is away is waited for."""

        def act() -> T:
            with self.tools.store.connection() as connection:
                return action(connection, *arguments)

        return await through_outages(lambda: asyncio.to_thread(act))


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
    sandbox = Sandbox(limits, processes=max(1, os.cpu_count() or 1))
    embedders = [build_embedder(settings, patient=True)]
    if following := build_next_embedder(settings, patient=True):
        embedders.append(following)
    try:
        async with open_store(settings, *embedders) as store:
            requests = asyncio.Semaphore(settings.embed_parallel)
            at_work = FilesAtWork()
            embeddings = [_embedding(settings, store, one, requests, at_work) for one in embedders]
            tools = Tools(store, embeddings, sandbox)
            worker = Worker(settings, tools, name, host, at_work)
            async with workflow.durable_engine(
                worker,
                database_url=store.url,
                executor=name,
                host=host,
                files_at_once=files_at_once,
            ):
                attending = asyncio.create_task(worker.attend(until_idle=until_idle))
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
        requests_of(cached, requests), cached.max_batch, _GATHER_SECONDS, lambda: at_work.count
    )
    return Embedding(cached, gathered.embed)


def work(
    files_at_once: Annotated[
        int, typer.Option("--files", min=1, max=256, help="Files under way at once.")
    ] = FILES_AT_ONCE,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="End when there is nothing more to do.")
    ] = False,
    with_parent: Annotated[bool, typer.Option("--with-parent", hidden=True)] = False,
) -> None:
    """Carry out runs until SIGTERM or Ctrl-C; several workers share them.

    What is under way then goes on with another worker, or with the next one that starts.
    """
    try:
        settings = load_settings()
        configure_logging(settings.log_level)
        asyncio.run(_work(settings, files_at_once, until_idle, with_parent))
    except HelixError as error:
        typer.echo(f"worker: {error}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


async def _work(
    settings: Settings, files_at_once: int, until_idle: bool, with_parent: bool
) -> None:
    parent = os.getppid()
    async with open_worker(settings, files_at_once=files_at_once, until_idle=until_idle) as (
        worker,
        attending,
    ):
        _logger.info("worker %s is ready", worker.name)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, attending.cancel)
        if with_parent:
            watching = asyncio.create_task(_end_with(parent, attending))
            attending.add_done_callback(lambda _: watching.cancel())
        with suppress(asyncio.CancelledError):
            await attending


async def _end_with(parent: int, attending: asyncio.Task[None]) -> None:
    """End when the server that started this worker is gone, killed as it may be."""
    while os.getppid() == parent:  # noqa: ASYNC110 - nobody tells of that
        await asyncio.sleep(1.0)
    attending.cancel()


def main() -> None:
    """Entry point."""
    cli = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    cli.command()(work)
    cli()


if __name__ == "__main__":
    main()
