"""``helix group``: groups of a tenant's members, that rights are given to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from helix.commands.console import in_database, print_table, recorded
from helix.domain.scope import DEFAULT_TENANT, tenant_name
from helix.errors import NotFound
from helix.library.audit import record_command
from helix.library.people.groups import (
    GroupMember,
    add_group,
    find_group,
    join_group,
    leave_group,
    list_groups,
    members_of,
)
from helix.library.people.persons import find_person

if TYPE_CHECKING:
    from helix.storage.connections import Connected

group = typer.Typer(
    name="group", help="Groups of people: add, list, change who is in them.", no_args_is_help=True,
)  # fmt: skip

Tenant = Annotated[str, typer.Option(help="Whose group.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The group.")]
Emails = Annotated[list[str] | None, typer.Option(metavar="EMAIL", help="May be given again.")]


@group.command()
def add(name: Name, tenant: Tenant = DEFAULT_TENANT) -> None:
    """Add a group without members."""

    recorded("helix group add", "group", tenant, lambda database: add_group(database, tenant, name))
    typer.echo(f"{tenant} has the group {name}")


@group.command("list")
def list_(
    tenant: Annotated[str | None, typer.Option(help="Only those of this tenant.")] = None,
) -> None:
    """All groups, those that a provider's claim made among them."""
    if tenant is not None:
        tenant_name(tenant)
    rows = [
        [each.id, each.tenant, each.name, each.source, each.members]
        for each in in_database(lambda connection: list_groups(connection, tenant))
    ]
    print_table(["group", "tenant", "name", "source", "members"], rows)


@group.command()
def members(
    name: Name,
    add: Emails = None,
    remove: Emails = None,
    tenant: Tenant = DEFAULT_TENANT,
) -> None:
    """Show who is in a group, after adding and removing members of the tenant."""

    def change(connection: Connected) -> list[GroupMember]:
        number = find_group(connection, tenant, name)
        for emails, do in ((add, join_group), (remove, leave_group)):
            for email in emails or ():
                person = find_person(connection, email)
                if person is None or not do(connection, tenant, number, person.id):
                    raise NotFound(f"{email} is no member of {tenant}, or nothing would change")
                about = f"group {number}; person {person.id}"
                record_command(connection, "helix group members", tenant, about)
        return members_of(connection, tenant, number)

    rows = [[each.id, each.email, each.name] for each in in_database(change)]
    print_table(["person", "address", "name"], rows)
