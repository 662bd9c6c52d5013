"""A program, ``python -m pipelines.…``, made of a function of options."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from helix.errors import HelixError

Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="TAG", help="A label for all of them; may be given again."),
]
Metadata = Annotated[
    list[str] | None,
    typer.Option(
        "--meta", metavar="KEY=VALUE",
        help="Metadata for all of them, as year=2024 or KEY:TYPE=VALUE; may be given again.",
    ),
]  # fmt: skip
Tenant = Annotated[str, typer.Option(help="Whose documents they are.")]
Detach = Annotated[
    bool, typer.Option("--detach", help="Print the run's id and leave it to a worker.")
]
RUN_INTERRUPTED = (
    "what is stored stays, run it again to go on; a worker goes on by itself, unless"
    " `helix runs cancel` ends the run"
)
"""Ctrl-C ends the program that follows a run, which any worker of this machine takes up."""


def run(command: Callable[..., None]) -> None:
    """Run ``command`` with the arguments of this process; no traceback dresses up its errors."""
    cli = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    cli.command()(command)
    cli()


@contextmanager
def one_line_errors(program: str, interrupted: str = "") -> Iterator[None]:
    """Known errors of the block are one line on standard error, and the exit status is 1.

    After Ctrl-C, ``interrupted`` is that line, if there is one, and the status is 130.
    """
    try:
        yield
    except HelixError as error:
        typer.echo(f"{program}: {error}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        if interrupted:
            typer.echo(f"{program}: interrupted; {interrupted}", err=True)
        raise typer.Exit(130) from None
