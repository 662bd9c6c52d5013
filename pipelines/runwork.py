"""The runs of one worker: what the workflows ask of it (pipelines/workflow.py)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
from psycopg.rows import TupleRow

from helix import index
from helix.errors import HelixError, StoreUnavailable
from helix.library.runs import RunEnd, fail_file, finish_run, set_stage, stop_wanted
from helix.logs import where
from helix.settings import Settings
from pipelines.embedding import RunBatch
from pipelines.filework import FileWork, Tools
from pipelines.outages import through_outages
from pipelines.planning import StopWanted
from pipelines.plans import plan
from pipelines.rows import begin_run, count_open, open_files

T = TypeVar("T")

_WAIT_SECONDS = 0.1

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
            await plan(self._settings, self.tools.store.of(run.tenant), run)
        except StopWanted:
            return False
        await self.database(set_stage, run_id, "files")
        if await self.database(open_files, run_id, -1, 1):
            await self._drop_empty_index()
        return True

    async def _drop_empty_index(self) -> None:
        """Only its owner may: without that, the load is slower, and no less right."""
        try:
            await self.database(index.drop_if_empty)
        except StoreUnavailable as error:
            _logger.info("the vector index stays during the load (%s)", where(error))

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
        _logger.error("run %d, file %d: %s", run_id, n, where(error))
        await self.database(fail_file, run_id, n, f"internal error ({type(error).__name__})")

    async def give_up(self, run_id: int, error: Exception) -> None:
        """End a run that failed as a whole."""
        _logger.error("run %d: %s", run_id, where(error))
        told = str(error) if isinstance(error, HelixError) else f"({type(error).__name__})"
        await self.finish(run_id, f"internal error: {told}")

    async def finish(self, run_id: int, error: str | None = None) -> None:
        """End the run; ``error`` is None unless it was stopped, and empty if by its owner."""
        try:
            await self.database(index.build_if_missing)
        except StoreUnavailable as error:  # searches do without it, and the next run tries again
            _logger.warning("the vector index was not built (%s)", where(error))

        def end(connection: psycopg.Connection[TupleRow]) -> None:
            with connection.transaction():
                status: RunEnd = "done" if error is None else "failed" if error else "cancelled"
                finish_run(connection, run_id, status, error or "")

        if error is not None or not await self.database(stop_wanted, run_id):
            await self.database(end)

    async def idle(self) -> bool:
        """Whether there is no run that this worker could do something for."""

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
