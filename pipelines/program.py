"""A program, ``python -m pipelines.…``: made of a function of options, ended by a summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from helix.domain.metadata import assignments
from helix.domain.scope import checked_tags
from helix.errors import BadRequest, HelixError

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

    It is 2 where the command was written wrongly, and 130 after Ctrl-C, when ``interrupted`` is
    that line, if there is one.
    """
    try:
        yield
    except HelixError as error:
        typer.echo(f"{program}: {error}", err=True)
        raise typer.Exit(2 if isinstance(error, BadRequest) else 1) from None
    except KeyboardInterrupt:
        if interrupted:
            typer.echo(f"{program}: interrupted; {interrupted}", err=True)
        raise typer.Exit(130) from None


def tags_option(tags: list[str] | None) -> dict[str, object]:
    """The option of a run that labels its documents; none where no label was given.

    Raises:
        BadRequest: a label is none.
    """
    return {"tags": list(checked_tags(tags))} if tags else {}


def metadata_option(assigned: list[str] | None) -> dict[str, object]:
    """The option of a run that gives its documents metadata; none where none was given.

    Raises:
        BadRequest: it is none.
    """
    return {"metadata": assignments(assigned)} if assigned else {}


def summary(counts: dict[str, int], chunks: int, ignored: int) -> Iterator[str]:
    """The lines a run ends with; ``counts`` is files by status."""
    by_status = {status: counts.get(status, 0) for status in ("added", "replaced", "unchanged")}
    by_status["failed"] = counts.get("failed", 0)
    if counts.get("cancelled"):
        by_status["cancelled"] = counts["cancelled"]
    text = ", ".join(f"{count} {status}" for status, count in by_status.items())
    files = sum(counts.values())
    yield f"{files} {'file' if files == 1 else 'files'}: {text}; {chunks} chunks written"
    if ignored:
        yield f"files of other types, passed over: {ignored}"
