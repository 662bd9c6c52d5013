"""Sessions of browsers that somebody signed in with: begun, looked up, listed, ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from psycopg.rows import class_row

from helix.domain.scope import Spaces
from helix.errors import HelixError
from helix.library.people.members import Membership, Role, memberships
from helix.library.people.tokens import hash_of, new_secret
from helix.storage.statements import passkeys
from helix.storage.statements import sign_ins as sql

if TYPE_CHECKING:
    from helix.storage.connections import Connected
    from helix.storage.tenant_store import TenantStore

_LONGEST_CLIENT = 200


class NoTenant(HelixError):
    """The person is a member of no tenant, or not of the one that was asked for."""

    status = 403


@dataclass(frozen=True, slots=True)
class SessionAccess:
    """The access that a session gives: to ``tenant``, for what ``role`` allows.

    ``csrf`` is known to pages of this server alone. ``spaces`` are those whose documents may be
    read, ``edits`` those whose documents may be changed; None: all. ``limits`` are those
    of usage that hold for the person.
    """

    id: int
    tenant: str
    person_id: int
    role: Role
    name: str
    email: str
    csrf: str
    spaces: Spaces = None
    edits: Spaces = None
    limits: list[dict[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class ListedSession:
    """A session that still opens something, as its person sees it."""

    id: int
    tenant: str
    method: str
    address: str
    client: str
    created_at: datetime
    used_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class SignIn:
    """The way that somebody signed in, and from where.

    ``method`` is ``password``, ``passkey``, ``link`` or an issuer; ``id_token`` is the issuer's.
    """

    method: str
    address: str = ""
    client: str = ""
    id_token: str = ""


def begin_session(
    connection: Connected, person_id: int, how: SignIn, life: timedelta, tenant: str | None = None
) -> str:
    """The secret of a new session, which ends after ``life`` whatever is done with it.

    Its tenant is ``tenant``, or the first by name that the person is a member of.

    Raises:
        NoTenant: the person is no member of it, or of any.
    """
    found = memberships(connection, person_id)
    chosen = _chosen(found, tenant)
    secret = new_secret()
    values = {
        "hash": hash_of(secret), "tenant": chosen, "person": person_id, "csrf": new_secret(),
        "method": how.method, "id_token": how.id_token, "address": how.address,
        "client": how.client[:_LONGEST_CLIENT], "life": life,
    }  # fmt: skip
    connection.execute(sql.BEGIN, values)
    return secret


def _chosen(found: list[Membership], tenant: str | None) -> str:
    names = [each.tenant for each in found]
    if tenant is None and names:
        return names[0]
    if tenant is not None and tenant in names:
        return tenant
    raise NoTenant("this account is a member of no such tenant: ask whoever keeps the server")


async def access_of_session(
    store: TenantStore, secret: str, idle: timedelta
) -> SessionAccess | None:
    """The access that the session gives now; None: there is none such, or it has ended.

    It ends too where it was unused for ``idle``.

    Raises:
        StoreUnavailable: the database did not answer.
    """
    hashed = hash_of(secret)
    if hashed is None:
        return None
    rows = await store.fetch(sql.OPENED, {"hashed": hashed, "idle": idle})
    if not rows:
        return None
    given = {name: rows[0][name] for name in ("spaces", "edits")}
    ids = {name: None if value is None else tuple(value) for name, value in given.items()}
    return SessionAccess(**rows[0] | ids)


def end_session(connection: Connected, secret: str) -> tuple[str, str] | None:
    """End the session: its method and id token, for its provider; None: there was none."""
    row = connection.execute(sql.END, (hash_of(secret),)).fetchone()
    return (str(row[0]), str(row[1])) if row else None


def revoke_session(connection: Connected, person_id: int, session_id: int) -> bool:
    """End one of the person's own sessions; False: there is none of this id."""
    values = {"person": person_id, "session": session_id}
    return connection.execute(sql.REVOKE, values).rowcount == 1


def revoke_sessions(connection: Connected, person_id: int, but: int | None = None) -> int:
    """End all sessions of the person but the one of the id ``but``; how many there were."""
    return connection.execute(sql.REVOKE_OTHERS, {"person": person_id, "but": but}).rowcount


def list_sessions(connection: Connected, person_id: int, idle: timedelta) -> list[ListedSession]:
    """The person's sessions that open something, the last used first."""
    with connection.cursor(row_factory=class_row(ListedSession)) as cursor:
        return cursor.execute(sql.LIST, {"person": person_id, "idle": idle}).fetchall()


def move_session(connection: Connected, session_id: int, tenant: str) -> None:
    """Have the session open another tenant of its person's.

    Raises:
        NoTenant: the person is no member of it.
    """
    values = {"session": session_id, "tenant": tenant}
    if not connection.execute(sql.MOVE, values).rowcount:
        raise NoTenant("this account is a member of no such tenant: ask whoever keeps the server")


def delete_old_sessions(connection: Connected) -> int:
    """Delete the sessions and invitations that ended a month ago, and old challenges; how many."""
    ended = connection.execute(sql.DELETE_OLD).rowcount
    ended += connection.execute(passkeys.DELETE_OLD).rowcount
    return ended + connection.execute(sql.DELETE_OLD_INVITATIONS).rowcount
