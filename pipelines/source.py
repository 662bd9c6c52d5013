"""``python -m pipelines.source``, `helix source`: where documents come from, kept in step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from helix.commands.console import in_database, one_line, print_table
from helix.commands.lazy_commands import ListByDefault
from helix.commands.periods import span_or_never
from helix.domain.metadata import assignments
from helix.domain.scope import DEFAULT_TENANT, checked_tags, tenant_name
from helix.domain.source_kinds import KINDS, kind_of
from helix.errors import BadRequest
from helix.library.audit import record_command
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
from helix.library.spaces import ids_of
from helix.settings import load_settings
from helix.telemetry.logs import configure_logging
from pipelines.program import Detach, Metadata, Tags, one_line_errors
from pipelines.sources.telling import counts_line, preview_lines, state_of

if TYPE_CHECKING:
    from helix.storage.connections import Connected

source = typer.Typer(
    name="source", help="Sources: folders, buckets, repositories and more, kept in step.",
    cls=ListByDefault,
)  # fmt: skip

Tenant = Annotated[str, typer.Option(help="Whose sources.")]
Named = Annotated[str, typer.Argument(metavar="SOURCE", help="Its name, or its id.")]
Several = list[str] | None
Include = Annotated[
    Several, typer.Option("--include", metavar="GLOB", help="Files to take, as '*.pdf' or docs/.")
]
Exclude = Annotated[
    Several, typer.Option("--exclude", metavar="GLOB", help="Files to leave; above --include.")
]
LargestMb = Annotated[
    int | None, typer.Option("--max-mb", min=0, help="Larger files are left; 0: none is.")
]
OldestDays = Annotated[
    int | None, typer.Option("--max-age", min=0, metavar="DAYS", help="Older files are left.")
]
Space = Annotated[
    Several, typer.Option("--space", metavar="SPACE", help="The space that they stand in.")
]
Folders = Annotated[
    str | None,
    typer.Option(
        metavar="KEY,KEY", help="Metadata that the folders' names are, outermost first: team,year."
    ),
]
Every = Annotated[
    str | None, typer.Option(metavar="SPAN", help="How often, as 15m, 6h or 1d; or never.")
]
Removals = Annotated[
    bool | None,
    typer.Option(
        "--follow-removals/--keep-removed",
        help="Remove documents whose file is gone, or not.",
    ),
]
Options = Annotated[
    Several, typer.Option("--option", metavar="NAME=VALUE", help="As `helix source kinds` has it.")
]
Secrets = Annotated[
    Several,
    typer.Option(
        "--secret", metavar="NAME[=@FILE]",
        help="Asked for, or read from a file, and stored encrypted (HELIX_SECRETS_KEY).",
    ),
]  # fmt: skip
Groups = Annotated[
    Several,
    typer.Option(
        "--group", metavar="READER=SPACE",
        help="What this group or person of the source may read stands in this space.",
    ),
]  # fmt: skip
Yes = Annotated[bool, typer.Option("--yes", help="Do what waits for a yes.")]


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
        given = _given(
            include, exclude, max_mb, max_age, tag, meta, folders, option, every, follow_removals,
            here,
        )  # fmt: skip
        given |= _named(address, name, kind)
        given["secrets"] = _sealed(given["kind"], secret)

        def make(connection: Connected) -> int:
            given.update(_placed(connection, tenant, space, group))
            return add_source(connection, tenant, given, trusted=True)

        number = _recorded("add", tenant, make)
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
        given = _given(
            include, exclude, max_mb, max_age, tag, meta, folders, option, every, follow_removals,
            None,
        )  # fmt: skip
        given |= {"name": name, "address": address}
        texts = _asked(secret)

        def change(connection: Connected) -> int:
            number = source_id_of(connection, tenant, named)
            if texts:
                kind = load_source(connection, tenant, number).kind
                given["secrets"] = seal(load_settings(), checked_secrets(kind, texts))
            given.update(_placed(connection, tenant, space, group))
            change_source(connection, tenant, number, given, trusted=True)
            return number

        typer.echo(f"source {_recorded('set', tenant, change)} is changed")


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
    with one_line_errors("source", "what is stored stays, run it again to go on"):
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
        if row["waiting"]:
            typer.echo(
                f"{row['waiting']} documents are gone at the source and wait: see"
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
        return _recorded("pause" if paused else "resume", tenant, change)
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
            _recorded("rm", tenant, drop)
    typer.echo(f"source {number} is removed")


def _asked(names: Several) -> dict[str, str]:
    """The secrets of these names: from a file each, or as they are typed without being shown."""
    found: dict[str, str] = {}
    for name, _, file in (each.partition("=@") for each in names or ()):
        if not file:
            found[name] = typer.prompt(name, hide_input=True, err=True)
            continue
        try:
            found[name] = Path(file).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise BadRequest(f"{file}, the file of the secret {name}, cannot be read") from None
    return found


def _sealed(kind: str, names: Several) -> bytes | None:
    texts = checked_secrets(kind, _asked(names))
    return seal(load_settings(), texts) if texts else None


def _named(address: str, name: str | None, kind: str | None) -> dict[str, Any]:
    kind = kind or kind_of(address)
    if kind is None:
        raise BadRequest(f"{address[:80]} is of no kind that is known: name it with --kind")
    whole = str(Path(address).resolve()) if kind == "folder" else address
    last = whole.rstrip("/").rpartition("/")[2]
    return {"kind": kind, "address": whole, "name": name or last or whole}


def _given(
    include: Several, exclude: Several, max_mb: int | None, max_age: int | None, tag: Tags,
    meta: Metadata, folders: str | None, option: Options, every: str | None,
    follow_removals: bool | None, here: bool | None,
) -> dict[str, Any]:  # fmt: skip
    """The columns that the options name; None where one is not given."""
    from pipelines.runs.run_identity import this_host

    span = None if every is None else span_or_never(every)
    seconds = 0 if span is None else int(span.total_seconds())
    return {
        "include": include,
        "exclude": exclude,
        "max_bytes": None if max_mb is None else max_mb * 2**20,
        "max_age_days": max_age,
        "tags": list(checked_tags(tag)) if tag else None,
        "metadata": assignments(meta) if meta else None,
        "folder_keys": folders.split(",") if folders else None,
        "options": dict(map(_pair, option)) if option else None,
        "every_seconds": None if every is None else seconds,
        "follow_removals": follow_removals,
        "host": this_host() if here else None,
    }


def _placed(connection: Connected, tenant: str, space: Several, group: Several) -> dict[str, Any]:
    mapped: dict[str, list[int]] = {}
    for reader, named in map(_pair, group or ()):
        mapped.setdefault(reader, []).extend(ids_of(connection, tenant, [named]))
    return {
        "spaces": ids_of(connection, tenant, space) if space else None,
        "group_map": mapped or None,
    }


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise BadRequest(f"{text[:80]!r} is no NAME=VALUE")
    return name, value


def _recorded(command: str, tenant: str, action: Callable[[Connected], int]) -> int:
    """The id of the source that ``action`` changed, with the audit log's line of it."""
    tenant_name(tenant)

    def change_and_record(connection: Connected) -> int:
        number = action(connection)
        record_command(connection, f"helix source {command}", tenant, f"source {number}")
        return number

    return in_database(change_and_record)


def _moment(text: str | None) -> str:
    return "" if text is None else text[:16].replace("T", " ")


def _next(row: dict[str, Any]) -> str:
    if row["state"] == "paused" or row["next_run_at"] is None:
        return "when asked"
    return _moment(row["next_run_at"])


if __name__ == "__main__":
    source()
