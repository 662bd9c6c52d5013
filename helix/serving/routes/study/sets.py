"""/v1/study: quizzes, cards, workshops and maps of a scope: ordered, listed, read and deleted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from helix.domain.scope import scope_of_stored
from helix.library.pagination import check_name
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.caller import Caller
from helix.serving.key_scopes import ScopeMissing
from helix.serving.query_request import (
    DocumentId,
    Filters,
    checked_request,
    json_body,
    stored_scope,
)
from helix.serving.sse import TextJson
from helix.storage.statements.study_sets import IS_OWN
from helix.study.items import Difficulty, Kind
from helix.study.passages import documents_in
from helix.study.progress.actions import Action
from helix.study.sets import (
    NewSet,
    delete_set,
    get_set,
    list_sets,
    order_set,
    rename_set,
    set_with_items,
)
from helix.study.views import item_view, node_view

_TITLE_CHARS = 200
_MADE: Mapping[Kind, Action] = {
    "quiz": "quiz_made", "cards": "cards_made", "workshop": "workshop_made", "map": "map_made",
}  # fmt: skip

router = APIRouter(prefix="/v1", tags=["study"], route_class=ApiRoute)


class NewStudySet(BaseModel):
    """An order of a set: its kind and its documents; all documents where none are named."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    kind: Kind
    title: str = Field("", description="Its documents' titles are shown where there is none")
    document_ids: list[DocumentId] | None = Field(None, max_length=1000)
    filters: Filters | None = None
    difficulty: Difficulty = "normal"
    count: int | None = Field(None, description="quiz 5 to 50, cards 200, workshop 3 to 12, map 60")
    tenant_id: str | None = None


class Renaming(BaseModel):
    """Another title for a set."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    title: str
    tenant_id: str | None = None


@router.post(
    "/study", summary="Make something to learn with", status_code=202, response_class=Response,
    openapi_extra=json_body(NewStudySet),
)  # fmt: skip
async def make_study_set(request: Request, caller: CurrentCaller) -> Response:
    """Order a set; a run makes it, and `GET /v1/runs/{run_id}/events` has its progress."""
    new = checked_request(await request.body(), 0, NewStudySet)
    caller = caller.for_tenant(new.tenant_id)
    library = caller.library
    kept = caller.placed(stored_scope(new.document_ids or None, new.filters))
    scope = scope_of_stored(kept, library.tenant).within(caller.spaces)
    ids = await documents_in(library, scope)
    wanted = NewSet(
        new.kind, check_name("title", new.title, _TITLE_CHARS), kept, ids, new.difficulty, new.count
    )
    set_id = await library.change(partial(order_set, tenant=library.tenant, new=wanted))
    caller.services.on_run_created()
    caller.note(_MADE[new.kind])
    caller.changed(f"study set {set_id}")
    return TextJson(await get_set(library, set_id), 202)


@router.get("/study", summary="List what there is to learn with", response_class=Response)
async def study_sets(
    caller: CurrentCaller,
    kind: Annotated[Kind | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str | None, Query(description="`next` of the page before")] = None,
) -> Response:
    """A page of sets, newest first; of those made in `space`, if it is named."""
    return TextJson(await list_sets(caller.library, kind, limit, after, caller.asked_space))


@router.get("/study/{set_id}", summary="Read a set", response_class=Response)
async def study_set(caller: CurrentCaller, set_id: int) -> Response:
    """The set with its items; the key of a question is shown by an attempt."""
    found, items = await set_with_items(caller.library, set_id)
    page: dict[str, Any] = {"items": list(map(item_view, items))}
    if found["kind"] == "map":
        caller.note("map_opened")
        page["nodes"] = list(map(node_view, items))
    return TextJson(found | page)


@router.patch(
    "/study/{set_id}", summary="Rename a set", response_class=Response,
    openapi_extra=json_body(Renaming),
)  # fmt: skip
async def rename_study_set(request: Request, caller: CurrentCaller, set_id: int) -> Response:
    """Give the set a title; an empty one shows the titles of its documents again."""
    changed = checked_request(await request.body(), 0, Renaming)
    caller = caller.for_tenant(changed.tenant_id)
    title, library = check_name("title", changed.title, _TITLE_CHARS), caller.library
    await _check_may_change(caller, set_id)
    await library.change(partial(rename_set, tenant=library.tenant, set_id=set_id, title=title))
    return TextJson(await get_set(library, set_id))


@router.delete("/study/{set_id}", summary="Delete a set", status_code=204)
async def delete_study_set(caller: CurrentCaller, set_id: int) -> Response:
    """Delete the set with its items, attempts and reviews; a run that is making it ends."""
    library = caller.library
    await _check_may_change(caller, set_id)
    await library.change(partial(delete_set, tenant=library.tenant, set_id=set_id))
    return Response(status_code=204)


async def _check_may_change(caller: Caller, set_id: int) -> None:
    """Raise ScopeMissing where another made the set and the caller may not write."""
    found = None if "write" in caller.scopes else await caller.library.data(IS_OWN, {"id": set_id})
    if found and not found["own"]:
        raise ScopeMissing("another made this set: only editors may change it too")
