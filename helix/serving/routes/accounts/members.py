"""/v1/members and /v1/invitations: who may come into a tenant, and as what."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Request
from fastapi.responses import JSONResponse
from pydantic import Field

from helix.errors import BadRequest, HelixError, NotFound
from helix.library.access import Connected
from helix.library.people.invitations import (
    invite,
    link_to,
    list_invitations,
    reset_link,
    withdraw,
)
from helix.library.people.members import memberships, set_role
from helix.library.people.persons import list_people
from helix.serving.addresses import base_for_others
from helix.serving.person_route import CurrentPerson, Person, PersonRoute
from helix.serving.routes.accounts.session import Body
from helix.serving.sse import TextJson

router = APIRouter(prefix="/v1", tags=["accounts"], route_class=PersonRoute)
Id = Annotated[int, Path(ge=1, lt=2**63)]
RoleName = Literal["owner", "editor", "reader"]


class RoleChange(Body):
    """The role that a member is to have."""

    role: RoleName


class NewInvitation(Body):
    """The address that is invited, and as what."""

    email: str = Field(min_length=3, max_length=300)
    role: RoleName


class OthersToo(HelixError):
    """The account belongs to other tenants as well, whose owners have a say in it."""

    status = 403


@router.get("/members", summary="Who belongs to the tenant")
async def members(person: CurrentPerson) -> JSONResponse:
    """Everybody with their role; `disabled`: the account opens nothing at present."""
    found = await person.change(partial(list_people, tenant=person.session.tenant))
    return TextJson({"members": [
        {"id": each.id, "email": each.email, "name": each.name, "role": each.role,
         "disabled": each.disabled_at is not None}
        for each in found
    ]})  # fmt: skip


@router.patch("/members/{person_id}", summary="Give a member another role")
async def change_role(person: CurrentPerson, person_id: Id, to: RoleChange) -> dict[str, Any]:
    """Holds from their next request on, tokens included; a tenant keeps an owner (`409`)."""
    await _set_role(person, person_id, to.role)
    person.caller.changed(f"role {to.role}")
    return {"role": to.role}


@router.delete("/members/{person_id}", summary="Take a member out of the tenant")
async def remove(person: CurrentPerson, person_id: Id) -> dict[str, Any]:
    """Their sessions and tokens open the tenant no more; the account stays."""
    await _set_role(person, person_id, None)
    return {}


async def _set_role(person: Person, person_id: int, role: str | None) -> None:
    tenant = person.session.tenant

    def change(connection: Connected) -> None:
        _check_member(connection, tenant, person_id)
        set_role(connection, tenant, person_id, role)

    await person.change(change)


def _check_member(connection: Connected, tenant: str, person_id: int) -> list[str]:
    """The tenants of a member of ``tenant``; NotFound for anybody else."""
    theirs = [each.tenant for each in memberships(connection, person_id)]
    if tenant not in theirs:
        raise NotFound("the tenant has no such member")
    return theirs


@router.post("/members/{person_id}/link", summary="A link by which a member chooses a password")
async def reset(request: Request, person: CurrentPerson, person_id: Id) -> dict[str, Any]:
    """Good once, for a day. Of an account that has other tenants too only `helix user set` can."""
    session, base = person.session, _base(request, person)

    def make(connection: Connected) -> str:
        if _check_member(connection, session.tenant, person_id) != [session.tenant]:
            raise OthersToo("the account has other tenants too: `helix user set EMAIL --link`")
        return reset_link(connection, session.tenant, person_id, session.person_id)

    secret = await person.change(make)
    person.caller.changed("reset")
    return {"link": link_to(base, secret)}


@router.get("/invitations", summary="Links to the tenant that are still good")
async def invitations(person: CurrentPerson) -> JSONResponse:
    """Each with its address and role; the links themselves nobody knows any more."""
    found = await person.change(partial(list_invitations, tenant=person.session.tenant))
    return TextJson({"invitations": [
        {"id": each.id, "email": each.email, "role": each.role,
         "expires_at": each.expires_at.isoformat()}
        for each in found
    ]})  # fmt: skip


@router.post("/invitations", summary="Invite somebody", status_code=201)
async def make(request: Request, person: CurrentPerson, wanted: NewInvitation) -> dict[str, Any]:
    """`link` is told this once, good once, for a week: hand it on as you like."""
    session, base = person.session, _base(request, person)
    if "@" not in wanted.email:
        raise BadRequest("an invitation is for an e-mail address")

    def run(connection: Connected) -> str:
        return invite(connection, session.tenant, wanted.email, wanted.role, session.person_id)

    secret = await person.change(run)
    person.caller.changed(f"role {wanted.role}")
    return {"link": link_to(base, secret)}


@router.delete("/invitations/{invitation_id}", summary="Take an invitation back")
async def take_back(person: CurrentPerson, invitation_id: Id) -> dict[str, Any]:
    """Its link opens nothing."""
    if not await person.change(partial(
        withdraw, tenant=person.session.tenant, invitation_id=invitation_id
    )):  # fmt: skip
        raise NotFound("there is no such invitation")
    return {}


def _base(request: Request, person: Person) -> str:
    return base_for_others(request, person.caller.services.settings)
