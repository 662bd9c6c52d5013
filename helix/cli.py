"""The ``helix`` command. What takes time to load is loaded by the command that needs it."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from helix import __version__
from helix.commands import programs
from helix.commands.answers import ask, replay
from helix.commands.cache import cache
from helix.commands.console import OneLineErrors
from helix.commands.demo import demo
from helix.commands.doctor import doctor
from helix.commands.keys import keys
from helix.commands.runs import runs
from helix.commands.tenants import tenants
from helix.settings import load_settings


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8080,
) -> None:
    """Serve over HTTP until SIGTERM or Ctrl-C; running answers may finish.

    What is uploaded is ingested by HELIX_WORKERS processes that it starts when there is something.
    """
    settings = load_settings()
    import uvicorn

    from helix.app import create_app
    from helix.serving.disconnects import DRAIN_SECONDS

    uvicorn.run(
        create_app(settings),
        host=host,
        port=port,
        log_level=settings.log_level,
        access_log=False,
        timeout_graceful_shutdown=DRAIN_SECONDS + 5,
    )


COMMANDS = (demo, serve, ask, replay, doctor)
GROUPS = (runs, keys, tenants, cache)
"""Commands with subcommands."""

cli = typer.Typer(
    name="helix",
    help="Answers from your own documents, each citation resolving, or one honest refusal.",
    cls=OneLineErrors,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in COMMANDS:
    cli.command()(command)
programs.add_to(cli)
for group in GROUPS:
    cli.add_typer(group)


@cli.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"helix {__version__}")
        raise typer.Exit


def main() -> None:
    """Entry point. An unexpected error is one line, without its message, which may quote a text."""
    try:
        cli()
    except Exception as error:
        from helix.telemetry.logs import where

        if os.environ.get("HELIX_LOG_LEVEL", "").lower() == "debug":
            raise
        told = f"helix: unexpected error ({where(error)}); HELIX_LOG_LEVEL=debug shows all of it"
        typer.echo(told, err=True)
        sys.exit(70)


if __name__ == "__main__":
    main()
