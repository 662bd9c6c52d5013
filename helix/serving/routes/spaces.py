"""/v1/spaces: named sets of documents, which permissions are given to."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from helix.domain.scope import Spaces
from helix.errors import BadRequest
from helix.library.access import Connected, Row
from helix.library.batches import MOST, Report, change_readable
from helix.library.spaces import (
    add_space,
    change_space,
    delete_space,
    list_spaces,
    place_document,
    space_of,
)
from helix.providers.choices import named
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.caller import Caller, OtherSpace
from helix.serving.routes.batches import report_json

router = APIRouter(prefix="/v1/spaces", tags=["spaces"], route_class=ApiRoute)

Ids = list[Annotated[int, Field(strict=True, ge=0, le=2**63 - 1)]]


class SpaceChange(BaseModel):
    """Changes of a space; what is left out stays as it is."""

    model_config = ConfigDict(extra="forbid")

    name: str | None = None
    everyone: bool | None = Field(None, description="Every member of the tenant reads it")
    model: str | None = Field(None, description="The model that answers in it; empty: the tenant's")
    style: str | None = Field(
        None, description="How answers in it are written; empty: as elsewhere"
    )
    tenant_id: str | None = None

    def changes(self) -> Row:
        """The keys that are given."""
        return self.model_dump(exclude={"tenant_id"}, exclude_none=True)


class NewSpace(SpaceChange):
    """A space to make."""

    name: str


class Placing(BaseModel):
    """Documents to put into a space, to move there alone, or to take out of it."""

    model_config = ConfigDict(extra="forbid")

    add: Ids = []
    move: Ids = Field([], description="They stand in no other space afterwards that you may edit")
    remove: Ids = Field([], description="They stay in the other spaces that they stand in")
    tenant_id: str | None = None


@router.get("", summary="List spaces")
async def spaces(caller: CurrentCaller) -> JSONResponse:
    """List those whose documents may be read; the library, which every tenant has, has the id 0.

    `edits`: whoever asks may change the documents of it.
    """
    found = await list_spaces(caller.library, caller.reach.spaces)
    told = [row | {"edits": caller.may_edit(row["id"])} for row in found]
    return JSONResponse({"spaces": told})


@router.post("", summary="Make a space", status_code=201)
async def make(caller: CurrentCaller, new: NewSpace) -> JSONResponse:
    """An empty one; `409` where there is one of this name."""
    caller = caller.for_tenant(new.tenant_id)
    _require_whole(caller)
    library, about = caller.library, new.changes()
    _check_model(caller, about)
    name = about.pop("name")

    def add(connection: Connected) -> int:
        return add_space(connection, library.tenant, name, **about)

    space = await library.change(add)
    caller.changed(f"space {space}")
    return JSONResponse(await _told(caller, space), 201)


@router.patch("/{space_id}", summary="Change a space")
async def change(caller: CurrentCaller, space_id: int, changed: SpaceChange) -> Row:
    """Its name, who reads it, its model or its style."""
    caller = caller.for_tenant(changed.tenant_id)
    await _must_change(caller, space_id)
    library, changes = caller.library, changed.changes()
    _check_model(caller, changes)
    if not changes:
        raise BadRequest("nothing to change: send name, everyone, model or style")
    await library.change(
        partial(change_space, tenant=library.tenant, space=space_id, changes=changes)
    )
    return await _told(caller, space_id)


@router.delete("/{space_id}", summary="Delete a space", status_code=204, response_class=Response)
async def delete(caller: CurrentCaller, space_id: int) -> Response:
    """Its documents stay in their other spaces; `409` where one stands in no other."""
    await _must_change(caller, space_id)
    library = caller.library
    await library.change(partial(delete_space, tenant=library.tenant, space=space_id))
    return Response(status_code=204)


@router.post("/{space_id}/documents", summary="Put documents into a space, or take them out")
async def place(caller: CurrentCaller, space_id: int, placing: Placing) -> Row:
    """Each document is placed by itself, whatever becomes of the others.

    `documents` has the error of each, null where it stands as it was asked for.
    """
    caller = caller.for_tenant(placing.tenant_id)
    space = await space_of(caller.library, space_id, caller.spaces)
    if not caller.may_edit(space):
        raise OtherSpace("you may read this space, and not change what stands in it")
    ids = [*placing.add, *placing.move, *placing.remove]
    if not 0 < len(ids) <= MOST:
        raise BadRequest(f"{len(ids)} documents; a request has 1 to {MOST} in add, move and remove")
    if len(set(ids)) < len(ids):
        raise BadRequest("an id is there twice")
    library, moved, taken = caller.library, set(placing.move), set(placing.remove)

    def placed(connection: Connected, document_id: int) -> None:
        add: tuple[int, ...] = () if document_id in taken else (space,)
        leaves: Spaces = (space,) if document_id in taken else ()
        if document_id in moved:
            leaves = caller.edits
        place_document(connection, document_id, tenant=library.tenant, add=add, remove=leaves)

    report = Report.of(ids, await change_readable(library, ids, placed))
    caller.changed(f"{report.changed} documents of space {space}" if report.changed else "")
    return report_json(report)


def _require_whole(caller: Caller) -> None:
    """Return where the caller may read every document; raises OtherSpace."""
    if caller.spaces is not None:
        raise OtherSpace("spaces are made and changed by who reads the whole library")


async def _must_change(caller: Caller, space: int) -> None:
    """Return where there is such a space that the caller may change.

    Raises:
        NotFound: there is none that it may read.
        OtherSpace: it may read it only.
    """
    await space_of(caller.library, space, caller.spaces)
    _require_whole(caller)


def _check_model(caller: Caller, about: Row) -> None:
    """Return where the model, if one is named, may be chosen; raises ModelNotAllowed."""
    if about.get("model"):
        named(caller.services.choices, about["model"])


async def _told(caller: Caller, space: int) -> Row:
    (row,) = await list_spaces(caller.library, (space,))
    return row | {"edits": caller.may_edit(space)}
