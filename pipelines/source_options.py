"""Options of `helix source add` and `set`, and the columns of a source that they name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from db.url import is_embedded
from helix.commands.periods import span_or_never
from helix.domain.metadata import assignments
from helix.domain.scope import checked_tags
from helix.domain.source_kinds import kind_of
from helix.errors import BadRequest
from helix.library.source_forms import checked_secrets
from helix.library.source_secrets import seal
from helix.library.spaces import ids_of
from helix.settings import load_settings
from pipelines.program import Metadata, Tags
from pipelines.sources.base import SourceError

if TYPE_CHECKING:
    from helix.storage.connections import Connected

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


def asked_secrets(names: Several) -> dict[str, str]:
    """The secrets of these names: from a file each, or as they are typed without being shown.

    The end of a file's last line is no part of its secret: a server would not know the password.
    """
    found: dict[str, str] = {}
    for name, equals, file in (each.partition("=") for each in names or ()):
        if not equals:
            found[name] = typer.prompt(name, hide_input=True, err=True)
            continue
        if not file.startswith("@"):
            raise BadRequest(f"--secret {name} is asked for, or read from a file: {name}=@FILE")
        try:
            text = Path(file[1:]).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise BadRequest(f"{file[1:]}, the file of the secret {name}, cannot be read") from None
        found[name] = text.rstrip("\r\n")
    return found


def sealed_secrets(kind: str, names: Several) -> bytes | None:
    """The secrets of these names for a source of this kind, encrypted; None where none is named."""
    texts = checked_secrets(kind, asked_secrets(names))
    return seal(load_settings(), texts) if texts else None


def identity_of(address: str, name: str | None, kind: str | None) -> dict[str, Any]:
    """Kind, address and name of a new source.

    Raises:
        BadRequest: the address is of no kind that is known.
    """
    kind = kind or kind_of(address)
    if kind is None:
        raise BadRequest(f"{address[:80]} is of no kind that is known: name it with --kind")
    whole = _whole(address, kind)
    last = whole.rstrip("/").rpartition("/")[2]
    return {"kind": kind, "address": whole, "name": name or last or whole}


def _whole(address: str, kind: str) -> str:
    """``address``, which a worker in another working directory finds too."""
    return str(Path(address).resolve()) if kind == "folder" else address


def checked_address(address: str, kind: str, *, here: bool) -> str:
    """The whole address of a source of ``kind``; prints a note if its folder may be elsewhere.

    Another may have it where the database is a server's and the path is absolute, unless ``here``
    says that the source is of this machine alone.

    Raises:
        SourceError: there is no such folder, it is a file, or it may not be read.
    """
    from pipelines.sources.folder import open_source

    whole = _whole(address, kind)
    if kind != "folder":
        return whole
    try:
        open_source(whole, {}, {})
    except SourceError as error:
        embedded = is_embedded(load_settings().database_url)
        if here or embedded or not Path(address).is_absolute():
            raise
        typer.echo(f"note: {error}; one with a worker has to have it", err=True)
    return whole


def columns_of(
    include: Several, exclude: Several, max_mb: int | None, max_age: int | None, tag: Tags,
    meta: Metadata, folders: str | None, option: Options, every: str | None,
    follow_removals: bool | None, here: bool | None,
) -> dict[str, Any]:  # fmt: skip
    """The columns that the options name; None where one is not given."""
    from helix.library.runs import this_host

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


def places_of(connection: Connected, tenant: str, space: Several, group: Several) -> dict[str, Any]:
    """The spaces of its documents, and those of what each reader of the source may read."""
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
