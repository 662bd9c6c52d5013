"""Members of a tenant, each with one role, which is a set of an API key's scopes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from psycopg.rows import class_row

from helix.domain.scope import tenant_name
from helix.errors import BadRequest, HelixError
from helix.storage.statements import people as sql

if TYPE_CHECKING:
    from helix.storage.connections import Connected

Role = Literal["owner", "editor", "reader"]
ROLES: tuple[Role, ...] = get_args(Role)


class LastOwner(HelixError):
    """The tenant would be left without an owner."""

    status = 409


@dataclass(frozen=True, slots=True)
class Membership:
    """A tenant that somebody is a member of."""

    tenant: str
    role: Role


def checked_role(text: str) -> Role:
    """``text`` as a role.

    Raises:
        BadRequest: it is none.
    """
    for role in ROLES:
        if text == role:
            return role
    raise BadRequest(f"a role is one of {', '.join(ROLES)}")


def set_role(connection: Connected, tenant: str, person_id: int, role: str | None) -> None:
    """Give the person ``role`` in ``tenant`` instead of any other; None: they are no member.

    Raises:
        BadRequest: ``tenant`` or ``role`` cannot be one.
        LastOwner: nobody else is an owner.
    """
    values = {"tenant": tenant_name(tenant), "person": person_id}
    if role != "owner" and owners_of(connection, tenant) == {person_id}:
        raise LastOwner(f"{tenant} would have no owner: make somebody else one first")
    if role is None:
        connection.execute(sql.REMOVE_MEMBER, values)
    else:
        connection.execute(sql.SET_ROLE, {**values, "role": checked_role(role)})


def owners_of(connection: Connected, tenant: str) -> set[int]:
    """The owners of the tenant whose accounts are not disabled, held until the transaction ends."""
    return {row[0] for row in connection.execute(sql.OWNERS, {"tenant": tenant})}


def memberships(connection: Connected, person_id: int) -> list[Membership]:
    """The tenants of a person, by their names."""
    with connection.cursor(row_factory=class_row(Membership)) as cursor:
        return cursor.execute(sql.TENANTS, (person_id,)).fetchall()
