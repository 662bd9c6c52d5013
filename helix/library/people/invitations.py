"""Links that make an account or set the password of one: each opens once, and ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from psycopg.rows import class_row

from helix.domain.scope import tenant_name
from helix.errors import HelixError
from helix.library.access import row_of
from helix.library.keys import revoke_tokens
from helix.library.people.browser_sessions import revoke_sessions
from helix.library.people.members import Role, checked_role, memberships, set_role
from helix.library.people.passkeys import remove_passkeys
from helix.library.people.passwords import hashed, person_of_password, set_password
from helix.library.people.persons import add_person, any_person, checked_email
from helix.library.people.tokens import hash_of, new_secret
from helix.storage.statements import sign_ins as sql

if TYPE_CHECKING:
    from helix.storage.connections import Connected

SIGN_IN_PAGE = "/web/sign-in.html"
"""The page that signs people in, and that a link leads to."""
LIFE = timedelta(days=7)
RESET_LIFE = timedelta(days=1)


class LinkOver(HelixError):
    """The link was used, has ended or never was: which of them, nobody is told."""

    status = 410


_OVER = "this link was used or has ended: ask whoever gave it to you for another"


@dataclass(frozen=True, slots=True)
class Invitation:
    """A link that still opens something, as those who may take it back see it."""

    id: int
    email: str
    role: Role
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class LinkPurpose:
    """The account that a link makes, or sets the password of (``resets``)."""

    tenant: str
    email: str
    role: Role
    resets: bool


def invite(
    connection: Connected, tenant: str, email: str, role: str,
    author: int | None = None, life: timedelta = LIFE,
) -> str:  # fmt: skip
    """The secret of a new link to ``tenant`` for ``email``; empty: whoever has it says their own.

    Raises:
        BadRequest: ``tenant``, ``email`` or ``role`` cannot be one.
    """
    values = {
        "tenant": tenant_name(tenant), "email": checked_email(email) if email else "",
        "role": checked_role(role), "person": None, "author": author,
    }  # fmt: skip
    return _link(connection, values, life)


def reset_link(
    connection: Connected, tenant: str, person_id: int, author: int | None = None
) -> str:
    """The secret of a link by which the person chooses a password; earlier ones open nothing."""
    connection.execute(sql.WITHDRAW_RESETS, (person_id,))
    values = {
        "tenant": tenant, "email": "", "role": "reader", "person": person_id, "author": author,
    }  # fmt: skip
    return _link(connection, values, RESET_LIFE)


def first_link(connection: Connected, tenant: str) -> str | None:
    """The secret of a link to the first account, an owner's; None: there is an account."""
    if any_person(connection):
        return None
    connection.execute(sql.WITHDRAW_FIRST)
    return invite(connection, tenant, "", "owner", life=RESET_LIFE)


def _link(connection: Connected, values: Mapping[str, object], life: timedelta) -> str:
    secret = new_secret()
    connection.execute(sql.INVITE, {**values, "hash": hash_of(secret), "life": life})
    return secret


def link_to(base: str, secret: str) -> str:
    """The whole link, at the server's address ``base``: the secret is where no server sees it."""
    return f"{base.rstrip('/')}{SIGN_IN_PAGE}#link={secret}"


def purpose_of(connection: Connected, secret: str) -> LinkPurpose:
    """The purpose of the link.

    Raises:
        LinkOver: it opens nothing.
    """
    with connection.cursor(row_factory=class_row(LinkPurpose)) as cursor:
        purpose = cursor.execute(sql.LOOK, (hash_of(secret),)).fetchone()
    if purpose is None:
        raise LinkOver(_OVER)
    return purpose


def accept(
    connection: Connected, secret: str, password: str, email: str = "", name: str = ""
) -> tuple[int, str | None]:
    """Use the link: the account's id, and the tenant it came into; None where it was there before.

    An address that the link names cannot be changed by whoever has it, nor can the role. Where the
    address has an account, its own password brings it in: a link that gave one a password would
    take it from its owner.

    Raises:
        LinkOver: it opens nothing.
        BadRequest: the address, the name or the password cannot be one.
        AccountExists: the address has an account, of another password.
    """
    link = _used(connection, secret)
    person_id = link["person_id"]
    if person_id is None:
        email = link["email"] or email
        person_id = person_of_password(connection, email, password)
        if person_id is None:
            person_id = add_person(connection, email, name, hashed(password))
        return person_id, _bring_in(connection, link, person_id)
    set_password(connection, person_id, password)
    revoke_sessions(connection, person_id)
    remove_passkeys(connection, person_id)  # whoever had the account may have added one
    revoke_tokens(connection, person_id)  # or made one
    return int(person_id), None


def list_invitations(connection: Connected, tenant: str) -> list[Invitation]:
    """The links to ``tenant`` that still open something."""
    with connection.cursor(row_factory=class_row(Invitation)) as cursor:
        return cursor.execute(sql.LIST_INVITATIONS, {"tenant": tenant}).fetchall()


def withdraw(connection: Connected, tenant: str, invitation_id: int) -> bool:
    """Take a link back; False: there is none of this id."""
    values = {"tenant": tenant, "invitation": invitation_id}
    return connection.execute(sql.WITHDRAW, values).rowcount == 1


def join(connection: Connected, secret: str, person_id: int, email: str) -> str:
    """Bring an account into the tenant of a link that names its address: the tenant.

    A role that it has there already stays.

    Raises:
        LinkOver: the link opens nothing, or is somebody else's.
    """
    link = _used(connection, secret)
    if link["person_id"] is not None or link["email"] != email:
        raise LinkOver(_OVER)
    return _bring_in(connection, link, person_id)


def _used(connection: Connected, secret: str) -> dict[str, Any]:
    """The link, which opens nothing any more once the transaction ends; raises LinkOver."""
    link = row_of(connection, sql.USE, (hash_of(secret),))
    if link is None:
        raise LinkOver(_OVER)
    return link


def _bring_in(connection: Connected, link: dict[str, Any], person_id: int) -> str:
    """Make the person a member of the link's tenant, which they may be already: the tenant."""
    tenant = str(link["tenant"])
    if tenant not in [each.tenant for each in memberships(connection, person_id)]:
        set_role(connection, tenant, person_id, link["role"])
    return tenant
