"""``python -m pipelines.source``, `helix source`: where documents come from, kept in step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from helix.commands.console import in_database, one_line, print_table, recorded
from helix.commands.lazy_commands import ListByDefault
from helix.domain.scope import DEFAULT_TENANT, tenant_name
from helix.domain.source_kinds import KINDS
from helix.errors import BadRequest
from helix.library.source_forms import checked_secrets
from helix.library.source_secrets import seal
from helix.library.sources import (
    add_source,
    change_source,
    load_source,
    pause_source,
    remove_source,
    source_id_of,
    sources_of,
    told_of,
)
from helix.settings import load_settings
from helix.telemetry.logs import configure_logging
from pipelines.program import RUN_INTERRUPTED, Detach, Metadata, Tags, one_line_errors
from pipelines.source_options import (
    Every,
    Exclude,
    Folders,
    Groups,
    Include,
    LargestMb,
    Named,
    OldestDays,
    Options,
    Removals,
    Secrets,
    Space,
    Tenant,
    Yes,
    asked_secrets,
    checked_address,
    columns_of,
    identity_of,
    places_of,
    sealed_secrets,
)
from pipelines.sources.terminal_lines import counts_line, preview_lines, state_of

if TYPE_CHECKING:
    from helix.storage.connections import Connected

source = typer.Typer(
    name="source", help="Sources: folders, buckets, repositories and more, kept in step.",
    cls=ListByDefault,
)  # fmt: skip


@source.command("list")
def list_(tenant: Tenant = DEFAULT_TENANT) -> None:
    """All sources, how they stand, and when they are synced next."""
    rows = in_database(lambda connection: sources_of(connection, tenant_name(tenant)))
    print_table(
        ["source", "name", "kind", "documents", "state", "last sync", "next"],
        [
            [
                row["id"], row["name"], row["kind"], row["documents"], state_of(row),
                _moment(row["last_run_at"]), _next(row),
            ]
            for row in rows
        ],
    )  # fmt: skip


@source.command()
def kinds() -> None:
    """List what a source can be, and the options of each."""
    for name, kind in KINDS.items():
        typer.echo(f"{name:<10} {kind.title}: {kind.address}, such as {kind.example}")
        for option in kind.options:
            typer.echo(f"{'':<12}{option.name:<16} {option.title}")


@source.command()
def add(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="The folder, or its address.")],
    name: Annotated[str | None, typer.Option(help="What it is called; else its last part.")] = None,
    kind: Annotated[str | None, typer.Option(help="As `helix source kinds` has it.")] = None,
    include: Include = None,
    exclude: Exclude = None,
    max_mb: LargestMb = None,
    max_age: OldestDays = None,
    space: Space = None,
    tag: Tags = None,
    meta: Metadata = None,
    folders: Folders = None,
    option: Options = None,
    secret: Secrets = None,
    group: Groups = None,
    every: Every = "1h",
    follow_removals: Removals = None,
    here: Annotated[bool, typer.Option("--here", help="This machine alone reaches it.")] = False,
    tenant: Tenant = DEFAULT_TENANT,
) -> None:
    """Add a source; `helix source sync` brings it in, and workers keep it in step from then on."""
    with one_line_errors("source"):
        given = columns_of(
            include, exclude, max_mb, max_age, tag, meta, folders, option, every, follow_removals,
            here,
        )  # fmt: skip
        given |= identity_of(address, name, kind)
        given["address"] = checked_address(address, given["kind"], here=here)
        given["secrets"] = sealed_secrets(given["kind"], secret)

        def make(connection: Connected) -> int:
            given.update(places_of(connection, tenant, space, group))
            return add_source(connection, tenant, given, trusted=True)

        number = recorded("helix source add", "source", tenant, make)
    typer.echo(f"source {number} is added: `helix source sync {number}` brings it in now")


@source.command("set")
def set_(
    named: Named,
    name: Annotated[str | None, typer.Option(help="Another name.")] = None,
    address: Annotated[str | None, typer.Option(help="Another address.")] = None,
    include: Include = None,
    exclude: Exclude = None,
    max_mb: LargestMb = None,
    max_age: OldestDays = None,
    space: Space = None,
    tag: Tags = None,
    meta: Metadata = None,
    folders: Folders = None,
    option: Options = None,
    secret: Secrets = None,
    group: Groups = None,
    every: Every = None,
    follow_removals: Removals = None,
    tenant: Tenant = DEFAULT_TENANT,
) -> None:
    """Change a source; what is not named stays as it is."""
    with one_line_errors("source"):
        given = columns_of(
            include, exclude, max_mb, max_age, tag, meta, folders, option, every, follow_removals,
            None,
        )  # fmt: skip
        given["name"] = name
        texts = asked_secrets(secret)

        def change(connection: Connected) -> int:
            number = source_id_of(connection, tenant, named)
            now = load_source(connection, tenant, number)
            if address is not None:
                given["address"] = checked_address(address, now.kind, here=False)
            if texts:
                given["secrets"] = seal(load_settings(), checked_secrets(now.kind, texts))
            given.update(places_of(connection, tenant, space, group))
            change_source(connection, tenant, number, given, trusted=True)
            return number

        typer.echo(f"source {recorded('helix source set', 'source', tenant, change)} is changed")


@source.command()
def show(named: Named, tenant: Tenant = DEFAULT_TENANT) -> None:
    """A source in full: what of it failed, what is gone, what its last preview said."""

    def read(connection: Connected) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        number = source_id_of(connection, tenant_name(tenant), named)
        (row,) = sources_of(connection, tenant, [number])
        return row, told_of(connection, tenant, number)

    with one_line_errors("source"):
        row, told = in_database(read)
    hidden = {"preview", "counts", "gone", "unread"}
    for key, value in row.items():
        if value not in (None, [], {}, "") and key not in hidden:
            typer.echo(f"{key:<16} {one_line(str(value))}")
    typer.echo(f"{'last sync':<16} {counts_line(row['counts'])}")
    for line in preview_lines(row["preview"]):
        typer.echo(line)
    for entry in told:
        what = "gone, waits" if entry["gone_at"] else f"not read: {entry['reason']}"
        typer.echo(f"  {one_line(entry['key'])}  {one_line(what)}")


@source.command()
def sync(
    named: Named,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell what a sync would do.")
    ] = False,
    yes: Yes = False,
    again: Annotated[
        bool, typer.Option("--again", help="Read what failed, or was deleted here, again.")
    ] = False,
    detach: Detach = False,
    tenant: Tenant = DEFAULT_TENANT,
) -> None:
    """Bring a source in, and follow what changed there since the last time.

    What is unchanged costs a listing. Documents whose file is gone are removed last, and only after
    a listing that ended whole; where many are gone at once they wait for --yes.
    """
    with one_line_errors("source", RUN_INTERRUPTED):
        configure_logging("warning")
        settings = load_settings()
        whose = tenant_name(tenant)
        number = in_database(lambda connection: source_id_of(connection, whose, named))
        asked = {"dry_run": dry_run, "yes": yes, "again": again}
        failed = _followed({"source_id": number, **asked}, settings, whose, detach)
        if not detach:
            _tell(number, whose, dry_run)
    if failed:
        raise typer.Exit(1)


def _followed(options: dict[str, Any], settings: Any, tenant: str, detach: bool) -> bool:
    from pipelines.runs.foreground import start_and_follow  # the durable engine takes a second

    return start_and_follow(settings, "source", options, detach, tenant)


def _tell(number: int, tenant: str, dry_run: bool) -> None:
    rows = in_database(lambda connection: sources_of(connection, tenant, [number]))
    for row in rows:
        if dry_run:
            for line in preview_lines(row["preview"]):
                typer.echo(line)
            continue
        typer.echo(counts_line(row["counts"]))
        if waiting := row["waiting"]:
            gone = "1 document is" if waiting == 1 else f"{waiting} documents are"
            waits = "waits" if waiting == 1 else "wait"
            typer.echo(
                f"{gone} gone at the source and {waits}: see"
                f" `helix source show {number}`, then `helix source sync {number} --yes`"
            )


@source.command()
def pause(named: Named, tenant: Tenant = DEFAULT_TENANT) -> None:
    """Have no sync of a source begin by itself."""
    typer.echo(f"source {_set_paused(named, tenant, True)} is paused")


@source.command()
def resume(named: Named, tenant: Tenant = DEFAULT_TENANT) -> None:
    """Sync a source by itself again."""
    typer.echo(f"source {_set_paused(named, tenant, False)} is synced again")


def _set_paused(named: str, tenant: str, paused: bool) -> int:
    def change(connection: Connected) -> int:
        number = source_id_of(connection, tenant, named)
        pause_source(connection, tenant, number, paused)
        return number

    with one_line_errors("source"):
        command = "pause" if paused else "resume"
        return recorded(f"helix source {command}", "source", tenant, change)
    raise typer.Exit(1)


@source.command()
def rm(
    named: Named,
    keep: Annotated[
        bool, typer.Option("--keep-documents", help="Leave its documents in the library.")
    ] = False,
    yes: Yes = False,
    tenant: Tenant = DEFAULT_TENANT,
) -> None:
    """Remove a source with its documents, which wants --yes where it has any."""

    def find(connection: Connected) -> tuple[int, int]:
        number = source_id_of(connection, tenant_name(tenant), named)
        (row,) = sources_of(connection, tenant, [number])
        return number, row["documents"]

    def drop(connection: Connected) -> int:
        remove_source(connection, tenant, number)
        return number

    with one_line_errors("source"):
        number, documents = in_database(find)
        if documents and not (keep or yes):
            raise BadRequest(
                f"it has {documents} documents: --yes removes them too, --keep-documents leaves"
                " them in the library"
            )
        if documents and not keep:
            configure_logging("warning")
            _followed({"source_id": number, "remove": True}, load_settings(), tenant, False)
        else:
            recorded("helix source rm", "source", tenant, drop)
    typer.echo(f"source {number} is removed")


def _moment(text: str | None) -> str:
    return "" if text is None else text[:16].replace("T", " ")


def _next(row: dict[str, Any]) -> str:
    if row["state"] == "paused" or row["next_run_at"] is None:
        return "when asked"
    return _moment(row["next_run_at"])


if __name__ == "__main__":
    source()
