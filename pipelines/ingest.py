"""``python -m pipelines.ingest [PATH…]``: bring files and folders into Helix."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from helix.errors import HelixError, SettingsError
from helix.logs import configure_logging
from helix.scope import DEFAULT_TENANT, tenant_name
from helix.settings import Settings, load_settings
from pipelines.asking import run_key, summary, tags_option, this_host
from pipelines.program import run
from pipelines.scan import scan
from pipelines.unchanged import nothing_to_do

DEFAULT_PATH = "samples"


def ingest(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH]...", help="Files and folders; the bundled samples if none."),
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="Title of the document; takes exactly one file.")
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="TAG", help="A label for all of them; may be given again."),
    ] = None,
    tenant: Annotated[str, typer.Option(help="Whose documents they are.")] = DEFAULT_TENANT,
    detach: Annotated[
        bool, typer.Option("--detach", help="Print the run's id and leave it to a worker.")
    ] = False,
) -> None:
    """Ingest files and folders: read, split, embed, store.

    An unchanged file costs nothing, a changed one is replaced as a whole. A file that cannot be
    read is named and the rest goes in; the exit status is then 1. Killed at any point, the same
    command goes on where it stopped. Needs DATABASE_URL and an embedder, as `helix doctor` checks.
    """
    try:
        settings = load_settings()
        configure_logging("warning")
        options = _options(paths, title) | tags_option(tag)
        whose = tenant_name(tenant)
        nothing = not detach and not tag and _unchanged(settings, options, whose)
        failed = not nothing and _run(settings, options, detach, whose)
    except HelixError as error:
        typer.echo(f"ingest: {error}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        typer.echo("ingest: interrupted; what is stored stays, run it again to go on", err=True)
        raise typer.Exit(130) from None
    if failed:
        raise typer.Exit(1)


def _unchanged(settings: Settings, options: dict[str, object], tenant: str) -> bool:
    """Whether there was nothing to do, which is then told."""
    key = run_key("paths", options, this_host())
    walked = asyncio.run(nothing_to_do(settings, options, key, tenant))
    if walked is None:
        return False
    for line in summary({"unchanged": len(walked.sources)}, 0, walked.ignored):
        typer.echo(line)
    return True


def _run(settings: Settings, options: dict[str, object], detach: bool, tenant: str) -> bool:
    """Whether anything failed."""
    from pipelines.following import start_and_follow  # it takes seconds, which nothing to do saves

    return start_and_follow(settings, "paths", options, detach, tenant)


def _options(paths: list[str] | None, title: str | None) -> dict[str, object]:
    given = _given(paths)
    if title is not None:
        if not (title.strip() and title.isprintable()):
            raise SettingsError("--title is blank or not text: give the title, or leave it out")
        if (count := len(scan(given).sources)) != 1:
            raise SettingsError(f"--title takes one file; {count} were given")
    return {"paths": given, "base": str(Path.cwd()), "title": title}


def _given(paths: list[str] | None) -> list[str]:
    if paths:
        return paths
    if not Path(DEFAULT_PATH).is_dir():
        raise SettingsError(f"no path given, and there is no {DEFAULT_PATH}/ in this folder")
    return [DEFAULT_PATH]


if __name__ == "__main__":
    run(ingest)
