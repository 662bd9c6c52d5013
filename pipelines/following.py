"""Starting a run from a terminal and following it to its end, with a worker in the same process."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass

import psycopg
import typer
from psycopg import Connection
from psycopg.rows import TupleRow, class_row

from helix.errors import HelixError
from helix.garbage import settle
from helix.library.runs import ENDED_RUN, OPEN_FILE, Kind, create_run, find_open_run
from helix.scope import DEFAULT_TENANT
from helix.services import open_url
from helix.settings import Settings
from pipelines.asking import run_key, summary, this_host
from pipelines.progress import Reporter
from pipelines.runwork import Worker
from pipelines.worker import open_worker

_LOOK_SECONDS = 0.1
_CHANGED = """
SELECT n, source_uri, status, done, total, chunks, reason, version FROM run_files
WHERE run_id = %s AND version > %s ORDER BY version
"""
_COUNTS = "SELECT status, count(*) FROM run_files WHERE run_id = %s GROUP BY status"


@dataclass(frozen=True)
class _Wanted:
    """A run as it is asked for; ``host`` is the only machine that may take it, None any."""

    kind: Kind
    options: dict[str, object]
    host: str | None
    tenant: str


@dataclass(frozen=True)
class Change:
    """Where one file of a run is; ``reason`` says why it failed."""

    n: int
    source_uri: str
    status: str
    done: int = 0
    total: int = 0
    chunks: int = 0
    reason: str = ""
    version: int = 0

    @property
    def ended(self) -> bool:
        """Whether this is the file's outcome."""
        return self.status not in OPEN_FILE


@dataclass(frozen=True)
class Ending:
    """How a run ended."""

    status: str
    error: str
    ignored: int


def start_and_follow(
    settings: Settings,
    kind: Kind,
    options: dict[str, object],
    detach: bool = False,
    tenant: str = DEFAULT_TENANT,
) -> bool:
    """Start a tenant's run, or go on with an interrupted one; whether anything failed.

    With ``detach`` its id is printed, and a worker of its own carries it out.

    Raises:
        HelixError: the run was stopped by a fault that is not one file's.
    """
    host = this_host() if kind == "paths" else None
    if detach:
        typer.echo(asyncio.run(_detached(settings, _Wanted(kind, options, host, tenant))))
        return False
    return asyncio.run(_followed(settings, _Wanted(kind, options, host, tenant)))


async def _detached(settings: Settings, wanted: _Wanted) -> int:
    async with open_url(settings) as url:

        def begin() -> int:
            with psycopg.connect(url) as connection:
                return _begun(connection, wanted)[0]

        run_id = await asyncio.to_thread(begin)
    subprocess.Popen(  # noqa: ASYNC220 - it is not waited for
        [sys.executable, "-m", "pipelines.worker", "--until-idle"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    return run_id


def _begun(connection: Connection[TupleRow], wanted: _Wanted) -> tuple[int, bool]:
    """(id, whether it was there already)."""
    kind, options, host, tenant = wanted.kind, wanted.options, wanted.host, wanted.tenant
    key = run_key(kind, options, host)
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (key,))
    if (found := find_open_run(connection, key, tenant)) is not None:
        return found, True
    return create_run(connection, kind, options, key, host, tenant), False


async def _followed(settings: Settings, wanted: _Wanted) -> bool:
    async with open_worker(settings) as (worker, attending):
        settle()
        failed, resumed = await _follow(worker, attending, wanted)
        if resumed and not failed and wanted.kind == "paths":
            # its look at the files may be older than their last change
            failed, _ = await _follow(worker, attending, wanted)
    return failed


async def _follow(
    worker: Worker, attending: asyncio.Task[None], wanted: _Wanted
) -> tuple[bool, bool]:
    """(whether anything failed, whether the run was there already)."""

    def begin(connection: Connection[TupleRow]) -> tuple[int, bool]:
        with connection.transaction():
            return _begun(connection, wanted)

    run_id, resumed = await worker.database(begin)
    with Reporter() as reporter:
        if resumed:
            reporter.line(f"going on with run {run_id}, which was interrupted")
        async for change in changes(worker, attending, run_id):
            tell(reporter, change)
    ending = await worker.database(_ending, run_id)
    counts = await worker.database(_counts, run_id)
    if ending.status == "failed" and ending.error:
        stored = counts.get("added", 0) + counts.get("replaced", 0)
        raise HelixError(
            f"stopped: {ending.error} ({stored} files are stored; run it again to go on)"
        )
    for line in summary(counts, await worker.database(_chunks, run_id), ending.ignored):
        typer.echo(line)
    return ending.status != "done" or bool(counts.get("failed")), resumed


async def changes(
    worker: Worker, attending: asyncio.Task[None], run_id: int
) -> AsyncIterator[Change]:
    """Where the run's files are, as that changes, until the run ends; every outcome once."""
    seen, told = 0, set[int]()
    ended = False
    while not ended:
        if attending.done():
            attending.result()  # the worker failed: say so
        ending = await worker.database(_ending, run_id)
        ended = ending.status in ENDED_RUN
        # A change's number is taken before it is committed, so one may come in behind a later one:
        # the last look begins at the start.
        for change in await worker.database(_changed, run_id, 0 if ended else seen):
            seen = max(seen, change.version)
            if change.n in told:
                continue
            if change.ended:
                told.add(change.n)
            # what stopped the run is told once, not again for every file it had left
            if not ended or (change.ended and change.reason != (ending.error or None)):
                yield change
        if not ended:
            await asyncio.sleep(_LOOK_SECONDS)


def _changed(connection: Connection[TupleRow], run_id: int, after: int) -> list[Change]:
    with connection.cursor(row_factory=class_row(Change)) as cursor:
        return cursor.execute(_CHANGED, (run_id, after)).fetchall()


def _ending(connection: Connection[TupleRow], run_id: int) -> Ending:
    with connection.cursor(row_factory=class_row(Ending)) as cursor:
        row = cursor.execute(
            "SELECT status, error, ignored FROM runs WHERE id = %s", (run_id,)
        ).fetchone()
    return row or Ending("cancelled", "the run was deleted", 0)


def _counts(connection: Connection[TupleRow], run_id: int) -> dict[str, int]:
    return dict(connection.execute(_COUNTS, (run_id,)).fetchall())


def _chunks(connection: Connection[TupleRow], run_id: int) -> int:
    row = connection.execute(
        "SELECT coalesce(sum(chunks), 0) FROM run_files WHERE run_id = %s", (run_id,)
    ).fetchone()
    return int(row[0]) if row else 0


def tell(reporter: Reporter, change: Change) -> None:
    """One line for an outcome, the bar for the rest."""
    reporter.known(change.n + 1)
    if change.ended:
        reporter.done()
    if change.status == "failed":
        reporter.line(f"failed    {change.source_uri}: {change.reason}", style="red")
    elif change.status in ("added", "replaced"):
        reporter.line(f"{change.status:<9} {change.source_uri} ({change.chunks} chunks)")
    elif not change.ended:
        reporter.stage(change.source_uri, change.status, change.done, change.total)
