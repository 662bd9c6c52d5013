"""``python -m pipelines.ingest [PATH…]``: bring files and folders into Helix."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import Annotated

import typer

from helix.errors import HelixError, SettingsError
from helix.logs import configure_logging
from helix.providers import build_embedder
from helix.services import open_store
from helix.settings import Settings, load_settings
from pipelines.progress import Reporter
from pipelines.run import Ingest, Outcome, summary
from pipelines.scan import Scan, scan

DEFAULT_PATH = "samples"


def ingest(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH]...", help="Files and folders; the bundled samples if none."),
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="Title of the document; takes exactly one file.")
    ] = None,
) -> None:
    """Ingest files and folders: read, split, embed, store.

    An unchanged file costs nothing, a changed one is replaced as a whole. A file that cannot be
    read is named and the rest goes in; the exit status is then 1. Needs DATABASE_URL and an
    embedder, as `helix doctor` checks.
    """
    try:
        settings = load_settings()
        configure_logging("warning")
        found = scan(_given(paths))
        if title is not None and not (title.strip() and title.isprintable()):
            raise SettingsError("--title is blank or not text: give the title, or leave it out")
        if title is not None and len(found.sources) != 1:
            raise SettingsError(f"--title takes one file; {len(found.sources)} were given")
        failed = asyncio.run(_run(settings, found, title))
    except HelixError as error:
        typer.echo(f"ingest: {error}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        typer.echo("ingest: interrupted; what is stored stays, run it again to go on", err=True)
        raise typer.Exit(130) from None
    if failed:
        raise typer.Exit(1)


def _given(paths: list[str] | None) -> list[str]:
    if paths:
        return paths
    if not Path(DEFAULT_PATH).is_dir():
        raise SettingsError(f"no path given, and there is no {DEFAULT_PATH}/ in this folder")
    return [DEFAULT_PATH]


async def _run(settings: Settings, found: Scan, title: str | None) -> bool:
    """Whether anything failed; tells of every file."""
    outcomes = [Outcome(path, "failed", reason=reason) for path, reason in found.problems]
    with Reporter(total=len(found.sources)) as reporter:
        for outcome in outcomes:
            _tell(reporter, outcome)
        if found.sources:
            await _ingest(settings, found, title, reporter, outcomes)
    for line in summary(outcomes, found.ignored):
        typer.echo(line)
    return any(outcome.status == "failed" for outcome in outcomes)


async def _ingest(
    settings: Settings,
    found: Scan,
    title: str | None,
    reporter: Reporter,
    outcomes: list[Outcome],
) -> None:
    embedder = build_embedder(settings)
    try:
        async with open_store(settings, embedder) as store:
            run = Ingest(
                store, embedder, reporter, title=title, largest=settings.max_file_mb * 2**20
            ).run(found.sources)
            async with aclosing(run):
                async for outcome in run:
                    outcomes.append(outcome)
                    _tell(reporter, outcome)
                    reporter.done()
    except HelixError as error:
        stored = sum(outcome.status in ("added", "replaced") for outcome in outcomes)
        raise type(error)(
            f"stopped: {error} ({stored} files are stored; run it again to go on)"
        ) from error
    finally:
        await embedder.aclose()


def _tell(reporter: Reporter, outcome: Outcome) -> None:
    if outcome.status == "failed":
        reporter.line(f"failed    {outcome.source_uri}: {outcome.reason}", style="red")
    elif outcome.status != "unchanged":
        reporter.line(f"{outcome.status:<9} {outcome.source_uri} ({outcome.chunks} chunks)")


def main() -> None:
    """Entry point."""
    cli = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    cli.command()(ingest)
    cli()


if __name__ == "__main__":
    main()
