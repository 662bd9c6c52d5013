"""Files sent to a running server, which reads them; each is known by its path, as given."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import typer

from helix.client.errors import Forbidden
from helix.commands.service.address import Server
from helix.commands.service.documents import LibraryService
from helix.commands.service.server_connection import ServerConnection, connected
from helix.errors import BadRequest, HelixError, Unavailable
from helix.library.access import Row, in_background
from pipelines.files.scan import SourceFile, scan
from pipelines.program import summary
from pipelines.runs.foreground import Reporter

_AT_ONCE = 4
PATIENCE_SECONDS = 15.0
"""Seconds until one is told that nothing which was sent has been begun."""


@dataclass(frozen=True)
class Sending:
    """The files to send, and the options of sending them.

    Args:
        paths: files and folders, as they were given.
        tags: labels for all of them.
        title: of the one file; None leaves that to the document.
        space: the space that they are put into, by its name or id; None: wherever they stand.
        detach: whether to leave the reading to the server instead of waiting for it.
        metadata: of all of them, above what a metadata.csv says of each.
    """

    paths: Sequence[str]
    tags: Sequence[str] = ()
    title: str | None = None
    space: str | None = None
    detach: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class _Outcome:
    counts: Counter[str] = field(default_factory=Counter)
    chunks: int = 0
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once a worker of the server has begun a run."""


def send(server: Server, sending: Sending, tenant: str) -> bool:
    """Send the files of ``sending`` and follow how they are read; whether any failed.

    A file that cannot be read is named and the rest goes in.

    Raises:
        HelixError: the server does not answer, or not us.
    """
    return asyncio.run(_send(server, sending, tenant))


async def _send(server: Server, sending: Sending, tenant: str) -> bool:
    outcome, places = _Outcome(), asyncio.Semaphore(_AT_ONCE)
    async with connected(server, tenant) as connection:
        await _check_server(connection)
        scanned = scan(sending.paths)
        with Reporter() as reporter:
            reporter.set_total(len(scanned.sources))

            def report(row: Row) -> None:
                reporter.file(row)
                outcome.counts[row["status"]] += 1
                outcome.chunks += row.get("chunks", 0)

            async def one(source: SourceFile) -> None:
                async with places:
                    report(await _one(connection, source, sending, outcome.begun))

            for name, reason in scanned.problems:
                report({"source_uri": name, "status": "failed", "reason": reason})
            try:
                async with (
                    in_background(_tell_waiting(outcome.begun, reporter)),
                    asyncio.TaskGroup() as group,
                ):
                    for source in scanned.sources:
                        group.create_task(one(source))
            except* HelixError as errors:
                raise errors.exceptions[0] from None
    if sending.detach:
        queued = outcome.counts["queued"]
        typer.echo(f"{queued} {'file' if queued == 1 else 'files'} sent: `helix runs` says how far")
    else:
        for line in summary(outcome.counts, outcome.chunks, scanned.ignored):
            typer.echo(line)
    return bool(outcome.counts["failed"])


async def _check_server(connection: ServerConnection) -> None:
    """Tell of a server that does not answer, or not us, once, before any file."""
    try:
        await LibraryService(connection).list_runs(1)
    except Forbidden as error:  # else the second scope is missed only once the first is there
        both = "; sending files needs the scopes read and write" if "scope" in str(error) else ""
        raise HelixError(f"{error}{both}") from None


async def _tell_waiting(begun: asyncio.Event, reporter: Reporter) -> None:
    """Say once that nothing is read, where no worker begins: it may come, or may be none."""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await begun.wait()
    except TimeoutError:
        reporter.line(
            "what is sent waits for a worker of the server: one is busy, or none runs (`helix"
            " worker`, or HELIX_WORKERS there). Stopped here, it stays sent"
        )


async def _one(
    server: ServerConnection, source: SourceFile, sending: Sending, begun: asyncio.Event
) -> Row:
    """The outcome of one file, as a run's row of it says."""
    row: Row = {"source_uri": source.source_uri}
    try:
        data = await asyncio.to_thread(source.path.read_bytes)
        upload = await server.upload(source.path.name, data, _fields(source, sending))
    except OSError as error:
        return row | {"status": "failed", "reason": error.strerror or "it cannot be read"}
    except BadRequest as error:
        return row | {"status": "failed", "reason": str(error)}
    if upload["run_id"] is None or sending.detach:
        begun.set()  # nothing is waited for
    if upload["run_id"] is None:
        return row | {"status": "unchanged"}
    if sending.detach:
        return row | {"status": "queued", "done": 0, "total": 0}
    return await _read(server, upload, begun) | row


async def _read(server: ServerConnection, upload: Row, begun: asyncio.Event) -> Row:
    """The outcome of a file that the server has, once it has read it."""
    row: Row = {}
    document_id = upload["documents"][0]["id"]
    async with aclosing(server.run_events(upload["run_id"])) as changes:
        async for event in changes:
            if event.data["status"] != "queued":
                begun.set()
            if event.name == "file" and event.data["document_id"] == document_id:
                row = event.data
            elif event.name == "run" and event.data["error"]:
                raise HelixError(f"stopped: {event.data['error']} (run it again to go on)")
    if "status" not in row:
        raise Unavailable("the server broke off while it read; `helix runs` says how far it is")
    return row


def _fields(source: SourceFile, sending: Sending) -> Row:
    """The fields of a file's form."""
    fields: Row = {"source_uri": source.source_uri, "tags": list(sending.tags)}
    if metadata := {**(source.metadata or {}), **sending.metadata}:
        fields["metadata"] = json.dumps(metadata)
    more = {"title": sending.title, "space": sending.space}
    return fields | {name: text for name, text in more.items() if text is not None}
