"""The ``helix`` command: a table of commands, each loaded when it is called."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from helix import __version__
from helix.commands.lazy_commands import LazyCommand, lazy_typer

COMMANDS = {
    "up": LazyCommand("helix.commands.up:up", "Start here: database, page, browser, all at once."),
    "demo": LazyCommand("helix.commands.demo:demo", "See it work: no key, no Docker, no trace."),
    "serve": LazyCommand("helix.commands.serve:serve", "Serve the page and the HTTP API."),
    "ask": LazyCommand("helix.commands.ask:ask", "Ask the documents."),
    "search": LazyCommand("helix.commands.search:search", "Search the documents for passages."),
    "chat": LazyCommand("helix.commands.chat:chat", "Ask in a conversation, with follow-ups."),
    "replay": LazyCommand("helix.commands.replay:replay", "Ask the question of an answer again."),
    "prove": LazyCommand("helix.commands.prove:prove", "Sign an answer, or verify a signed one."),
    "erasure": LazyCommand("helix.commands.erasure:erasure", "Erase a document, with a record."),
    "plugins": LazyCommand("helix.commands.plugins:list_plugins", "List what packages add."),
    "doctor": LazyCommand("helix.commands.doctor:doctor", "Check what answering needs."),
    "ingest": LazyCommand("pipelines.ingest:ingest", "Bring in files and folders."),
    "crawl": LazyCommand("pipelines.crawl:crawl", "Bring in the pages of a website."),
    "source": LazyCommand("pipelines.source:source", "Folders and more, kept in step."),
    "documents": LazyCommand(
        "helix.commands.documents:documents", "Documents: list, label, delete."
    ),
    "spaces": LazyCommand("helix.commands.spaces:spaces", "Spaces: which documents who may read."),
    "study": LazyCommand("helix.commands.study:study", "Quizzes, cards, workshops and maps."),
    "runs": LazyCommand("helix.commands.runs:runs", "Follow or cancel ingestion runs."),
    "model": LazyCommand("helix.commands.model:model", "Models of your own: fetch, list, remove."),
    "keys": LazyCommand("helix.commands.keys:keys", "API keys: create, list, change."),
    "user": LazyCommand("helix.commands.users:user", "People's accounts: add, list, change."),
    "group": LazyCommand("helix.commands.groups:group", "Groups of people: add, list, change."),
    "usage": LazyCommand("helix.commands.usage:usage", "What people and keys used; their limits."),
    "audit": LazyCommand("helix.commands.audit:audit", "The audit log: changes and refusals."),
    "mcp": LazyCommand("helix.commands.mcp:mcp", "Serve tools to other programs' models."),
    "prompts": LazyCommand("helix.commands.prompts:prompts", "Prompts: list, show, change."),
    "tenants": LazyCommand("helix.commands.tenants:tenants", "Erase a tenant, choose its model."),
    "cache": LazyCommand("helix.commands.cache:cache", "The embedding cache: size, clear."),
    "reembed": LazyCommand("pipelines.reembed:reembed", "Change the embedder while answering."),
    "worker": LazyCommand("pipelines.worker:work", "Work through queued runs."),
    "backup": LazyCommand("helix.commands.backup:backup", "Back up the database to a file."),
    "restore": LazyCommand("helix.commands.backup:restore", "Restore a backup."),
    "export": LazyCommand("helix.commands.transfer:export", "Export a tenant to a folder."),
    "import": LazyCommand("helix.commands.transfer:import_", "Import an exported tenant."),
    "migrate": LazyCommand("helix.commands.migrate:migrate", "Create or upgrade the schema."),
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
        message = f"helix: unexpected error ({where(error)}); HELIX_LOG_LEVEL=debug shows all of it"
        typer.echo(message, err=True)
        sys.exit(70)


if __name__ == "__main__":
    main()
