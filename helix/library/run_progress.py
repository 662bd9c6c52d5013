"""Runs as a client sees them: the list, one with its files, what has changed, and stopping."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from helix.domain.contract import ENDED_RUN
from helix.library.access import Library, Row
from helix.library.errors import NotEditable, NotFound
from helix.library.pagination import decode_cursor, encode_cursor
from helix.library.runs import cancel_run
from helix.storage.statements import run_progress as sql
from helix.storage.statements.spaces import OTHERS_RUN

POLL_SECONDS = 0.25
_BATCH = 1000


@dataclass(frozen=True, slots=True)
class Event:
    """An event for a follower: ``name`` is run or file; ``id`` is where to go on after it."""

    name: str
    id: int
    data: Row


async def list_runs(
    library: Library, limit: int = 50, after: str | None = None, status: str | None = None
) -> Row:
    """``{"runs": […], "next": cursor or None}``, newest first.

    Raises:
        BadRequest: the cursor is none of this list.
    """
    last = decode_cursor(after, int)[0] if after is not None else None
    rows = await library.rows(sql.LIST, {"status": status, "last": last, "limit": limit + 1})
    page, more = rows[:limit], len(rows) > limit
    return {"runs": page, "next": encode_cursor(page[-1]["id"]) if more else None}


async def get_run(library: Library, run_id: int, limit: int = 100, after: str | None = None) -> Row:
    """The run with its counts and a page of its ``files``, failed ones first.

    Raises:
        NotFound: there is none of this id.
        BadRequest: the cursor is none of this list.
    """
    last_rank, last_n = decode_cursor(after, int, int) if after is not None else (-1, -1)
    run = await library.row(sql.GET, {"id": run_id})
    if run is None:
        raise no_run(run_id)
    values = {"id": run_id, "last_rank": last_rank, "last_n": last_n, "limit": limit + 1}
    rows = [file_state(row) for row in await library.rows(sql.FILES, values)]
    page, more = rows[:limit], len(rows) > limit
    cursor = None
    if more:
        cursor = encode_cursor(int(page[-1]["status"] != "failed"), page[-1]["n"])
    return {**run, "files": page, "next": cursor}


def file_state(row: Row) -> Row:
    """A file with its ``stage`` in words: ``read page 3 of 47``, ``embed batch 2 of 5``."""
    # none is done while the first is under way, and nobody counts from nought
    of = f" {max(row['done'], 1)} of {row['total']}" if row["total"] else ""
    stages = {
        "reading": f"read page{of}" if of else "read",
        "embedding": f"embed batch{of}" if of else "embed",
        "writing": "write",
    }
    return {**row, "stage": stages.get(row["status"], "")}


async def stop_run(library: Library, run_id: int) -> str:
    """The status that the run has once it was asked to stop.

    Raises:
        NotFound: there is none of this id.
        NotEditable: it is of documents that may be read only.
    """
    if library.reach.spaces is not None:
        await get_run(library, run_id, 1)  # of others it is not told that they are there
    if library.reach.edits is not None:
        values = {"run": run_id, "edits": list(library.reach.edits)}
        found = await library.whole.data(OTHERS_RUN, values)
        if found and found["others"]:
            raise NotEditable(f"run {run_id} is of documents that you may not change")
    status = await library.whole.change(
        lambda connection: cancel_run(connection, run_id, library.tenant)
    )
    if status is None:
        raise no_run(run_id)
    return status


def no_run(run_id: int) -> NotFound:
    """The error for an id that no run has."""
    return NotFound(f"there is no run {run_id}: GET /v1/runs lists them")


class Follower:
    """The record of the changes of a run that have been sent.

    Versions are numbered when they are written and seen when they are committed, so one may turn
    up after a larger one. ``horizon`` is the version up to which all has been seen: it follows the
    largest one seen as soon as every transaction of that moment has ended. What is beyond it is
    asked for again, and told once.
    """

    def __init__(self, after: int = 0) -> None:
        self.horizon = after
        self._sent_versions: dict[int, int] = {}  # version of each file told beyond the horizon
        self._run_version = after
        self._waiting: list[tuple[int, int]] = []  # (largest version seen, xmax of its snapshot)

    def events_of(self, changes: Row) -> list[Event]:
        """The events of one reading of all that is beyond the horizon, oldest first.

        Files come before the run, whose event closes them.
        """
        files = [
            row for row in changes["files"] if self._sent_versions.get(row["n"], 0) < row["version"]
        ]
        news = bool(files) or changes["version"] > self._run_version
        self._sent_versions.update((row["n"], row["version"]) for row in files)
        self._run_version = max(self._run_version, changes["version"])
        largest = max([changes["version"], *(row["version"] for row in changes["files"])])
        self._advance(largest, changes["xmin"], changes["xmax"])
        events = [self._file(row) for row in files]
        if news and (changes["whole"] or not changes["ended"]):  # an end is the last thing told
            events.append(Event("run", min(largest, self.horizon), changes["run"]))
        return events

    def _advance(self, largest: int, xmin: int, xmax: int) -> None:
        if largest > self.horizon:
            self._waiting.append((largest, xmax))
        while self._waiting and self._waiting[0][1] <= xmin:
            self.horizon = max(self.horizon, self._waiting.pop(0)[0])
        self._sent_versions = {
            n: version for n, version in self._sent_versions.items() if version > self.horizon
        }

    def _file(self, row: Row) -> Event:
        data = file_state({key: value for key, value in row.items() if key != "version"})
        return Event("file", min(row["version"], self.horizon), data)


async def follow(
    library: Library, run_id: int, after: int = 0, pause: float = POLL_SECONDS
) -> AsyncGenerator[Event, None]:
    """The run's changes after ``after``, as they come; ends with a ``run`` that has ended.

    The database is asked every ``pause`` seconds.

    Raises:
        NotFound: there is no such run, or no more.
        StoreUnavailable: the database is gone.
    """
    follower = Follower(after)
    loop = asyncio.get_running_loop()
    while True:
        started = loop.time()
        changes = await _changes(library, run_id, follower.horizon)
        events = follower.events_of(changes)
        ends = changes["ended"] and (changes["whole"] or not events)
        if ends and not events:  # nothing is new, but the end is told in any case
            run = await library.row(sql.GET, {"id": run_id})
            events = [Event("run", follower.horizon, run or {})]
        for event in events:
            yield event
        if ends:
            return
        # where there is much to read again, because some transaction is long, less often
        reading = 0 if changes["ended"] else loop.time() - started
        await asyncio.sleep(max(pause, 4 * reading))


async def _changes(library: Library, run_id: int, after: int) -> Row:
    """All that is newer than ``after``; ``whole``: in one snapshot."""
    pages: list[Row] = []
    while not pages or len(pages[-1]["files"]) == _BATCH:
        position = pages[-1]["files"][-1]["version"] if pages else after
        values = {
            "id": run_id, "after": after, "position": position, "ended": list(ENDED_RUN),
            "limit": _BATCH,
        }  # fmt: skip
        page = await library.row(sql.CHANGES, values)
        if page is None:
            raise no_run(run_id)
        pages.append(page)
    # a commit between two pages may be missed: only what had ended before the first is certain
    files = [row for page in pages for row in page["files"]]
    return {**pages[-1], "xmin": pages[0]["xmin"], "files": files, "whole": len(pages) == 1}
