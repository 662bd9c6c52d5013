"""``helix worker``: hands over to the worker's own program, which what serves does not import."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import typer

from helix.workers import MODULE


def worker(context: typer.Context) -> NoReturn:
    """Carry out ingestion runs until SIGTERM or Ctrl-C; several workers share them."""
    os.execv(sys.executable, [sys.executable, "-m", MODULE, *context.args])  # noqa: S606


def add_to(cli: typer.Typer) -> None:
    """Add the command; its options, ``--help`` among them, are the program's."""
    settings = {"ignore_unknown_options": True, "allow_extra_args": True}
    cli.command(add_help_option=False, context_settings=settings)(worker)
