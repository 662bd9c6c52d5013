"""/v1/spaces/{space_id}/members: the people and groups that a space is given to."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import JSONResponse

from helix.library.access import Connected
from helix.library.spaces import (
    Member,
    MemberKind,
    SpaceRole,
    is_editor,
    let_in,
    let_out,
    list_members,
    role_of,
    space_of,
)
from helix.serving.key_scopes import ScopeMissing
from helix.serving.person_route import CurrentPerson, Person, PersonRoute
from helix.serving.routes.accounts.session import Body
from helix.serving.sse import TextJson

router = APIRouter(prefix="/v1/spaces", tags=["accounts"], route_class=PersonRoute)
SpaceId = Annotated[int, Path(ge=0, lt=2**63)]
Id = Annotated[int, Path(ge=1, lt=2**63)]


class Given(Body):
    """The role that a member is to have in the space."""

    role: SpaceRole


@router.get("/{space_id}/members", summary="Whom a space is given to")
async def members(person: CurrentPerson, space_id: SpaceId) -> JSONResponse:
    """People and groups; owners of the tenant read every space. `manages`: one may change this."""
    await _must_read(person, space_id)

    def read(connection: Connected) -> dict[str, Any]:
        found = list_members(connection, person.session.tenant, space_id)
        manages = _is_owner(person) or _is_editor(connection, person, space_id)
        return {"members": [asdict(each) for each in found], "manages": manages}

    return TextJson(await person.change(read))


@router.put("/{space_id}/members/{kind}/{member_id}", summary="Give a space to a member")
async def give(
    person: CurrentPerson, space_id: SpaceId, kind: MemberKind, member_id: Id, given: Given
) -> dict[str, Any]:
    """To a person or group of the tenant. Its editors let readers in; owners make editors too."""
    await _must_read(person, space_id)
    who = _member(kind, member_id)

    def run(connection: Connected) -> None:
        _must_manage(connection, person, space_id, who, given.role)
        let_in(connection, person.session.tenant, space_id, who, given.role)

    await person.change(run)
    person.caller.changed(f"space {space_id}; {kind} {member_id}; {given.role}")
    return {"role": given.role}


@router.delete("/{space_id}/members/{kind}/{member_id}", summary="Take a space from a member")
async def take(
    person: CurrentPerson, space_id: SpaceId, kind: MemberKind, member_id: Id
) -> dict[str, Any]:
    """Gone from their next request on; an answer that is being written for them ends."""
    await _must_read(person, space_id)
    who = _member(kind, member_id)

    def run(connection: Connected) -> None:
        _must_manage(connection, person, space_id, who)
        let_out(connection, person.session.tenant, space_id, who)

    await person.change(run)
    person.caller.changed(f"space {space_id}; {kind} {member_id}")
    return {}


def _member(kind: MemberKind, member_id: int) -> Member:
    return Member(person_id=member_id) if kind == "people" else Member(group_id=member_id)


async def _must_read(person: Person, space_id: int) -> None:
    """Return where there is such a space that the person may read; raises NotFound."""
    await space_of(person.caller.library, space_id, person.caller.spaces)


def _is_owner(person: Person) -> bool:
    return person.session.role == "owner"


def _is_editor(connection: Connected, person: Person, space_id: int) -> bool:
    return is_editor(connection, person.session.tenant, space_id, person.session.person_id)


def _must_manage(
    connection: Connected, person: Person, space_id: int, who: Member, role: SpaceRole = "reader"
) -> None:
    """Return where the person may give ``who`` the role, or take theirs; raises ScopeMissing."""
    if _is_owner(person):
        return
    if not _is_editor(connection, person, space_id):
        raise ScopeMissing("this is for owners of the tenant, and for editors of the space")
    now = role_of(connection, person.session.tenant, space_id, who)
    if "editor" in (role, now):
        raise ScopeMissing("owners of the tenant make and unmake editors of a space")
