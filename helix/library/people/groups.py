"""Groups of a tenant's members: chosen by hand, or as a provider's claim says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psycopg.rows import class_row

from helix.domain.scope import tenant_name
from helix.errors import BadRequest, HelixError, NotFound
from helix.library.pagination import check_name
from helix.storage.statements import people as sql

if TYPE_CHECKING:
    from helix.storage.connections import Connected

LOCAL = "local"
_LONGEST_NAME = 100
_MOST_CLAIMED = 500


class GroupExists(HelixError):
    """The tenant has a group of this name."""

    status = 409


@dataclass(frozen=True, slots=True)
class Group:
    """A group of ``tenant`` with so many ``members``; ``source`` is ``local`` or an issuer."""

    id: int
    tenant: str
    name: str
    source: str
    members: int


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A person in a group."""

    id: int
    email: str
    name: str


def add_group(connection: Connected, tenant: str, name: str) -> int:
    """A new group's id.

    Raises:
        BadRequest: ``tenant`` or ``name`` cannot be one.
        GroupExists: there is one of this name.
    """
    values = {"tenant": tenant_name(tenant), "name": _checked(name), "source": LOCAL}
    row = connection.execute(sql.ADD_GROUP, values).fetchone()
    if row is None:
        raise GroupExists(f"{tenant} has a group of this name already")
    return int(row[0])


def _checked(name: str) -> str:
    checked = check_name("name", name, _LONGEST_NAME)
    if not checked:
        raise BadRequest("a group has a name")
    return checked


def list_groups(connection: Connected, tenant: str | None = None) -> list[Group]:
    """The groups of ``tenant``, or all, by name."""
    with connection.cursor(row_factory=class_row(Group)) as cursor:
        return cursor.execute(sql.LIST_GROUPS, {"tenant": tenant}).fetchall()


def find_group(connection: Connected, tenant: str, name: str) -> int:
    """The id of the local group ``name``.

    Raises:
        NotFound: there is none.
    """
    values = {"tenant": tenant, "name": name.strip()}
    row = connection.execute(sql.GROUP_OF_NAME, values).fetchone()
    if row is None:
        raise NotFound(f"{tenant} has no group {name}: `helix group list` has them")
    return int(row[0])


def delete_group(connection: Connected, tenant: str, group_id: int) -> bool:
    """Delete a local group; False: there is none of this id."""
    values = {"tenant": tenant, "group": group_id}
    return connection.execute(sql.DELETE_GROUP, values).rowcount == 1


def members_of(connection: Connected, tenant: str, group_id: int) -> list[GroupMember]:
    """The people in a group of ``tenant``, by address."""
    with connection.cursor(row_factory=class_row(GroupMember)) as cursor:
        values = {"tenant": tenant, "group": group_id}
        return cursor.execute(sql.GROUP_MEMBERS, values).fetchall()


def join_group(connection: Connected, tenant: str, group_id: int, person_id: int) -> bool:
    """Put a member of ``tenant`` into its local group; False where nothing changed by it."""
    values = {"tenant": tenant, "group": group_id, "person": person_id}
    return connection.execute(sql.ADD_TO_GROUP, values).rowcount == 1


def leave_group(connection: Connected, tenant: str, group_id: int, person_id: int) -> bool:
    """Take a person out of a local group; False where nothing changed by it."""
    values = {"tenant": tenant, "group": group_id, "person": person_id}
    return connection.execute(sql.REMOVE_FROM_GROUP, values).rowcount == 1


def follow_claim(
    connection: Connected, tenant: str, person_id: int, source: str, names: Sequence[str]
) -> None:
    """Have the person be in the groups ``names`` of ``source``, and in no other of it.

    Names that are none (empty, too long, with control characters) are passed over, and of so many
    the first are taken: a provider's groups are no reason to keep somebody out.
    """
    known = []
    for name in dict.fromkeys(names):
        try:
            known.append(_checked(name))
        except BadRequest:
            continue
    values = {
        "tenant": tenant, "person": person_id, "source": source, "names": known[:_MOST_CLAIMED],
    }  # fmt: skip
    connection.execute(sql.MAKE_CLAIMED_GROUPS, values)
    connection.execute(sql.LEAVE_UNCLAIMED_GROUPS, values)
    connection.execute(sql.JOIN_CLAIMED_GROUPS, values)
