"""What makes a function of options a program: ``python -m pipelines.…``."""

from __future__ import annotations

from collections.abc import Callable

import typer


def run(command: Callable[..., None]) -> None:
    """Run ``command`` with the arguments of this process; no traceback dresses up its errors."""
    cli = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    cli.command()(command)
    cli()
