"""The steps of the durable workflows in this process; pipelines/runs/workflow.py calls them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from helix.errors import HelixError, SettingsError, StoreUnavailable
from helix.library.access import Library
from helix.library.run_files import count_open, fail_file, open_files
from helix.library.runs import (
    RunEnd,
    RunRow,
    any_open_run,
    begin_run,
    finish_run,
    set_stage,
    should_stop,
    tenant_of_run,
)
from helix.library.source_entries import (
    count_removed,
    removable,
    remove_entry,
    settle,
    sync_of_run,
    told_sync,
)
from helix.library.sources import delete_source
from helix.settings import Settings
from helix.settings.prompts import use_folder
from helix.storage import indexes as index
from helix.storage.connections import Connected
from helix.store import ChunkStore
from helix.telemetry.logs import where
from pipelines.files.embedding import RunBatch
from pipelines.files.ingestion import FileIngestion, Tools
from pipelines.outages import in_database, through_outages
from pipelines.runs.daemon_thread import in_daemon_thread
from pipelines.runs.path_plan import FileHashes, RunCancelled, plan_paths
from pipelines.runs.planned_files import FileLimits
from pipelines.runs.web_plan import plan_web


async def carry_out_study(settings: Settings, store: ChunkStore, run: RunRow) -> bool:
    """Make the set that the run names, or what is left of it; False where it is to stop.

    Raises:
        UpstreamError: the model's service failed several times in a row.
        NothingMade: there is no item at the end.
        SettingsError: HELIX_STUDY is off, HELIX_LLM names no model that can be opened, or as
            use_folder does.
    """
    if settings.study == "off":
        raise SettingsError("study is off (HELIX_STUDY): on, a set that is ordered again is made")
    use_folder(settings.prompts_folder)
    from helix.providers.factories import build_llm  # here, for most runs ask no model
    from helix.study.generation import make
    from helix.study.model_maker import build_maker

    llm = await asyncio.to_thread(build_llm, settings)

    async def going_on(stage: str) -> bool:
        return await in_database(store, set_stage, run.id, stage)

    try:
        maker = build_maker(settings, llm)
        return await make(Library(store), int(run.options["set_id"]), maker, going_on)
    finally:
        await llm.aclose()


T = TypeVar("T")

_WAIT_SECONDS = 0.1

_logger = logging.getLogger(__name__)


@dataclass
class FilesUnderWay:
    """The number of files that this worker has under way."""

    count: int = 0


class Worker:
    """The work of this process. ``name`` is its alone; ``host`` is its machine's.

    ``hashes`` are those of files that the command of this process has looked at.
    """

    def __init__(
        self,
        settings: Settings,
        tools: Tools,
        name: str,
        host: str,
        under_way: FilesUnderWay,
        hashes: FileHashes | None = None,
    ) -> None:
        self.tools = tools
        self.name = name
        self.host = host
        self._settings = settings
        self._under_way = under_way
        self._hashes = hashes

    async def plan(self, run_id: int) -> bool:
        """Find the run's files; False when the run is to stop."""
        run = await self.database(begin_run, run_id)
        if run is None:
            return False
        store = self.tools.store.of(run.tenant)
        if run.kind == "study":  # it has no files, and is made in this step
            return await self._study(run)
        if run.kind == "source" and not await self._source(store, run):
            return False
        try:
            if run.kind == "paths":
                limits, hashes = FileLimits.of(self._settings), self._hashes or FileHashes()
                await through_outages(
                    lambda: in_daemon_thread(plan_paths, store, run_id, run.options, limits, hashes)
                )
            elif run.kind in ("url", "crawl"):
                await plan_web(self._settings, store, run)  # an upload's files came with it
        except RunCancelled:
            return False
        await self.database(set_stage, run_id, "files")
        if await self.database(open_files, run_id, -1, 1):  # where there is anything to load
            try:
                await self.database(index.drop_if_empty)
            except StoreUnavailable as error:  # only its owner may: the load is slower without
                _logger.info("the vector index stays during the load (%s)", where(error))
        return True

    async def _study(self, run: RunRow) -> bool:
        try:
            return await carry_out_study(self._settings, self.tools.store.of(run.tenant), run)
        except StoreUnavailable:
            raise
        except HelixError as error:  # what was made until then stays
            await self.finish(run.id, str(error))
            return False

    async def _source(self, store: ChunkStore, run: RunRow) -> bool:
        """List and compare the source of a sync; False where it is to stop, or cannot be opened."""
        from pipelines.sources.sync import plan_source  # here, for most runs are no sync

        try:
            await through_outages(lambda: in_daemon_thread(plan_source, self._settings, store, run))
        except (StoreUnavailable, RunCancelled) as stopped:
            if isinstance(stopped, StoreUnavailable):
                raise
            return False
        except HelixError as error:
            await self.finish(run.id, str(error))
            return False
        return True

    async def tenant(self, run_id: int) -> str:
        """The tenant of a run."""
        return await self.database(tenant_of_run, run_id)

    async def next_files(self, run_id: int, after: int, limit: int) -> list[int]:
        """Numbers above ``after`` of files not dealt with."""
        return await self.database(open_files, run_id, after, limit)

    async def wait(self, run_id: int, up_to: int, open_files: int) -> bool:
        """Return when at most ``open_files`` up to number ``up_to`` are left; False: stopped."""
        while not await self.database(should_stop, run_id):
            if await self.database(count_open, run_id, up_to) <= open_files:
                return True
            await asyncio.sleep(_WAIT_SECONDS)  # polled: files end in other processes too
        return False

    async def file(self, run_id: int, n: int, run_batch: RunBatch) -> None:
        """Bring one file to its outcome."""
        self._under_way.count += 1
        try:
            await FileIngestion(self.tools, run_id, n, run_batch).carry_out()
        finally:
            self._under_way.count -= 1

    async def set_aside(self, run_id: int, n: int, error: Exception) -> None:
        """Fail one file for an error that nobody foresaw."""
        _logger.error("run %d, file %d: %s", run_id, n, where(error))
        await self.database(fail_file, run_id, n, f"internal error ({type(error).__name__})")

    async def give_up(self, run_id: int, error: Exception) -> None:
        """End a run that failed as a whole."""
        _logger.error("run %d: %s", run_id, where(error))
        reason = str(error) if isinstance(error, HelixError) else f"({type(error).__name__})"
        await self.finish(run_id, f"internal error: {reason}")

    async def finish(self, run_id: int, error: str | None = None) -> None:
        """End the run; ``error`` is None unless it was stopped, and empty if by its owner.

        A sync that went through removes what is gone, and may end with an error of its own.
        """
        try:
            await asyncio.gather(
                self.database(index.build_terms_if_missing),
                self.database(index.build_vectors_if_missing),
            )
            await self.database(index.fold_counts)
        except StoreUnavailable as problem:  # searches do without it, and the next run tries again
            _logger.warning("the indexes were not built and folded (%s)", where(problem))

        def end(connection: Connected) -> None:
            with connection.transaction():
                status: RunEnd = "done" if error is None else "failed" if error else "cancelled"
                finish_run(connection, run_id, status, error or "")

        if error is None and await self.database(should_stop, run_id):
            return
        if error is None:
            error = await self.database(end_sync, run_id)
        await self.database(end)

    async def idle(self) -> bool:
        """True where there is no run that this worker could do something for."""
        return not await self.database(any_open_run, self.host)

    async def database(self, action: Callable[..., T], *arguments: Any) -> T:
        """``action(connection, *arguments)`` in a thread; a database that is away is waited for."""
        return await in_database(self.tools.store, action, *arguments)


def end_sync(connection: Connected, run_id: int) -> str | None:
    """Settle what the run brought in, and then remove what it marked; its error, if there is one.

    Killed in between, it goes on where it was: each document goes in a transaction of its own.
    None where the run is no sync.
    """
    found = sync_of_run(connection, run_id)
    if found is None or found[2].get("dry_run"):
        return None
    tenant, source_id, options = found
    settle(connection, tenant, source_id, run_id)
    removed = _remove_marked(connection, tenant, source_id, run_id)
    error, counts = told_sync(connection, tenant, source_id)
    count_removed(connection, tenant, source_id, counts.get("removed", 0) + removed)
    if options.get("remove") and not removable(connection, tenant, source_id, run_id):
        delete_source(connection, tenant, source_id)
        return None
    return error or None


def _remove_marked(connection: Connected, tenant: str, source_id: int, run_id: int) -> int:
    removed = 0
    while entries := removable(connection, tenant, source_id, run_id):
        if should_stop(connection, run_id):
            break
        for key, document_id in entries:
            with connection.transaction():
                removed += remove_entry(connection, tenant, source_id, key, document_id)
    return removed
