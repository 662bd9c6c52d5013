"""``python -m pipelines.ingest [PATH…]``: bring files and folders into Helix."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from helix.commands.console import in_database
from helix.commands.service.address import Server, ServerOption, named_server
from helix.domain.metadata import assignments
from helix.domain.scope import DEFAULT_TENANT, checked_tags, tenant_name
from helix.errors import BadRequest
from helix.library.runs import run_key, this_host
from helix.settings import Settings, load_settings
from helix.telemetry.logs import configure_logging
from pipelines.files.scan import legible, name_problem, scan
from pipelines.program import (
    RUN_INTERRUPTED,
    Detach,
    Metadata,
    Tags,
    Tenant,
    metadata_option,
    one_line_errors,
    run,
    summary,
    tags_option,
)
from pipelines.runs.path_plan import FileHashes, nothing_to_do
from pipelines.runs.planned_files import FileLimits

DEFAULT_PATH = "samples"


def ingest(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH",
            help="Files, folders, NAME:ADDRESS of a plugin; samples/ of this folder if none.",
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="Title of the document; takes exactly one file.")
    ] = None,
    tag: Tags = None,
    meta: Metadata = None,
    tenant: Tenant = DEFAULT_TENANT,
    keep_files: Annotated[
        bool,
        typer.Option("--keep-files", help="Keep the files' bytes too, to show pages as printed."),
    ] = False,
    space: Annotated[
        str | None,
        typer.Option(metavar="SPACE", help="Put what is ingested into this space: its name or id."),
    ] = None,
    detach: Detach = False,
    server: ServerOption = None,
) -> None:
    """Ingest files and folders: read, split, embed, store.

    An unchanged file costs nothing, a changed one is replaced as a whole. A file that cannot be
    read is named and the rest goes in; the exit status is then 1. Killed at any point, the same
    command goes on where it stopped. Needs DATABASE_URL and an embedder, as `helix doctor` checks.
    """
    with one_line_errors("ingest", RUN_INTERRUPTED):
        configure_logging("warning")
        if remote := named_server(server):
            failed = _sent(remote, paths, title, tag, meta, tenant, space, detach)
        else:
            settings = load_settings()
            options = _options(paths, title) | tags_option(tag) | metadata_option(meta)
            if keep_files:
                options["keep_files"] = True
            if space:
                options["spaces"] = _space_ids(tenant_name(tenant), space)
            is_plain = not (detach or tag or meta or keep_files or space)
            failed = _run(settings, options, tenant_name(tenant), detach=detach, is_plain=is_plain)
    if failed:
        raise typer.Exit(1)


def _sent(
    remote: Server, paths: list[str] | None, title: str | None, tag: Tags, meta: Metadata,
    tenant: str, space: str | None, detach: bool,
) -> bool:  # fmt: skip
    """Send the files to a server; true where one failed."""
    _check_title(title, _given(paths))
    # the client takes a while to load
    from pipelines.runs.server_uploads import Sending, send

    sending = Sending(
        _given(paths), checked_tags(tag or ()), title, space, detach, assignments(meta or ())
    )
    return bool(send(remote, sending, tenant_name(tenant)))


def _run(
    settings: Settings, options: dict[str, object], tenant: str, *, detach: bool, is_plain: bool
) -> bool:
    """Run in the database here; true where a file failed. One that changes nothing is no run."""
    hashes = FileHashes()
    if is_plain and _is_unchanged(settings, options, tenant, hashes):
        return False
    # it takes seconds, which a run that has nothing to do saves
    from pipelines.runs.foreground import start_and_follow

    return bool(start_and_follow(settings, "paths", options, detach, tenant, hashes))


def _space_ids(tenant: str, space: str) -> list[int]:
    from helix.library.spaces import ids_of

    return in_database(lambda connection: ids_of(connection, tenant, [space]))


def _is_unchanged(
    settings: Settings, options: dict[str, object], tenant: str, hashes: FileHashes
) -> bool:
    """Print the summary if no file has changed; true where that is so."""
    key = run_key("paths", options, this_host())
    limits = FileLimits.of(settings)
    walked = in_database(
        lambda connection: nothing_to_do(connection, limits, options, key, tenant, hashes)
    )
    if walked is None:
        return False
    for line in summary({"unchanged": len(walked.sources)}, 0, walked.ignored):
        typer.echo(line)
    return True


def _options(paths: list[str] | None, title: str | None) -> dict[str, object]:
    given = _given(paths)
    _check_title(title, given)
    for path in given:  # a run keeps them as text
        if problem := name_problem(path):
            raise BadRequest(f"{legible(path)}: {problem}")
    return {"paths": given, "base": str(Path.cwd()), "title": title}


def _check_title(title: str | None, paths: list[str]) -> None:
    if title is None:
        return
    if not (title.strip() and title.isprintable()):
        raise BadRequest("--title is blank or not text: give the title, or leave it out")
    if (count := len(scan(paths).sources)) != 1:
        raise BadRequest(f"--title takes one file; {count} were given")


def _given(paths: list[str] | None) -> list[str]:
    if "" in (paths or ()):  # of a variable that is not set; as a path it would be this folder
        raise BadRequest("a path is empty: name a file or folder; this folder is .")
    if paths:
        return paths
    if not Path(DEFAULT_PATH).is_dir():
        raise BadRequest(
            f"no path is given, and this folder has no {DEFAULT_PATH}/: name files or folders"
        )
    return [DEFAULT_PATH]


if __name__ == "__main__":
    run(ingest)
