"""/v1/groups: groups of the tenant's members."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import JSONResponse
from pydantic import Field

from helix.errors import NotFound
from helix.library.people.groups import (
    add_group,
    delete_group,
    join_group,
    leave_group,
    list_groups,
    members_of,
)
from helix.serving.person_route import CurrentPerson, PersonRoute
from helix.serving.routes.accounts.session import Body
from helix.serving.sse import TextJson

router = APIRouter(prefix="/v1/groups", tags=["accounts"], route_class=PersonRoute)
Id = Annotated[int, Path(ge=1, lt=2**63)]
_NOTHING = "there is no such group or member here, or nothing would change"


class NewGroup(Body):
    """A group to make."""

    name: str = Field(min_length=1, max_length=300)


@router.get("", summary="The tenant's groups")
async def groups(person: CurrentPerson) -> JSONResponse:
    """`source`: local, or the provider whose claim says who is in it."""
    found = await person.change(partial(list_groups, tenant=person.session.tenant))
    return TextJson({"groups": [
        {"id": each.id, "name": each.name, "source": each.source, "members": each.members}
        for each in found
    ]})  # fmt: skip


@router.post("", summary="Make a group", status_code=201)
async def make(person: CurrentPerson, wanted: NewGroup) -> dict[str, Any]:
    """Without members."""
    number = await person.change(partial(
        add_group, tenant=person.session.tenant, name=wanted.name
    ))  # fmt: skip
    person.caller.changed(f"group {number}")
    return {"id": number}


@router.delete("/{group_id}", summary="Delete a group")
async def delete(person: CurrentPerson, group_id: Id) -> dict[str, Any]:
    """A provider's group is the provider's to change."""
    if not await person.change(partial(
        delete_group, tenant=person.session.tenant, group_id=group_id
    )):  # fmt: skip
        raise NotFound(_NOTHING)
    return {}


@router.get("/{group_id}/members", summary="Who is in a group")
async def members(person: CurrentPerson, group_id: Id) -> JSONResponse:
    """By address."""
    tenant = person.session.tenant
    groups = await person.change(partial(list_groups, tenant=tenant))
    if group_id not in {each.id for each in groups}:
        raise NotFound("there is no such group here")
    found = await person.change(partial(members_of, tenant=tenant, group_id=group_id))
    return TextJson({"members": [
        {"id": each.id, "email": each.email, "name": each.name} for each in found
    ]})  # fmt: skip


@router.put("/{group_id}/members/{person_id}", summary="Put a member into a group")
async def join(person: CurrentPerson, group_id: Id, person_id: Id) -> dict[str, Any]:
    """A member of the tenant, into a group that is made by hand."""
    return await _change(person, join_group, group_id, person_id)


@router.delete("/{group_id}/members/{person_id}", summary="Take a member out of a group")
async def leave(person: CurrentPerson, group_id: Id, person_id: Id) -> dict[str, Any]:
    """The other way round."""
    return await _change(person, leave_group, group_id, person_id)


async def _change(
    person: CurrentPerson, action: Any, group_id: int, person_id: int
) -> dict[str, Any]:
    if not await person.change(partial(
        action, tenant=person.session.tenant, group_id=group_id, person_id=person_id
    )):  # fmt: skip
        raise NotFound(_NOTHING)
    return {}
