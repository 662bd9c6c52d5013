"""``helix spaces``: named sets of documents, which permissions are given to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from helix.commands.console import in_database, print_table, recorded
from helix.commands.document_names import find_documents
from helix.commands.service.documents import LibraryService
from helix.commands.service.service_choice import opened_library
from helix.domain.scope import DEFAULT_TENANT, tenant_name
from helix.library.spaces import (
    Member,
    SpaceRole,
    add_space,
    change_space,
    delete_space,
    ids_of,
    let_in,
    let_out,
    members_of,
    place_document,
    spaces_of,
)
from helix.settings import load_settings

if TYPE_CHECKING:
    from helix.storage.connections import Connected

spaces = typer.Typer(
    name="spaces", help="Spaces: named sets of documents, which some may read and others not.",
    no_args_is_help=True,
)  # fmt: skip

Tenant = Annotated[str, typer.Option(help="Whose spaces.")]
SpaceName = Annotated[str, typer.Argument(metavar="SPACE", help="Its name, or its id.")]
Documents = Annotated[
    list[str], typer.Argument(metavar="NAME…", help="Titles, file names, paths or numbers.")
]
Everyone = Annotated[
    bool | None,
    typer.Option(
        "--everyone/--members", help="Every member of the tenant reads it, or those it is given to."
    ),
]
Model = Annotated[str | None, typer.Option(metavar="NAME", help="The model that answers in it.")]
Person = Annotated[str | None, typer.Option(metavar="EMAIL", help="A member of the tenant.")]
Group = Annotated[str | None, typer.Option(metavar="NAME", help="A group of the tenant.")]
Style = Annotated[str | None, typer.Option(help="How answers in it are written.")]


@spaces.command("list")
def list_(tenant: Tenant = DEFAULT_TENANT) -> None:
    """All spaces with how many documents stand in each."""
    whose = tenant_name(tenant)
    rows = [
        [
            row["id"],
            row["name"],
            "everyone" if row["everyone"] else "members",
            row["documents"],
            row["model"],
        ]
        for row in in_database(lambda connection: spaces_of(connection, whose))
    ]
    print_table(["space", "name", "read by", "documents", "model"], rows)


@spaces.command()
def create(
    name: str,
    everyone: Everyone = None,
    model: Model = None,
    style: Style = None,
    tenant: Tenant = DEFAULT_TENANT,
) -> None:
    """Make a space without documents."""
    about = {"everyone": everyone, "model": model, "style": style}

    def make(connection: Connected) -> int:
        return add_space(connection, tenant_name(tenant), name, **about)

    typer.echo(f"space {recorded('helix spaces create', 'space', tenant, make)} is made")


@spaces.command()
def change(
    space: SpaceName,
    name: Annotated[str | None, typer.Option(help="Another name.")] = None,
    everyone: Everyone = None,
    model: Model = None,
    style: Style = None,
    tenant: Tenant = DEFAULT_TENANT,
) -> None:
    """Change the name of a space, who reads it, its model or its style."""
    changes = {"name": name, "everyone": everyone, "model": model, "style": style}
    if all(value is None for value in changes.values()):
        raise typer.BadParameter("give --name, --everyone, --members, --model or --style")

    def apply(connection: Connected, found: int) -> None:
        change_space(connection, tenant, found, changes)

    typer.echo(f"space {_changed('change', tenant, space, apply)} is changed")


@spaces.command()
def delete(space: SpaceName, tenant: Tenant = DEFAULT_TENANT) -> None:
    """Delete a space whose documents all stand in another one too."""

    def apply(connection: Connected, found: int) -> None:
        delete_space(connection, tenant, found)

    typer.echo(f"space {_changed('delete', tenant, space, apply)} is deleted")


@spaces.command()
def put(
    space: SpaceName,
    documents: Documents,
    move: Annotated[bool, typer.Option("--move", help="Take them out of all others.")] = False,
    tenant: Tenant = DEFAULT_TENANT,
) -> None:
    """Put documents into a space."""
    numbers = _numbers_of(documents, tenant)

    def apply(connection: Connected, found: int) -> None:
        for number in numbers:
            place_document(
                connection, number, tenant=tenant, add=[found], remove=None if move else ()
            )

    found = _changed("put", tenant, space, apply)
    typer.echo(f"put into space {found}: {len(numbers)}")


@spaces.command()
def take(space: SpaceName, documents: Documents, tenant: Tenant = DEFAULT_TENANT) -> None:
    """Take documents out of a space; they stay in the others that they stand in."""
    numbers = _numbers_of(documents, tenant)

    def apply(connection: Connected, found: int) -> None:
        for number in numbers:
            place_document(connection, number, tenant=tenant, remove=(found,))

    found = _changed("take", tenant, space, apply)
    typer.echo(f"taken out of space {found}: {len(numbers)}")


@spaces.command()
def let(
    space: SpaceName,
    person: Person = None,
    group: Group = None,
    role: Annotated[SpaceRole, typer.Option(help="editor: changes its documents too.")] = "reader",
    tenant: Tenant = DEFAULT_TENANT,
) -> None:
    """Give a space to a person or a group."""
    who = _member(person, group)

    def apply(connection: Connected, found: int) -> None:
        let_in(connection, tenant, found, who, role)

    typer.echo(f"{who} is {role} of space {_changed('let', tenant, space, apply)}")


@spaces.command()
def bar(
    space: SpaceName, person: Person = None, group: Group = None, tenant: Tenant = DEFAULT_TENANT
) -> None:
    """Take a space from a person or a group."""
    who = _member(person, group)

    def apply(connection: Connected, found: int) -> None:
        let_out(connection, tenant, found, who)

    typer.echo(f"{who} is no longer of space {_changed('bar', tenant, space, apply)}")


@spaces.command()
def members(space: SpaceName, tenant: Tenant = DEFAULT_TENANT) -> None:
    """List whom a space is given to; owners of the tenant read every space."""

    def read(connection: Connected) -> list[tuple[str, SpaceRole]]:
        (found,) = ids_of(connection, tenant_name(tenant), [space])
        return members_of(connection, tenant, found)

    print_table(["member", "role"], [list(row) for row in in_database(read)])


def _numbers_of(names: list[str], tenant: str) -> list[int]:
    """The ids of the documents that are called so, each once; raises as ``find_document`` does."""

    async def find() -> list[int]:
        async with opened_library(load_settings(), tenant_name(tenant)) as library:
            return [row["id"] for row in await find_documents(LibraryService(library), names)]

    return asyncio.run(find())


def _member(person: str | None, group: str | None) -> Member:
    if (person is None) == (group is None):
        raise typer.BadParameter("give --person or --group")
    return Member(person, group)


def _changed(
    command: str, tenant: str, space: str, action: Callable[[Connected, int], None]
) -> int:
    """The id of the space that is called so, which ``action`` changed."""

    def change(connection: Connected) -> int:
        (found,) = ids_of(connection, tenant, [space])
        action(connection, found)
        return found

    return recorded(f"helix spaces {command}", "space", tenant, change)
