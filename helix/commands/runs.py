"""``helix runs``: what is being brought in, how far it is, and stopping it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Annotated, TypeVar

import typer

from helix.commands.console import one_line, print_table
from helix.domain.scope import DEFAULT_TENANT, tenant_name
from helix.library.access import Library, Row
from helix.library.run_progress import follow, get_run, list_runs, stop_run
from helix.settings import load_settings
from helix.storage.database import open_url
from helix.telemetry.logs import configure_logging

runs = typer.Typer(
    name="runs", help="What is being brought in: list, follow, cancel.",
    invoke_without_command=True,
)  # fmt: skip

Result = TypeVar("Result")
RunId = Annotated[int, typer.Argument(min=1, help="The run's id, as `helix runs` lists it.")]
Tenant = Annotated[str | None, typer.Option(help="Whose runs; `default` if left out.")]
_SHOWN_FILES = 100


@runs.callback()
def _list(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many, newest first.")] = 20,
    tenant: Tenant = None,
) -> None:
    context.obj = tenant  # for a subcommand that names none itself
    if context.invoked_subcommand is None:
        _print_runs(_in_library(lambda library: list_runs(library, limit), tenant)["runs"])


@runs.command()
def show(
    context: typer.Context,
    run_id: RunId,
    follow_it: Annotated[
        bool, typer.Option("--follow", help="Print each change until the run ends.")
    ] = False,
    tenant: Tenant = None,
) -> None:
    """One run and its files, failed ones first; ends with 1 when it failed in whole or in part."""
    whose = context.obj if tenant is None else tenant
    if follow_it:
        run = _in_library(lambda library: _follow(library, run_id), whose)
    else:
        run = _in_library(lambda library: get_run(library, run_id, _SHOWN_FILES), whose)
        _print_runs([run])
        _print_files(run)
    if run["error"]:
        typer.echo(one_line(run["error"]))
    if run["status"] == "failed" or run["counts"].get("failed"):
        raise typer.Exit(1)


@runs.command()
def cancel(context: typer.Context, run_id: RunId, tenant: Tenant = None) -> None:
    """Stop a run; what it has brought in already stays."""
    whose = context.obj if tenant is None else tenant
    status = _in_library(lambda library: stop_run(library, run_id), whose)
    told = {"cancelled": "is cancelled", "cancelling": "stops as soon as its worker sees it"}
    typer.echo(f"run {run_id} {told.get(status, f'had ended already: {status}')}")


async def _follow(library: Library, run_id: int) -> Row:
    run: Row = {}
    async with aclosing(follow(library, run_id)) as changes:
        async for event in changes:
            if event.name == "run":
                run = event.data
                typer.echo(f"run {run_id}  {run['status']}  {_counts(run)}".rstrip())
            else:
                typer.echo(f"  {one_line(event.data['source_uri'])}  {_outcome(event.data)}")
    return run


def _print_runs(found: list[Row]) -> None:
    rows = []
    for run in found:
        status = f"{run['status']} {run['stage'] or ''}"
        created = str(run["created_at"])[:16].replace("T", " ")
        rows.append([run["id"], run["kind"], status, _counts(run), run["chunks"], created])
    print_table(["run", "kind", "status", "files", "chunks", "created"], rows)


def _print_files(run: Row) -> None:
    print_table(["file", "status"], ([file["source_uri"], _outcome(file)] for file in run["files"]))
    if run["next"]:
        typer.echo(f"… of {run['total']} files, the first {len(run['files'])}")


def _counts(run: Row) -> str:
    counts: dict[str, int] = run["counts"]
    return ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))


def _outcome(file: Row) -> str:
    told = file["stage"] or file["status"]
    if file["chunks"]:
        told += f", {file['chunks']} chunks"
    reasons = [reason for reason in (file["reason"], *file["warnings"]) if reason]
    return one_line("; ".join([told, *reasons]))


def _in_library(action: Callable[[Library], Awaitable[Result]], tenant: str | None) -> Result:
    """The result of ``action`` on the documents and runs of ``tenant``."""
    from helix.store import ChunkStore  # it takes a second to load

    configure_logging("warning")
    whose = DEFAULT_TENANT if tenant is None else tenant_name(tenant)

    async def connect() -> Result:
        async with open_url(load_settings()) as url:
            store = ChunkStore(url, "", pool_size=1)  # no embedder: chunks are not touched
            try:
                return await action(Library(store.of(whose)))
            finally:
                await store.close()

    return asyncio.run(connect())
