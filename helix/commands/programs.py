"""``helix ingest``, ``crawl``, ``reembed``, ``worker``, ``migrate``: each hands over to a program.

The programs are named and not imported: ``helix`` does not depend on ``pipelines``.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import typer

PROGRAMS = {
    "ingest": ("pipelines.ingest", "Bring in files and folders."),
    "crawl": ("pipelines.crawl", "Bring in the pages of a website."),
    "reembed": ("pipelines.reembed", "Change the embedder while questions are answered."),
    "worker": ("pipelines.worker", "Carry out ingestion runs until SIGTERM or Ctrl-C."),
    "migrate": ("db.migrate", "Bring the database to this version's schema."),
}
"""Command to module and help. The options, ``--help`` among them, are the program's own."""


def add_to(cli: typer.Typer) -> None:
    """Add the commands."""
    settings = {"ignore_unknown_options": True, "allow_extra_args": True}
    for name, (_, told) in PROGRAMS.items():
        cli.command(name, help=told, add_help_option=False, context_settings=settings)(_hand_over)


def _hand_over(context: typer.Context) -> NoReturn:
    module, _ = PROGRAMS[str(context.info_name)]
    # -P: no file of the folder that the command is called in may pass for a module
    command = [sys.executable, "-P", "-m", module, *context.args]
    os.execv(sys.executable, command)  # noqa: S606
