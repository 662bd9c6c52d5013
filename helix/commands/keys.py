"""``helix keys``: the keys to the HTTP API, where HELIX_AUTH=keys asks for them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from helix.commands.console import LARGEST_ID, in_database, print_table
from helix.commands.periods import span_or_never
from helix.domain.scope import DEFAULT_TENANT, tenant_name
from helix.errors import BadRequest, NotFound
from helix.library.audit import NOBODY, record_command
from helix.library.keys import (
    KEY_SCOPES,
    USUAL_SCOPES,
    ApiKey,
    create_key,
    list_keys,
    revoke_key,
    set_end,
    set_scopes,
    tenant_of_id,
)
from helix.library.signing_keys import listed_keys, renew_own_key, withdraw_key

if TYPE_CHECKING:
    from helix.storage.connections import Connected

keys = typer.Typer(
    name="keys", help="Keys to the HTTP API, for HELIX_AUTH=keys: make, list, change, revoke.",
    no_args_is_help=True,
)  # fmt: skip

_SCOPES = f"What it may do, with commas: some of {', '.join(KEY_SCOPES)}."
_EXPIRES = "After how long it opens nothing any more, such as 90d or 12h; or never."
Named = Annotated[str, typer.Argument(metavar="KEY", help="Its number, or its name.")]


@keys.command()
def create(
    tenant: Annotated[str, typer.Option(help="Whose documents the key opens.")] = DEFAULT_TENANT,
    name: Annotated[str, typer.Option(help="What it is for, to tell keys apart.")] = "",
    scopes: Annotated[str, typer.Option(help=_SCOPES)] = ",".join(USUAL_SCOPES),
    expires: Annotated[str, typer.Option(help=_EXPIRES)] = "never",
    space: Annotated[
        list[str] | None,
        typer.Option(metavar="SPACE", help="The only space that it opens; may be given again."),
    ] = None,
) -> None:
    """Make a key and print it, once: nobody can read it again."""
    key_scopes, life = _names(scopes), span_or_never(expires)

    def make(connection: Connected) -> tuple[int, str]:
        key = create_key(connection, tenant, name, key_scopes, life, spaces=space)
        record_command(connection, "helix keys create", tenant, f"key {key[0]}")
        return key

    key_id, secret = in_database(make)
    typer.echo(f"key {key_id} of {tenant}, shown this once:", err=True)
    typer.echo(secret)  # alone on standard output, for scripts


@keys.command("list")
def list_(
    tenant: Annotated[str | None, typer.Option(help="Only the keys of this tenant.")] = None,
) -> None:
    """All keys, revoked ones too; of each key only its beginning is known."""
    if tenant is not None:
        tenant_name(tenant)
    rows = []
    for key in in_database(lambda connection: list_keys(connection, tenant)):
        last_used = f"{key.used_at:%Y-%m-%d %H:%M}" if key.used_at else ""
        rows.append(
            [key.id, key.tenant, key.name, f"{key.hint}…", ",".join(key.scopes),
             f"{key.created_at:%Y-%m-%d}", last_used, _end(key)]
        )  # fmt: skip
    print_table(["key", "tenant", "name", "begins", "scopes", "created", "used", "ends"], rows)


@keys.command("set")
def set_(
    key: Named,
    scopes: Annotated[str | None, typer.Option(help=_SCOPES)] = None,
    expires: Annotated[str | None, typer.Option(help=_EXPIRES)] = None,
) -> None:
    """Change what a key may do, or until when, from its next request on."""
    if scopes is None and expires is None:
        raise typer.BadParameter("give --scopes, --expires, or both")
    key_scopes = None if scopes is None else _names(scopes)
    life = span_or_never(expires) if expires is not None else None

    def change(connection: Connected, key_id: int) -> bool:
        return (key_scopes is None or set_scopes(connection, key_id, key_scopes)) and (
            expires is None or set_end(connection, key_id, life)
        )

    typer.echo(f"key {_applied('set', key, change)} is changed")


@keys.command()
def revoke(key: Named) -> None:
    """Refuse a key from now on."""
    typer.echo(f"key {_applied('revoke', key, revoke_key)} is revoked")


@keys.command()
def signing(
    renew: Annotated[
        bool,
        typer.Option("--renew", help="Have the next answer signed with a new key; old ones stay."),
    ] = False,
    withdraw: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Take a key off the list: what it signed is not ours."),
    ] = None,
) -> None:
    """Public keys that answers were signed with: `helix prove`.

    The private one is HELIX_SIGNING_KEY, or else in the database.
    """

    def change(connection: Connected) -> bool:
        done = renew_own_key(connection) if withdraw is None else withdraw_key(connection, withdraw)
        if done:
            record_command(connection, "helix keys signing", NOBODY, withdraw or "renewed")
        return done

    if (renew or withdraw is not None) and not in_database(change):
        named = "key of its own" if withdraw is None else f"signing key {withdraw}"
        typer.echo(f"helix: the database has no {named}", err=True)
        raise typer.Exit(1)
    rows = [list(key.values()) for key in in_database(listed_keys)]
    print_table(["key", "algorithm", "public key", "since"], rows)


def _end(key: ApiKey) -> str:
    """The day from which the key opens nothing, past or to come; empty where there is none."""
    if key.revoked_at:
        return f"revoked {key.revoked_at:%Y-%m-%d}"
    if key.expires_at is None:
        return ""
    over = key.expires_at <= datetime.now(UTC)
    return f"{'expired ' if over else ''}{key.expires_at:%Y-%m-%d}"


def _names(text: str) -> list[str]:
    return [name.strip().lower() for name in text.split(",") if name.strip()]


def _applied(command: str, named: str, change: Callable[[Connected, int], bool]) -> int:
    """The number of the key that ``change`` changed, which the audit log tells of.

    Raises:
        NotFound: there is no such key, or it opens nothing any more.
    """

    def change_and_record(connection: Connected) -> int:
        key_id = _number_of(connection, named)
        if not change(connection, key_id):
            raise _no_key(named)
        tenant = tenant_of_id(connection, key_id)
        record_command(connection, f"helix keys {command}", tenant, f"key {key_id}")
        return key_id

    return in_database(change_and_record)


def _number_of(connection: Connected, named: str) -> int:
    """The number that ``named`` is, or of the one key that is called so and not revoked."""
    if named.isascii() and named.isdigit() and int(named) <= LARGEST_ID:
        return int(named)
    keys = list_keys(connection, None)
    numbers = [key.id for key in keys if key.name == named and key.revoked_at is None]
    if not numbers:
        raise _no_key(named)
    if len(numbers) > 1:
        several = " or ".join(map(str, numbers))
        raise BadRequest(f"several keys are called {named}: give the number, {several}")
    return numbers[0]


def _no_key(named: str) -> NotFound:
    return NotFound(f"there is no key {named} that opens anything: `helix keys list` has them")
