"""A run in the foreground: started from a terminal and followed by a worker of the same process."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TextIO

import psycopg
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from helix.commands.console import one_line
from helix.domain.contract import OPEN_FILE
from helix.domain.scope import DEFAULT_TENANT
from helix.errors import HelixError, StoreUnavailable
from helix.library.access import Library, Row
from helix.library.run_progress import Event, follow
from helix.library.runs import Kind, create_run, find_open_run, run_key, this_host
from helix.library.sources import start_sync
from helix.settings import Settings
from helix.storage.connections import Connected
from helix.storage.database import open_url
from helix.storage.garbage_collection import settle
from pipelines.outages import through_outages
from pipelines.program import summary
from pipelines.runs.path_plan import FileHashes
from pipelines.runs.run_steps import Worker
from pipelines.runs.worker import open_worker


class Reporter:
    """Lines and, on a terminal, a bar of files; everything goes to standard error but `summary`."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._console = Console(file=stream or sys.stderr, highlight=False, soft_wrap=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[stage]}", markup=False),
            TimeElapsedColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("Ingesting", total=0, stage="scan")

    def __enter__(self) -> Reporter:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def line(self, text: str, style: str | None = None) -> None:
        """One line, above the bar where there is one. ``text`` is printed as it is."""
        self._console.print(text, style=style, markup=False, emoji=False)

    def set_total(self, files: int) -> None:
        """The run has ``files`` files, as far as it knows."""
        if files > (self._bar.tasks[0].total or 0):
            self._bar.update(self._task, total=files)

    def stage(self, name: str, stage: str, done: int, total: int) -> None:
        """Show the stage of one file: ``done`` of ``total`` pages or batches, if known."""
        part = f" {done} of {total}" if total else ""
        self._bar.update(self._task, stage=f"{stage}{part}: {name}"[:60])

    def file(self, row: Row) -> None:
        """One line for what became of a file, the bar for the rest; ``row`` is a run's of it."""
        self.set_total(row.get("n", 0) + 1)
        status, name = row["status"], one_line(row["source_uri"])  # a file may be called anything
        if status in OPEN_FILE:
            self.stage(name, status, row["done"], row["total"])
            return
        self._bar.advance(self._task)
        if status == "failed":
            self.line(f"failed    {name}: {one_line(row['reason'])}", style="red")
        elif status in ("added", "replaced"):
            self.line(f"{status:<9} {name} ({row['chunks']} chunks)")


_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class _RunRequest:
    """A run as it is asked for; ``host`` is the only machine that may take it, None any."""

    kind: Kind
    options: dict[str, Any]
    host: str | None
    tenant: str

    def start(self, connection: Connected) -> tuple[int, bool]:
        """(id, whether the run was there already)."""
        if self.kind == "source":
            with connection.transaction():
                return start_sync(connection, self.tenant, **self.options)
        key = run_key(self.kind, self.options, self.host)
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (key,))
            if (run_id := find_open_run(connection, key, self.tenant)) is not None:
                return run_id, True
            new = create_run(connection, self.kind, self.options, key, self.host, self.tenant)
        return new, False


def start_and_follow(
    settings: Settings,
    kind: Kind,
    options: dict[str, object],
    detach: bool = False,
    tenant: str = DEFAULT_TENANT,
    hashes: FileHashes | None = None,
) -> bool:
    """Start a tenant's run, or go on with an interrupted one; whether anything failed.

    With ``detach`` its id is printed, and a worker of its own carries it out. ``hashes`` are those
    of files that this process has looked at already.

    Raises:
        HelixError: the run was stopped by a fault that is not one file's.
    """
    request = _RunRequest(kind, options, this_host() if kind == "paths" else None, tenant)
    if detach:
        typer.echo(asyncio.run(_start_detached(settings, request)))
        return False
    return asyncio.run(_start_and_follow(settings, request, hashes))


async def _start_detached(settings: Settings, request: _RunRequest) -> int:
    def start(url: str) -> int:
        with psycopg.connect(url) as connection:
            return request.start(connection)[0]

    async with open_url(settings) as url:
        run_id = await asyncio.to_thread(start, url)
    subprocess.Popen(  # noqa: ASYNC220 - it is not waited for
        [sys.executable, "-P", "-m", "pipelines.worker", "--until-idle"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    return run_id


async def _start_and_follow(
    settings: Settings, request: _RunRequest, hashes: FileHashes | None
) -> bool:
    async with open_worker(settings, hashes=hashes) as (worker, attending):
        settle()
        failed, resumed = await _follow(worker, attending, request)
        if resumed and not failed and request.kind == "paths":
            # its look at the files may be older than their last change
            failed, _ = await _follow(worker, attending, request)
    return failed


async def _follow(
    worker: Worker, attending: asyncio.Task[None], request: _RunRequest
) -> tuple[bool, bool]:
    """Follow the run to its end: (true if anything failed, true if the run was there already)."""
    run_id, resumed = await worker.database(request.start)
    with Reporter() as reporter:
        if resumed:
            reporter.line(f"going on with run {run_id}, which was interrupted")
        run = await follow_run(worker, attending, run_id, reporter.file, request.tenant)
    counts = run["counts"]
    if run["status"] == "failed" and run["error"]:
        stored = counts.get("added", 0) + counts.get("replaced", 0)
        raise HelixError(
            f"stopped: {run['error']} ({stored} files are stored; run it again to go on)"
        )
    if not request.options.get("dry_run"):  # of what nobody did there is a preview
        for line in summary(counts, run["chunks"], run["ignored"]):
            typer.echo(line)
    return run["status"] != "done" or bool(counts.get("failed")), resumed


async def follow_run(
    worker: Worker,
    attending: asyncio.Task[None],
    run_id: int,
    report: Callable[[Row], None],
    tenant: str = DEFAULT_TENANT,
) -> Row:
    """Wait for the end of the run, and return it; ``report`` hears of its files, each outcome once.

    Raises what ended the worker, whose task is ``attending``, before the run.
    """
    library = Library(worker.tools.store.of(tenant))
    following = asyncio.create_task(_report_files(library, run_id, report))
    try:
        await asyncio.wait((following, attending), return_when=asyncio.FIRST_COMPLETED)
        if not following.done():
            attending.result()
        return await following
    finally:
        following.cancel()


async def _report_files(library: Library, run_id: int, report: Callable[[Row], None]) -> Row:
    run: Row = {}
    last_event, reported = 0, set[int]()
    unreported: list[Row] = []
    events = follow(library, run_id, pause=_POLL_SECONDS)

    async def next_event() -> Event | None:
        nonlocal events
        try:
            return await anext(events, None)
        except StoreUnavailable:
            events = follow(library, run_id, last_event, _POLL_SECONDS)
            raise

    while event := await through_outages(next_event):
        last_event = event.id
        if event.name == "file":
            unreported.append(event.data)
            continue
        run = event.data
        for file in unreported:
            # what stopped the run is told once, not again for every file it had left
            if file["n"] not in reported and file["reason"] != (run["error"] or None):
                report(file)
            if file["status"] not in OPEN_FILE:
                reported.add(file["n"])
        unreported.clear()
    return run
