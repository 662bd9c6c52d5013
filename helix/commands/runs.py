"""``helix runs``: what is being brought in, how far it is, and stopping it."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Annotated, NoReturn, TypeVar

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from helix.database import open_url
from helix.errors import BadRequest, HelixError
from helix.library.access import Library, Row
from helix.library.following import follow, get_run, list_runs, stop_run
from helix.logs import configure_logging
from helix.scope import DEFAULT_TENANT, tenant_name
from helix.settings import load_settings

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
        typer.echo(_printable(run["error"]))
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
                typer.echo(f"run {run_id}  {run['status']}  {_told_counts(run)}".rstrip())
            else:
                typer.echo(f"  {_printable(event.data['source_uri'])}  {_told_file(event.data)}")
    return run


def _print_runs(found: list[Row]) -> None:
    table = _table("run", "kind", "status", "files", "chunks", "created")
    for run in found:
        status = " ".join(part for part in (run["status"], run["stage"]) if part)
        created = str(run["created_at"])[:16].replace("T", " ")
        _add(table, run["id"], run["kind"], status, _told_counts(run), run["chunks"], created)
    _print(table)


def _print_files(run: Row) -> None:
    table = _table("file", "status")
    for file in run["files"]:
        _add(table, file["source_uri"], _told_file(file))
    _print(table)
    if run["next"]:
        typer.echo(f"… of {run['total']} files, the first {len(run['files'])}")


def _told_counts(run: Row) -> str:
    counts: dict[str, int] = run["counts"]
    return ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))


def _told_file(file: Row) -> str:
    told = file["stage"] or file["status"]
    if file["chunks"]:
        told += f", {file['chunks']} chunks"
    reasons = [reason for reason in (file["reason"], *file["warnings"]) if reason]
    return _printable("; ".join([told, *reasons]))


def _table(*columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _add(table: Table, *cells: object) -> None:
    # Text, for in a str of rich's a name like "[red]" would be markup
    table.add_row(*(Text(_printable(str(cell))) for cell in cells))


def _print(table: Table) -> None:
    Console(highlight=False).print(table)


def _printable(text: str) -> str:
    """``text`` on one line, without what could steer a terminal."""
    return "".join(c for c in " ".join(text.split()) if unicodedata.category(c)[0] != "C")


def _in_library(action: Callable[[Library], Awaitable[Result]], tenant: str | None) -> Result:
    """What ``action`` gives of a tenant's; ends the process with one line where it cannot."""
    configure_logging("warning")
    try:
        whose = DEFAULT_TENANT if tenant is None else tenant_name(tenant)
        return asyncio.run(_opened(action, whose))
    except HelixError as error:
        _stop(error)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


async def _opened(action: Callable[[Library], Awaitable[Result]], tenant: str) -> Result:
    from helix.store import ChunkStore  # it takes a second to load

    # no embedder: what it would be named for, chunks, is not touched
    async with open_url(load_settings()) as url:
        store = ChunkStore(url, "", pool_size=1)
        try:
            return await action(Library(store.of(tenant)))
        finally:
            await store.close()


def _stop(error: HelixError) -> NoReturn:
    typer.echo(f"helix: {error}", err=True)
    raise typer.Exit(2 if isinstance(error, BadRequest) else 1) from None
