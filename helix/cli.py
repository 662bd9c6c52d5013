"""The ``helix`` command: a table of commands, each loaded when it is called."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from helix import __version__
from helix.commands.lazy import LazyCommand, lazy_typer

COMMANDS = {
    "up": LazyCommand("helix.server.up:up", "Start here: database, page, browser, all at once."),
    "demo": LazyCommand("helix.commands.demo:demo", "See it work: no key, no Docker, no trace."),
    "serve": LazyCommand("helix.server.serve:serve", "Serve the page and the HTTP API."),
    "ask": LazyCommand("helix.commands.ask:ask", "Ask the documents."),
    "chat": LazyCommand("helix.commands.chat:chat", "Talk with them, a question after another."),
    "replay": LazyCommand("helix.commands.replay:replay", "Ask again what an answer was asked."),
    "doctor": LazyCommand("helix.commands.doctor:doctor", "Check all that answering needs."),
    "ingest": LazyCommand("pipelines.ingest:ingest", "Bring in files and folders."),
    "crawl": LazyCommand("pipelines.crawl:crawl", "Bring in the pages of a website."),
    "documents": LazyCommand("helix.commands.documents:documents", "List, show, label, delete."),
    "study": LazyCommand("helix.commands.study:study", "Quizzes, cards, workshops and maps."),
    "runs": LazyCommand("helix.commands.runs:runs", "What is being brought in: follow, cancel."),
    "keys": LazyCommand("helix.commands.keys:keys", "Keys to the HTTP API: make, list, set."),
    "audit": LazyCommand("helix.commands.audit:audit", "Who changed what, and who was refused."),
    "mcp": LazyCommand("helix.commands.mcp:mcp", "Tools for other programs' models."),
    "prompts": LazyCommand("helix.commands.prompts:prompts", "What models are told: see, change."),
    "tenants": LazyCommand("helix.commands.tenants:tenants", "Whose documents there are: erase."),
    "cache": LazyCommand("helix.commands.cache:cache", "The embedding cache: its size, empty it."),
    "reembed": LazyCommand("pipelines.reembed:reembed", "Change the embedder while answering."),
    "worker": LazyCommand("pipelines.worker:work", "Carry out what is to be brought in."),
    "backup": LazyCommand("helix.commands.backup:backup", "Write all that is stored to a file."),
    "restore": LazyCommand("helix.commands.backup:restore", "Put such a file back."),
    "export": LazyCommand("helix.commands.transfer:export", "Write all of a tenant to a folder."),
    "import": LazyCommand("helix.commands.transfer:import_", "Bring such a folder in."),
    "migrate": LazyCommand("helix.commands.migrate:migrate", "Make or upgrade the schema."),
}
"""Every command, in the order of `helix --help`. Those of ``pipelines`` are named and not imported:
``helix`` does not depend on ``pipelines``."""

_VERSION = f"helix {__version__}"

cli = lazy_typer(
    COMMANDS,
    name="helix",
    help="Answers from your own documents, each citation resolving, or one honest refusal.",
    no_args_is_help=True,
)


@cli.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(_VERSION)
        raise typer.Exit


def main() -> None:
    """Entry point. An unexpected error is one line, without its message, which may quote a text."""
    if sys.argv[1:] == ["--version"]:  # typer loads pydantic to read an option
        typer.echo(_VERSION)
        return
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
