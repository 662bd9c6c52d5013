"""The syncs that are due, and the folders that are watched: what a worker does beside its runs.

Every worker looks; a statement gives each due source to one of them. What changes in a watched
folder makes its source due. Where the file system tells nothing of changes, as on most shares, the
next due sync finds them: a listing is how they are polled.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from watchfiles import awatch

from helix.errors import HelixError
from helix.library.access import in_background
from helix.library.sources import make_due, start_due, watched_folders
from helix.telemetry.logs import where
from pipelines.runs.run_steps import Worker

LOOK_SECONDS = 10.0
_QUIET_MS = 1600  # a folder that changes all the time is looked at as often

Folders = Mapping[Path, list[tuple[str, int]]]
"""By their paths, the tenants and ids of the sources that are there."""

_logger = logging.getLogger(__name__)


class Schedule:
    """The part of one worker in starting syncs."""

    def __init__(self, worker: Worker, look_seconds: float = LOOK_SECONDS) -> None:
        self._worker = worker
        self._look_seconds = look_seconds
        self._changed = asyncio.Event()

    async def attend(self) -> None:
        """Start what is due, until cancelled; a look that fails is followed by the next."""
        watched: Folders = {}
        while True:
            folders = await self._look()
            if folders is not None:
                watched = folders
            async with in_background(self._watch(watched)):
                while True:
                    await self._start_due()
                    folders = await self._look()
                    if folders not in (None, watched):
                        break
                    await self._wait()

    async def _wait(self) -> None:
        with suppress(TimeoutError):  # nothing changed: look at what is due
            await asyncio.wait_for(self._changed.wait(), self._look_seconds)
        self._changed.clear()

    async def _look(self) -> Folders | None:
        """The folders to watch that are there; None where the database did not say."""
        try:
            found = await self._worker.database(watched_folders, self._worker.host)
        except HelixError as error:
            _logger.warning("sources could not be looked at (%s)", where(error))
            return None
        folders: dict[Path, list[tuple[str, int]]] = {}
        for tenant, source_id, address in found:
            path = Path(address)
            if await asyncio.to_thread(path.is_dir):
                folders.setdefault(path, []).append((tenant, source_id))
        return folders

    async def _start_due(self) -> None:
        try:
            started = await self._worker.database(start_due)
        except HelixError as error:
            _logger.warning("syncs could not be started (%s)", where(error))
            return
        for run_id in started:
            _logger.info("run %d syncs a source that was due", run_id)

    async def _watch(self, folders: Folders) -> None:
        """Make the sources due in whose folders something changes."""
        if not folders:
            return
        try:
            async for changes in awatch(
                *folders, debounce=_QUIET_MS, watch_filter=None, ignore_permission_denied=True
            ):
                paths = [Path(path) for _, path in changes]
                for folder, sources in folders.items():
                    if any(path.is_relative_to(folder) for path in paths):
                        await self._make_due(sources)
                self._changed.set()
        except (OSError, HelixError) as error:  # no room for more watches: the schedule finds it
            _logger.warning("changes of folders are not told of (%s)", where(error))

    async def _make_due(self, sources: list[tuple[str, int]]) -> None:
        for tenant, source_id in sources:
            await self._worker.database(make_due, tenant, source_id)
