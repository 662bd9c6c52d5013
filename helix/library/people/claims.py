"""People by what a provider of OpenID Connect, or a trusted proxy, says of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from helix.errors import HelixError
from helix.library.keys import ROLE_SCOPES, KeyAccess
from helix.library.people.groups import follow_claim
from helix.library.people.members import memberships, set_role
from helix.library.people.persons import add_person, checked_email, find_person
from helix.library.spaces import readable_by
from helix.library.usage_limits import limits_of
from helix.storage.statements import people as sql
from helix.telemetry.usage_meter import Payer

if TYPE_CHECKING:
    from helix.storage.connections import Connected


class NotInvited(HelixError):
    """The provider knows them, and this server does not, or no longer."""

    status = 403


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of ``issuer`` about ``subject``; ``groups`` is None where it says nothing of any.

    ``email`` is empty where the issuer does not say that it was verified.
    """

    issuer: str
    subject: str
    email: str = ""
    name: str = ""
    groups: tuple[str, ...] | None = None


def person_of_claims(connection: Connected, claims: Claims, tenant: str, role: str | None) -> int:
    """The account of whoever the claims are about; with ``role`` one is made where there is none.

    Known is who came by this issuer before, or has the address. Their groups of the issuer in
    ``tenant`` are from now on those of the claims.

    Raises:
        NotInvited: there is no account, it is disabled, or they are a member of nothing.
    """
    person_id = _known(connection, claims)
    if person_id is None and role is not None:
        person_id = add_person(connection, checked_email(claims.email), claims.name[:100])
        set_role(connection, tenant, person_id, role)
    if person_id is None:
        raise NotInvited("there is no account for this person")
    values = {"issuer": claims.issuer, "subject": claims.subject, "person": person_id}
    connection.execute(sql.ADD_IDENTITY, values)
    member_of = [each.tenant for each in memberships(connection, person_id)]
    if claims.groups is not None and tenant in member_of:
        follow_claim(connection, tenant, person_id, claims.issuer, claims.groups)
    return person_id


def access_of_identity(
    connection: Connected, issuer: str, subject: str, tenant: str
) -> KeyAccess | None:
    """The access of whoever ``issuer`` calls ``subject``, by their role; None: they have none.

    It is to ``tenant`` where they are a member of that, else to the first by name.
    """
    row = connection.execute(sql.OF_IDENTITY, {"issuer": issuer, "subject": subject}).fetchone()
    found = memberships(connection, int(row[0])) if row else []
    if row is None or not found:
        return None
    member = next((each for each in found if each.tenant == tenant), found[0])
    person_id = int(row[0])
    spaces = readable_by(connection, member.tenant, person_id, member.role)
    limits = limits_of(connection, Payer(member.tenant, person_id, None))
    return KeyAccess(
        None, member.tenant, ROLE_SCOPES[member.role], person_id=person_id, spaces=spaces,
        limits=limits,
    )  # fmt: skip


def _known(connection: Connected, claims: Claims) -> int | None:
    values = {"issuer": claims.issuer, "subject": claims.subject}
    row = connection.execute(sql.OF_IDENTITY, values).fetchone()
    if row is not None:
        return int(row[0])
    person = find_person(connection, claims.email) if claims.email else None
    if connection.execute(sql.KNOWN_IDENTITY, values).fetchone() or (
        person is not None and person.disabled_at is not None
    ):
        raise NotInvited("this account is disabled")
    return person.id if person else None
