"""The loop of a worker: starts and stops runs, takes over from dead workers, tidies up."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress

import psutil
import psycopg
from psycopg import AsyncConnection
from psycopg.rows import TupleRow
from sqlalchemy.exc import DBAPIError

from helix.library.run_files import fail_file
from helix.library.runs import (
    CHANNEL,
    LIVE,
    queued_runs,
    requeue_run,
    running_runs,
    stopping_runs,
)
from helix.telemetry.logs import where
from pipelines.outages import is_outage, through_outages
from pipelines.runs import workflow, workflow_records
from pipelines.runs.run_steps import Worker

_LOOK_SECONDS = 1.0  # longest until a queued run is seen whose notification was lost
_RESTING_LOOK_SECONDS = 30.0  # the same while there is nothing to do: it is notified on the way
_REST_SECONDS = 5.0  # after the last run; the next one often comes soon
_LEAVE_SECONDS = 0.2  # the same where it ends then: the engine notes down what it has done
_ROLL_CALL_SECONDS = 2.0
_MISSED_SECONDS = 5.0  # a lock free for so long: a worker that lost its connection has it again
_TIDY_SECONDS = 30.0
_FORGET_HOURS = 24.0  # after which the engine's records of an ended run are only weight

_logger = logging.getLogger(__name__)

Connected = AsyncConnection[TupleRow]


class PausableEngine:
    """The durable engine of a worker: awake while there is work, gone while there is none.

    Awake it asks the database for work some dozens of times a second, which is how it hands a file
    on within a tenth of one. Waking it takes a quarter of a second.
    """

    def __init__(self, engine: Callable[[], AbstractAsyncContextManager[None]]) -> None:
        self._engine = engine
        self._exit_stack: AsyncExitStack | None = None

    @property
    def is_awake(self) -> bool:
        """True where the engine looks for work."""
        return self._exit_stack is not None

    async def wake(self) -> None:
        """Open it, unless it is open.

        Raises:
            StoreUnavailable: the database is away, or has no place for it.
        """
        if self._exit_stack is None:
            async with AsyncExitStack() as opening:
                await opening.enter_async_context(self._engine())
                self._exit_stack = opening.pop_all()

    async def rest(self) -> None:
        """Close it; what it had under way stays where it is, for the next that wakes."""
        exit_stack, self._exit_stack = self._exit_stack, None
        if exit_stack is not None:
            await exit_stack.aclose()


class WorkerLoop:
    """The loop of one worker. The advisory lock of its connection is the worker's sign of life."""

    def __init__(self, worker: Worker, engine: PausableEngine) -> None:
        self._worker = worker
        self._engine = engine
        self._missing_since: dict[str, float] = {}
        self._unstarted: set[str] = set()
        self._finishing: dict[int, asyncio.Task[None]] = {}
        """By the run's id, what ends a run that was stopped."""
        self._last_roll_call = self._tidied = 0.0

    async def attend(self, *, until_idle: bool = False) -> None:
        """Until cancelled, or until there is nothing to do."""
        try:
            await self._attend(until_idle)
        finally:
            finishing = list(self._finishing.values())
            for task in finishing:
                task.cancel()
            await asyncio.gather(*finishing, return_exceptions=True)

    async def _attend(self, until_idle: bool) -> None:
        while True:
            try:
                async with await self._connect() as connection:
                    self._missing_since.clear()  # the others may be coming back too
                    return await self._serve(connection, until_idle)
            except psycopg.OperationalError:
                await self._pause()
            except DBAPIError as error:  # the engine's; once awake it takes up what it could not do
                if not is_outage(error.orig):
                    raise
                await self._engine.rest()
                await self._pause()

    async def _pause(self) -> None:
        _logger.warning("the database is away: a worker waits for it")
        await asyncio.sleep(1.0)

    async def _connect(self) -> Connected:
        worker = self._worker
        url = worker.tools.store.connections.url
        connection = await AsyncConnection.connect(url, autocommit=True)
        # shared: workers whose names have one hash do not wait for each other
        await connection.execute(
            "SELECT pg_advisory_lock_shared(%s, hashtext(%s))", (LIVE, worker.name)
        )
        await connection.execute(f"LISTEN {CHANNEL}")
        return connection

    async def _serve(self, connection: Connected, until_idle: bool) -> None:
        busy_at = time.monotonic()
        while True:
            is_idle = await self._worker.idle() and not workflow.is_under_way()
            if not is_idle:
                busy_at = time.monotonic()
                await through_outages(self._engine.wake)
            elif until_idle and time.monotonic() - busy_at > _LEAVE_SECONDS:
                return
            elif time.monotonic() - busy_at > _REST_SECONDS:
                await self._engine.rest()
            if self._engine.is_awake:
                await workflow.requeue_interrupted(self._worker.name)
                await self._start_and_stop_runs()
                await self._do_periodic_work(connection)
            wait = _LOOK_SECONDS if self._engine.is_awake else _RESTING_LOOK_SECONDS
            await _notified(connection, _LEAVE_SECONDS if until_idle else wait)

    async def _do_periodic_work(self, connection: Connected) -> None:
        now = time.monotonic()
        if now - self._last_roll_call > _ROLL_CALL_SECONDS:
            self._last_roll_call = now
            await self._take_over_from_dead_workers(connection)
        if now - self._tidied > _TIDY_SECONDS:
            self._tidied = now
            await workflow_records.forget(_FORGET_HOURS)
            self._unstarted = await workflow.requeue_unstarted(self._worker.name, self._unstarted)
            await self._end_lost_runs()

    async def _start_and_stop_runs(self) -> None:
        worker = self._worker
        queued = dict(await worker.database(queued_runs, worker.host))
        ended = await workflow_records.lost_runs(list(queued))
        for run_id, host in queued.items():
            if ended.get(run_id, workflow_records.ABSENT) != workflow_records.ABSENT:
                _logger.warning("run %d was never begun, and is queued again", run_id)
                await workflow_records.forget_run(run_id)
            await workflow.enqueue_run(run_id, host)
        for run_id, error in await worker.database(stopping_runs):
            if run_id not in self._finishing:
                await workflow_records.cancel_run_workflow(run_id)
                finishing = asyncio.create_task(self._finish(run_id, error))
                self._finishing[run_id] = finishing

    async def _finish(self, run_id: int, error: str) -> None:
        """End a run that stops, beside the others: a file that is being written holds its rows."""
        try:
            await self._worker.finish(run_id, error)
        except Exception as problem:  # noqa: BLE001  the next look tries again
            _logger.warning("run %d has not stopped yet: %s", run_id, where(problem))
        finally:
            del self._finishing[run_id]

    async def _take_over_from_dead_workers(self, connection: Connected) -> None:
        """Take over what workers had under way that hold their lock no more."""
        busy = await workflow_records.busy_executors() - {self._worker.name}
        missing = {name for name in busy if await _is_lock_free(connection, name)}
        now = time.monotonic()
        self._missing_since = {name: self._missing_since.get(name, now) for name in missing}
        for name, since in self._missing_since.items():
            if now - since >= _MISSED_SECONDS or self._is_dead_process_of_this_host(name):
                _logger.info("taking over from worker %s", name)
                await workflow_records.take_over(name)

    def _is_dead_process_of_this_host(self, name: str) -> bool:
        """True where ``name`` was a process of this machine that is no more."""
        host, _, rest = name.rpartition("-")[0].rpartition("-")
        return host == self._worker.host and rest.isdigit() and not psutil.pid_exists(int(rest))

    async def _end_lost_runs(self) -> None:
        """End or queue again the runs and files whose workflow is no more: nobody else would."""
        worker = self._worker
        running = await worker.database(running_runs)
        for run_id, status in (await workflow_records.lost_runs(running)).items():
            _logger.error("run %d was lost (%s)", run_id, status)
            if status == workflow_records.ABSENT:
                await worker.database(requeue_run, run_id)
            else:
                await worker.finish(run_id, f"internal error: its workflow ended ({status})")
        for run_id, n in await workflow_records.lost_files(running):
            await worker.database(fail_file, run_id, n, "internal error: its workflow was given up")


async def _notified(connection: Connected, seconds: float) -> None:
    """Return when a notification came, or after so many seconds.

    Waiting costs nothing; ``connection.notifies`` alone would look ten times a second.
    """
    if await _take_notifications(connection):  # one came with the answer to a statement
        return
    loop, readable = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(connection.fileno(), readable.set)
    try:
        with suppress(TimeoutError):
            await asyncio.wait_for(readable.wait(), seconds)
    finally:
        loop.remove_reader(connection.fileno())
    await _take_notifications(connection)


async def _take_notifications(connection: Connected) -> bool:
    """Take the waiting notifications; true where there were any."""
    return bool([each async for each in connection.notifies(timeout=0)])


async def _is_lock_free(connection: Connected, name: str) -> bool:
    """True where nobody holds the lock of the worker of this name."""
    lock = (LIVE, name)
    # alone: it is given only where nobody holds the shared one
    row = await (
        await connection.execute("SELECT pg_try_advisory_lock(%s, hashtext(%s))", lock)
    ).fetchone()
    if not (row and row[0]):
        return False
    await connection.execute("SELECT pg_advisory_unlock(%s, hashtext(%s))", lock)
    return True
