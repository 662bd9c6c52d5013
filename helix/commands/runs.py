"""``helix runs``: what is being brought in, how far it is, and stopping it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Annotated, TypeVar

import typer

from helix.commands.console import LARGEST_ID, one_line, print_table
from helix.commands.service.address import ServerOption
from helix.commands.service.documents import LibraryService
from helix.commands.service.service_choice import opened
from helix.domain.scope import DEFAULT_TENANT, tenant_name
from helix.errors import HelixError
from helix.library.access import Row
from helix.library.errors import NotFound
from helix.storage.stored_documents import UPLOADED
from helix.telemetry.logs import configure_logging

runs = typer.Typer(
    name="runs", help="What is being brought in: list, follow, cancel.",
    invoke_without_command=True,
)  # fmt: skip

Result = TypeVar("Result")
Name = Annotated[
    str | None,
    typer.Argument(metavar="NAME", help="A path or address of it, or its number; the newest."),
]
Tenant = Annotated[str | None, typer.Option(help="Whose runs; `default` if left out.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="With the numbers of runs.")]
_SHOWN_FILES = 100
_NEWEST = 200
_NAMED_FILES = 3
_DATABASE_WORDS = {"reembed": "another embedder"}


@runs.callback()
def _list(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=_NEWEST, help="How many, newest first.")] = 20,
    verbose: Verbose = False,
    tenant: Tenant = None,
    server: ServerOption = None,
) -> None:
    context.obj = {"tenant": tenant, "server": server}  # for a subcommand that names none itself
    if context.invoked_subcommand is None:
        newest = _in_library(context, lambda library: library.list_runs(limit))["runs"]
        if newest:
            _print_runs(newest, verbose=verbose)
        else:
            typer.echo("nothing was brought in yet: `helix ingest PATH` does that", err=True)


@runs.command()
def show(
    context: typer.Context,
    name: Name = None,
    follow_it: Annotated[
        bool, typer.Option("--follow", "-f", help="Print each change until the run ends.")
    ] = False,
    verbose: Verbose = False,
    tenant: Tenant = None,
    server: ServerOption = None,
) -> None:
    """One run and its files, failed ones first; ends with 1 when it failed in whole or in part."""

    async def fetch(library: LibraryService) -> Row:
        run = await _find(library, name)
        if follow_it:
            return await _follow(library, run)
        return await library.get_run(run["id"], _SHOWN_FILES)

    run = _in_library(context, fetch, tenant, server)
    if not follow_it:
        _print_runs([run], verbose=verbose)
        _print_files(run)
    if run["error"]:
        typer.echo(one_line(run["error"]))
    if run["status"] == "failed" or run["counts"].get("failed"):
        raise typer.Exit(1)


@runs.command()
def cancel(
    context: typer.Context, name: Name = None, tenant: Tenant = None, server: ServerOption = None
) -> None:
    """Stop a run; what it has brought in already stays."""

    async def stop(library: LibraryService) -> tuple[Row, str]:
        run = await _find(library, name)
        return run, str((await library.stop_run(run["id"]))["status"])

    run, status = _in_library(context, stop, tenant, server)
    messages = {"cancelled": "is cancelled", "cancelling": "stops as soon as its worker sees it"}
    typer.echo(f"{_label(run)} {messages.get(status, f'had ended already: {status}')}")


async def _find(library: LibraryService, name: str | None) -> Row:
    """The run of that number, else the newest run with a source of that name.

    Raises:
        HelixError: there is none.
    """
    if name and name.isascii() and name.isdigit() and int(name) <= LARGEST_ID:
        try:
            return await library.get_run(int(name), 1)
        except NotFound:
            raise HelixError(f"there is no run {name}: `helix runs -v` lists them") from None
    newest: list[Row] = (await library.list_runs(_NEWEST))["runs"]
    for run in newest:
        if name is None or name.rstrip("/") in {each.rstrip("/") for each in _names(run)}:
            return run
    if name is None:
        raise HelixError("nothing was brought in yet: `helix ingest PATH` does that")
    raise HelixError(f"nothing was brought in from {one_line(name)}: `helix runs` lists what was")


async def _follow(library: LibraryService, run: Row) -> Row:
    async with aclosing(library.follow_run(run["id"])) as changes:
        async for event in changes:
            if event.name == "run":
                run = event.data
                typer.echo(f"{_label(run)}  {run['status']}  {_counts(run)}".rstrip())
            else:
                typer.echo(f"  {one_line(event.data['source_uri'])}  {_outcome(event.data)}")
    return run


def _names(run: Row) -> list[str]:
    """The names of a run's sources: the paths or the address it was given, else its first files."""
    if run["url"]:
        return [str(run["url"])]
    if run["paths"]:
        return [str(path) for path in run["paths"]]
    return [_file_name(str(uri)) for uri in run["first_files"]]


def _file_name(uri: str) -> str:
    """The file name of an upload; any other source is named in full."""
    return uri.partition("/")[2] if uri.startswith(UPLOADED) else uri


def _label(run: Row) -> str:
    names = _names(run)
    if not names:
        return _DATABASE_WORDS.get(run["kind"], str(run["kind"]))
    listed = ", ".join(one_line(name) for name in names[:_NAMED_FILES])
    whole = len(run["paths"]) or (1 if run["url"] else run["total"])
    more = whole - min(len(names), _NAMED_FILES)
    return f"{listed} and {more} more" if more > 0 else listed


def _print_runs(found: list[Row], *, verbose: bool) -> None:
    rows = []
    for run in found:
        status = f"{run['status']} {run['stage'] or ''}"
        created = str(run["created_at"])[:16].replace("T", " ")
        number = [run["id"]] if verbose else []
        rows.append([*number, _label(run), run["kind"], status, _counts(run), created])
    numbered = ["number"] if verbose else []
    print_table([*numbered, "what", "kind", "state", "files", "started"], rows)


def _print_files(run: Row) -> None:
    print_table(["file", "status"], ([file["source_uri"], _outcome(file)] for file in run["files"]))
    if run["next"]:
        typer.echo(f"… of {run['total']} files, the first {len(run['files'])}")


def _counts(run: Row) -> str:
    counts: dict[str, int] = run["counts"]
    return ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))


def _outcome(file: Row) -> str:
    words = file["stage"] or file["status"]
    if file["chunks"]:
        words += f", {file['chunks']} chunks"
    reasons = [reason for reason in (file["reason"], *file["warnings"]) if reason]
    return one_line("; ".join([words, *reasons]))


def _in_library(
    context: typer.Context,
    action: Callable[[LibraryService], Awaitable[Result]],
    tenant: str | None = None,
    server: str | None = None,
) -> Result:
    """The result of ``action`` on the runs of the tenant that the command or the group names."""
    configure_logging("warning")
    whose = tenant or context.obj["tenant"] or DEFAULT_TENANT

    async def connected() -> Result:
        where = server or context.obj["server"]
        async with opened(LibraryService, where, tenant_name(whose)) as library:
            return await action(library)

    return asyncio.run(connected())
