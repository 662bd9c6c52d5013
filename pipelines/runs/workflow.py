"""Runs as durable workflows of DBOS, which only this file and workflow_records import.

A run is a workflow, each of its files a child on a queue that all workers share, and each
embedding batch of a file a step. DBOS keeps their state in schema ``dbos`` of the same database:
what a killed worker had under way is taken over by another one, or by the next that starts, at the
first step not finished. What is done between steps may be done twice, and changes nothing then.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field

from dbos import DBOS, DBOSConfig, SetEnqueueOptions, SetWorkflowID
from dbos._dbos import _get_dbos_instance
from dbos._error import DBOSException
from sqlalchemy.exc import DBAPIError

from helix.errors import StoreUnavailable
from helix.telemetry.logs import where
from pipelines.outages import is_outage
from pipelines.runs.run_steps import Worker
from pipelines.runs.workflow_records import list_workflows, workflow_id_of

FILES, RUNS = "helix-files-by-tenant", "helix-runs"
"""Queues of files, which any worker takes, and of runs; each machine has one of its own too. Files
are partitioned by tenant: one tenant's may all be slow, and another's begin all the same."""
_UNPARTITIONED_FILES = "helix-files"
"""The queue of files that a release before had; what it left there is carried out."""

APPLICATION_VERSION = "1"
"""Pinned: DBOS's default is a hash of the source, and a new release would leave old runs lying.
Raise it when the order of steps changes; runs of the version before must then have ended."""

_POLL_SECONDS = {FILES: 0.1, _UNPARTITIONED_FILES: 2.0}
"""The pause between two looks into a queue; a look is a transaction of some milliseconds."""
_RUNS_POLL_SECONDS = 0.2  # of the queues of runs
_WINDOW = 200  # files of one run that are queued at once: 10,000 at a time would be held in memory

_logger = logging.getLogger(__name__)


@dataclass
class _Current:
    """The worker of this process, for workflows are functions of a module."""

    worker: Worker | None = None
    tasks: dict[asyncio.Task[object], str | None] = field(default_factory=dict)
    """By the task that carries it out, the id of each workflow under way."""
    interrupted: set[str] = field(default_factory=set)
    """Ids of the workflows that the engine's own connection broke under."""
    is_closing: bool = False
    """True where nothing may begin any more: the engine still hands out work while it closes."""

    @contextmanager
    def under_way(self) -> Iterator[Worker]:
        """The worker, for a workflow that ``interrupt`` can interrupt.

        Where the engine's own connection breaks, in a way that DBOS does not wait for, the workflow
        is interrupted too: it stays pending, and ``requeue_interrupted`` has it carried out again,
        or ``requeue_unstarted`` where it is no outage.
        """
        task, key = asyncio.current_task(), DBOS.workflow_id
        assert task is not None
        self.tasks[task] = key
        try:
            yield self.get()
        except DBAPIError as error:
            _logger.warning("workflow %s lost the database (%s)", key, where(error))
            if key and is_outage(error.orig):
                self.interrupted.add(key)
            raise asyncio.CancelledError from error
        finally:
            del self.tasks[task]

    async def interrupt(self) -> None:
        """Interrupt what is under way or begins; to DBOS it looks as if this process were killed.

        A workflow that failed for lack of a worker would count as ended, and its run wait for ever.
        """
        self.is_closing = True
        tasks = list(self.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def get(self) -> Worker:
        if self.is_closing:
            raise asyncio.CancelledError
        assert self.worker is not None, "no worker is open in this process"
        return self.worker


_current = _Current()


def runs_queue(host: str) -> str:
    """The queue of the runs that only ``host`` can carry out."""
    return f"{RUNS}-{host}"


@asynccontextmanager
async def durable_engine(
    worker: Worker, *, database_url: str, executor: str, host: str, files_at_once: int
) -> AsyncIterator[None]:
    """Carry out queued runs in the running event loop until the block ends.

    ``executor`` names this worker, uniquely; ``files_at_once`` bounds the files of a tenant that it
    works on, and twice that all of them.
    What is under way at the end stays where it is, for another worker to take over.
    """
    _current.worker, _current.is_closing = worker, False
    _current.interrupted.clear()  # the launch takes up whatever this worker had under way
    config = DBOSConfig(
        name="helix",
        system_database_url=database_url,
        application_version=APPLICATION_VERSION,
        executor_id=executor,
        sys_db_pool_size=8,
        log_level="ERROR",
        console_log_level="ERROR",
        enable_otlp=False,
        run_migrations=False,  # migrate_engine did, where this role may
        notification_listener_polling_interval_sec=0.5,
    )
    DBOS(config=config)
    logger = logging.getLogger("dbos")
    logger.handlers.clear()  # its own form is neither of HELIX_LOG_FORMAT's
    logger.propagate = True
    logger.addFilter(_is_news)
    own_queue = runs_queue(host)
    DBOS.listen_queues([FILES, _UNPARTITIONED_FILES, RUNS, own_queue])
    try:
        _launch()
        await _register(
            {RUNS: 4, own_queue: 4, _UNPARTITIONED_FILES: files_at_once, FILES: files_at_once}
        )
        yield
    finally:
        await _current.interrupt()
        # DBOS made its own threads the loop's, and takes them along when it goes.
        loop = asyncio.get_running_loop()
        threads = ThreadPoolExecutor()
        loop.set_default_executor(threads)
        await loop.run_in_executor(threads, DBOS.destroy)
        _current.worker = None


def is_under_way() -> bool:
    """True while this process carries out a workflow."""
    return bool(_current.tasks)


def _is_news(record: logging.LogRecord) -> bool:
    """True where what DBOS logs is news: its own exceptions are handled here. No tracebacks."""
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return True
    record.msg, record.args = "%s (%s)", (record.getMessage(), where(error))
    record.exc_info = record.exc_text = None
    return not isinstance(error, DBOSException)


async def migrate_engine(database_url: str) -> None:
    """Make or update schema ``dbos``; left to the launch to judge where this role may not."""
    with suppress(DBAPIError):
        # In a thread: it waits for transactions to end, and some of ours may be this loop's to end.
        await asyncio.to_thread(DBOS.migrate, database_url)


def _launch() -> None:
    try:
        DBOS.launch()
    except (DBAPIError, DBOSException) as error:
        raise StoreUnavailable(
            "the schema dbos, where runs are kept, is missing or old, and this role may not make"
            " it: run `helix worker --until-idle` once as the database's owner"
        ) from getattr(error, "orig", error)


async def _register(queues: Mapping[str, int]) -> None:
    """Take from ``queues``, by name, so many at once; of FILES so many of each tenant."""
    try:
        for name, concurrency in queues.items():
            await DBOS.register_queue_async(
                name,
                worker_concurrency=2 * concurrency if name == FILES else concurrency,
                partition_worker_concurrency=concurrency if name == FILES else None,
                polling_interval_sec=_POLL_SECONDS.get(name, _RUNS_POLL_SECONDS),
                on_conflict="always_update",
            )
    except DBAPIError as error:
        raise StoreUnavailable("the database went away while a worker woke") from error.orig


async def enqueue_run(run_id: int, host: str | None) -> None:
    """Queue the run's workflow; a second time changes nothing."""
    with SetWorkflowID(workflow_id_of(run_id)):
        await DBOS.enqueue_workflow_async(runs_queue(host) if host else RUNS, run_workflow, run_id)


async def requeue_unstarted(executor: str, suspects: set[str]) -> set[str]:
    """Queue again those of ``suspects`` that this worker was given and still does not carry out.

    Postgres may crash between giving a worker a workflow and telling it. Returns what it was given
    and does not carry out now: the suspects of the next call.
    """
    pending = await list_workflows(status="PENDING", executor_id=executor)
    unstarted = {status.workflow_id for status in pending} - set(_current.tasks.values())
    for key in unstarted & suspects:
        _logger.warning("workflow %s was never started: it is queued again", key)
        await _requeue(key, executor)
    return unstarted - suspects


async def requeue_interrupted(executor: str) -> None:
    """Queue again what this worker had under way when the engine's own connection broke."""
    while _current.interrupted:  # where queueing fails, the launch of the next engine does it
        await _requeue(_current.interrupted.pop(), executor)


async def _requeue(key: str, executor: str) -> None:
    requeue = _get_dbos_instance()._sys_db.reenqueue_for_recovery  # its only way in
    await asyncio.to_thread(requeue, key, [executor], RUNS)  # in its own queue, where it has one


# Of run and file: as often as workers die. DBOS would give it up after a number of kills.
@DBOS.workflow(name="run", max_recovery_attempts=None)
async def run_workflow(run_id: int) -> None:
    """Plan the run, queue its files a window at a time, and end it."""
    with _current.under_way() as worker:
        try:
            await _carry_out(worker, run_id)
        except (DBOSException, DBAPIError):  # cancelled, taken over by another worker, or cut off
            raise
        except Exception as error:  # noqa: BLE001 - a run that fails must end
            await worker.give_up(run_id, error)


async def _carry_out(worker: Worker, run_id: int) -> None:
    last, going_on = -1, await _plan(run_id)  # files are numbered from 0
    tenant = await worker.tenant(run_id)
    while going_on:
        numbers = await _next_files(run_id, last)
        if not numbers:
            break
        for n in numbers:
            key = SetWorkflowID(f"{workflow_id_of(run_id)}-file-{n}")
            with key, SetEnqueueOptions(queue_partition_key=tenant):
                await DBOS.enqueue_workflow_async(FILES, file_workflow, run_id, n)
        last = numbers[-1]
        # half a window early, so that no worker is idle while the next one is queued
        going_on = await worker.wait(run_id, last, _WINDOW // 2)
    if going_on:
        await worker.wait(run_id, last, 0)
    await _finish(run_id)


@DBOS.workflow(name="file", max_recovery_attempts=None)
async def file_workflow(run_id: int, n: int) -> None:
    """Bring one file in; each embedding batch is a step."""

    async def run_batch(_: int, batch: Callable[[], Awaitable[None]]) -> None:
        await DBOS.run_step_async({"name": "embed"}, batch)

    with _current.under_way() as worker:
        try:
            await worker.file(run_id, n, run_batch)
        except (DBOSException, DBAPIError):  # cancelled, taken over by another worker, or cut off
            raise
        except Exception as error:  # noqa: BLE001 - one file must not end the run
            await worker.set_aside(run_id, n, error)


@DBOS.step(name="plan")
async def _plan(run_id: int) -> bool:
    return await _current.get().plan(run_id)


@DBOS.step(name="next files")
async def _next_files(run_id: int, after: int) -> list[int]:
    return await _current.get().next_files(run_id, after, _WINDOW)


@DBOS.step(name="finish")
async def _finish(run_id: int) -> None:
    await _current.get().finish(run_id)
