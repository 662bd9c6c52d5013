"""The table of commands: each is named with its help, and loaded when it is called or asked about.

A module that a command needs takes seconds to load, which `helix --help` and a mistyped name save.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup

from helix.errors import BadRequest, HelixError

_COMMANDS = {
    "GET /v1/spaces lists": "`helix spaces list` lists",
    "GET /v1/documents lists": "`helix documents` lists",
    "GET /v1/runs lists": "`helix runs` lists",
    "GET /v1/study lists": "`helix study list` lists",
    "GET /v1/study/due lists": "`helix study due` lists",
}


@dataclass(frozen=True)
class LazyCommand:
    """A command that is not loaded yet.

    Args:
        where: ``module:name`` of a function, or of a ``typer.Typer`` with subcommands.
        help: its line in `helix --help`, short enough to be shown whole.
    """

    where: str
    help: str

    def load(self, name: str) -> Any:
        """The command itself, under ``name``."""
        module, _, attribute = self.where.partition(":")
        command = getattr(import_module(module), attribute)
        if isinstance(command, typer.Typer):
            command.rich_markup_mode = None
            return typer.main.get_group(command)
        alone = plain_typer()
        alone.command(name)(command)
        return typer.main.get_command(alone)


class LazyGroup(TyperGroup):
    """The root group: it loads the command that is called, and tells errors in one line.

    The exit status is 2 for a request that cannot be answered as it is, 1 for any other known
    error, and 130 after Ctrl-C.
    """

    table: ClassVar[Mapping[str, LazyCommand]] = {}

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that ``args`` begin with, loaded, and the rest of them."""
        name, command, rest = super().resolve_command(ctx, args)
        if name and (lazy := self.table.get(name)):
            command = lazy.load(name)
        return name, command, rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command that ``ctx`` names."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")  # pydantic's, in front
            raise
        except HelixError as error:
            typer.echo(f"helix: {in_commands(str(error))}", err=True)
            raise typer.Exit(2 if isinstance(error, BadRequest) else 1) from None
        except KeyboardInterrupt:
            raise typer.Exit(130) from None


def plain_typer(**options: Any) -> typer.Typer:
    """A ``typer.Typer`` whose help and errors are plain text: rich takes 0.3 s to load."""
    return typer.Typer(
        add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None, **options
    )


def lazy_typer(commands: Mapping[str, LazyCommand], **options: Any) -> typer.Typer:
    """The root command of ``commands``, in their order."""
    cli = plain_typer(cls=type("Commands", (LazyGroup,), {"table": commands}), **options)
    for name, command in commands.items():
        cli.command(name, help=command.help)(_placeholder)
    return cli


def _placeholder() -> None:
    """Stands in the root's list of commands for one that is not loaded yet."""
    raise NotImplementedError


class ListByDefault(TyperGroup):
    """A group whose subcommand ``list`` is meant where none is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments as the base does, with the subcommand in front."""
        if args[:1] != ["--help"] and (not args or args[0].startswith("-")):
            args = ["list", *args]
        return super().parse_args(ctx, args)


def in_commands(message: str) -> str:
    """``message`` with the command that does what its route does, for a user of the terminal."""
    for route, command in _COMMANDS.items():
        message = message.replace(route, command)
    return message
