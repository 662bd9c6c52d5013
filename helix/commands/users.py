"""``helix user``: the accounts of people, where HELIX_AUTH=accounts asks them to sign in."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from helix.commands.console import in_database, print_table
from helix.commands.server_record import recorded_address
from helix.domain.scope import DEFAULT_TENANT, tenant_name
from helix.errors import BadRequest, NotFound
from helix.library.audit import record_command
from helix.library.keys import revoke_tokens
from helix.library.people.browser_sessions import revoke_sessions
from helix.library.people.invitations import link_to, reset_link
from helix.library.people.members import Role, memberships, owners_of, set_role
from helix.library.people.passkeys import (
    Passkey,
    list_passkeys,
    remove_passkey,
    remove_passkeys,
)
from helix.library.people.passwords import set_password
from helix.library.people.persons import (
    Person,
    add_person,
    find_person,
    list_people,
    set_enabled,
    set_name,
)
from helix.settings import load_settings

if TYPE_CHECKING:
    from helix.storage.connections import Connected

user = typer.Typer(
    name="user", help="People's accounts, for HELIX_AUTH=accounts: add, list, change, erase.",
    no_args_is_help=True,
)  # fmt: skip

Email = Annotated[str, typer.Argument(metavar="EMAIL", help="The address to sign in with.")]
RoleOrNone = Literal["owner", "editor", "reader", "none"]


@user.command()
def add(
    email: Email,
    tenant: Annotated[str, typer.Option(help="Whose documents.")] = DEFAULT_TENANT,
    role: Annotated[
        Role | None, typer.Option(help="What they may do there; else reader, or as they are.")
    ] = None,
    name: Annotated[str, typer.Option(help="Their name.")] = "",
    password: Annotated[
        bool, typer.Option("--password", help="Read a password from the terminal or a pipe.")
    ] = False,
) -> None:
    """Add a person to a tenant, and print a link by which they choose a password.

    Who has an account already is added to the tenant and keeps it; then nothing is printed.
    """
    chosen = _read_password() if password else None

    def make(connection: Connected) -> tuple[Role, str | None, bool]:
        known = find_person(connection, email)
        person_id = known.id if known else add_person(connection, email, name)
        given = role or _role_in(connection, tenant, person_id) or "reader"
        set_role(connection, tenant_name(tenant), person_id, given)
        about = f"person {person_id}; role {given}"
        record_command(connection, "helix user add", tenant, about)
        if chosen is not None:
            set_password(connection, person_id, chosen)
        link = reset_link(connection, tenant, person_id) if not known and not chosen else None
        return given, link, bool(owners_of(connection, tenant))

    given, secret, owned = in_database(make)
    typer.echo(f"{email} is {_with_article(given)} of {tenant}", err=True)
    if not owned:
        typer.echo(f"{tenant} has no owner: `helix user set {email} --tenant {tenant} --role owner`"
                   " makes one, who sees what was asked before accounts", err=True)  # fmt: skip
    _print_link(secret)


@user.command("list")
def list_(
    tenant: Annotated[str | None, typer.Option(help="Only the members of this tenant.")] = None,
) -> None:
    """Everybody who has an account, once for each tenant that they are a member of."""
    if tenant is not None:
        tenant_name(tenant)
    rows = [
        [each.id, each.email, each.name, each.tenant, each.role, f"{each.created_at:%Y-%m-%d}",
         f"disabled {each.disabled_at:%Y-%m-%d}" if each.disabled_at else ""]
        for each in in_database(lambda connection: list_people(connection, tenant))
    ]  # fmt: skip
    if not rows:
        whose = f" in {tenant}" if tenant is not None else ""
        more = f" --tenant {tenant}" if tenant is not None else ""
        typer.echo(f"nobody has an account{whose}: `helix user add ada@example.com{more}` adds one")
        return
    print_table(["person", "address", "name", "tenant", "role", "since", ""], rows)


@user.command("set")
def set_(
    email: Email,
    tenant: Annotated[str, typer.Option(help="The tenant of --role.")] = DEFAULT_TENANT,
    role: Annotated[
        RoleOrNone | None, typer.Option(help="What they may do there; none: nothing any more.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Their name.")] = None,
    password: Annotated[
        bool, typer.Option("--password", help="Read a password; their sessions and passkeys end.")
    ] = False,
    link: Annotated[
        bool, typer.Option("--link", help="Print a link by which they choose one; so with it.")
    ] = False,
    enable: Annotated[bool, typer.Option("--enable", help="Undo `helix user disable`.")] = False,
) -> None:
    """Change a person's role, name or password, from their next request on."""
    if role is None and name is None and not (password or link or enable):
        raise typer.BadParameter("give --role, --name, --password, --link or --enable")
    chosen = _read_password() if password else None

    def change(connection: Connected) -> str | None:
        person = _known(connection, email)
        if role is not None:
            set_role(connection, tenant_name(tenant), person.id, None if role == "none" else role)
        if name is not None:
            set_name(connection, person.id, name)
        if enable:
            set_enabled(connection, person.id, enabled=True)
        if chosen is not None:
            set_password(connection, person.id, chosen)
            revoke_sessions(connection, person.id)
            remove_passkeys(connection, person.id)
            revoke_tokens(connection, person.id)
        about = f"person {person.id}" + (f"; role {role}" if role else "")
        record_command(connection, "helix user set", tenant, about)
        return reset_link(connection, tenant, person.id) if link else None

    secret = in_database(change)
    typer.echo(f"{email} is changed", err=True)
    _print_link(secret)


@user.command()
def passkeys(
    email: Email,
    remove: Annotated[int | None, typer.Option(metavar="ID", help="Take this one away.")] = None,
) -> None:
    """List a person's passkeys, or take one away: it opens nothing from now on."""

    def change(connection: Connected) -> list[Passkey]:
        person = _known(connection, email)
        if remove is not None:
            if not remove_passkey(connection, person.id, remove):
                raise NotFound(f"{email} has no passkey {remove}")
            about = f"person {person.id}; passkey {remove}"
            record_command(connection, "helix user passkeys", "-", about)
        return list_passkeys(connection, person.id)

    rows = [
        [each.id, each.name, f"{each.created_at:%Y-%m-%d}",
         f"{each.used_at:%Y-%m-%d}" if each.used_at else ""]
        for each in in_database(change)
    ]  # fmt: skip
    print_table(["passkey", "name", "since", "last used"], rows)


@user.command()
def disable(email: Email) -> None:
    """Let an account open nothing any more: its sessions and tokens end now."""

    def close(connection: Connected) -> None:
        person = _known(connection, email)
        set_enabled(connection, person.id, enabled=False)
        revoke_sessions(connection, person.id)
        record_command(connection, "helix user disable", "-", f"person {person.id}")

    in_database(close)
    typer.echo(f"{email} is disabled")


@user.command()
def erase(
    email: Email,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a person: account, conversations, answers, study sets, progress and usage.

    Documents of the library stay, for they are the tenant's. The audit log keeps their number.
    """
    from helix.conversations.receipts.erasure import erase_person  # it takes a second to load

    if not yes:
        typer.confirm(f"Delete everything of {email}? It cannot be brought back.", abort=True)

    def erase_and_record(connection: Connected) -> tuple[dict[str, int], list[str]]:
        person = _known(connection, email)
        held = memberships(connection, person.id)
        counts = erase_person(connection, person.id)
        record_command(connection, "helix user erase", "-", f"person {person.id}")
        return counts, [one.tenant for one in held if not owners_of(connection, one.tenant)]

    counts, left = in_database(erase_and_record)
    typer.echo(f"{email} is erased: {', '.join(f'{n:,} {name}' for name, n in counts.items())}")
    for tenant in left:
        typer.echo(f"helix: {tenant} has no owner: `helix user set EMAIL --tenant {tenant} --role"
                   " owner` makes one", err=True)  # fmt: skip


def _known(connection: Connected, email: str) -> Person:
    person = find_person(connection, email)
    if person is None:
        raise NotFound(f"there is no account of {email}: `helix user list` has them")
    return person


def _role_in(connection: Connected, tenant: str, person_id: int) -> Role | None:
    held = {each.tenant: each.role for each in memberships(connection, person_id)}
    return held.get(tenant_name(tenant))


def _read_password() -> str:
    if sys.stdin.isatty():
        return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    first = sys.stdin.readline().rstrip("\r\n")
    if not first:
        raise BadRequest("--password reads the password from the terminal, or a line of a pipe")
    return first


def _print_link(secret: str | None) -> None:
    if secret is not None:
        typer.echo("a link to choose a password, good once, for a day:", err=True)
        settings = load_settings()
        known = settings.url or recorded_address(settings.database_url)
        # alone on standard output, for scripts
        typer.echo(link_to(known or "http://localhost:8080", secret))


def _with_article(role: str) -> str:
    return f"{'an' if role[0] in 'aeo' else 'a'} {role}"
