"""``helix prompts``: what models are told besides the contract's rules; a tenant may change it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import click
import typer

from helix.commands.console import in_database, print_table, printable
from helix.domain.scope import DEFAULT_TENANT, tenant_name
from helix.errors import BadRequest, HelixError
from helix.library.audit import record_command
from helix.library.prompt_versions import prompt_in, prompts_in, roll_back, write
from helix.storage.connections import Connected

prompts = typer.Typer(
    name="prompts", help="The prompts of models: list, show, edit, diff, reset.",
    no_args_is_help=True,
)  # fmt: skip

Name = Annotated[str, typer.Argument(metavar="NAME", help="A name of `helix prompts list`.")]
Tenant = Annotated[str, typer.Option(help="The tenant whose prompts are meant.")]


@prompts.command(name="list")
def list_(tenant: Tenant = DEFAULT_TENANT) -> None:
    """List all prompts, and which of them the tenant has changed."""
    whose = tenant_name(tenant)
    rows = in_database(lambda connection: prompts_in(connection, whose))
    for row in rows:
        if row["broken"]:
            message = (
                f"version {row['version']} of {row['name']} is broken, the shipped one is used"
            )
            typer.echo(f"helix: {message}: {row['broken']}", err=True)
    print_table(
        ("name", "version", "what it is for"),
        ((row["name"], row["version"] or "shipped", row["use"]) for row in rows),
    )


@prompts.command()
def show(name: Name, tenant: Tenant = DEFAULT_TENANT) -> None:
    """Print a whole prompt, with its placeholders."""
    whose = tenant_name(tenant)
    prompt_row = in_database(lambda connection: prompt_in(connection, whose, name))
    parts = (prompt_row["before"], prompt_row["text"], prompt_row["after"])
    typer.echo(printable("\n".join(part for part in parts if part)))


@prompts.command()
def edit(
    name: Name,
    tenant: Tenant = DEFAULT_TENANT,
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Take the text from here; - is stdin.")
    ] = None,
) -> None:
    """Change a prompt, in your editor ($EDITOR) or from a file; used from the next request on.

    The fixed parts of a prompt, such as the form of the reply, are not part of the text.
    """
    whose = tenant_name(tenant)
    prompt_row = in_database(lambda connection: prompt_in(connection, whose, name))
    text = _edited(prompt_row["text"]) if file is None else _read_text(file)
    if text is None or text.strip("\n") == prompt_row["text"]:
        typer.echo(f"{name} stays as it is")
        return

    def save(connection: Connected) -> int:
        number = write(connection, whose, name, text, "helix prompts", prompt_row["last_version"])
        record_command(connection, "helix prompts edit", whose, f"prompt {name}")
        return number

    try:
        number = in_database(save)
    except HelixError:
        if file is None:
            typer.echo(text, err=True)  # an hour's work is not lost to a line at fault
        raise
    typer.echo(f"{name} is version {number} of {whose} from the next request on")


@prompts.command()
def diff(name: Name, tenant: Tenant = DEFAULT_TENANT) -> None:
    """Show what the tenant changed of the shipped prompt."""
    whose = tenant_name(tenant)
    prompt_row = in_database(lambda connection: prompt_in(connection, whose, name))
    typer.echo(
        printable("\n".join(prompt_row["diff"])) if prompt_row["diff"] else f"{name} is as shipped"
    )


@prompts.command()
def reset(
    name: Name,
    tenant: Tenant = DEFAULT_TENANT,
    to: Annotated[
        int | None, typer.Option(min=1, max=2**31 - 1, help="Go back to this version instead.")
    ] = None,
) -> None:
    """Use the shipped prompt again, or an earlier version; every version is kept."""
    whose = tenant_name(tenant)

    def restore(connection: Connected) -> int:
        author = "helix prompts"
        number = (
            write(connection, whose, name, None, author)
            if to is None
            else roll_back(connection, whose, name, to, author)
        )
        record_command(connection, "helix prompts reset", whose, f"prompt {name}")
        return number

    number = in_database(restore)
    back = "the shipped one" if to is None else f"that of version {to}"
    typer.echo(f"{name} is {back} again (version {number} of {whose})")


def _edited(text: str) -> str | None:
    """``text`` from the editor; None where it was left without saving."""
    return click.edit(text + "\n", extension=".md")


def _read_text(file: Path) -> str:
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{file} cannot be read: {error}") from None
