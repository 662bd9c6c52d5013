"""/v1/study: opening lessons, arranging maps, exporting and importing sets."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.datastructures import UploadFile

from helix.errors import BadRequest
from helix.library.pagination import check_name
from helix.overload.entry import place_for
from helix.overload.limits import MEGABYTE
from helix.serving.authentication import ApiRoute, CurrentCaller, FormRoute
from helix.serving.forms import FormLimits, form_body, named_tenant, read_form
from helix.serving.query_request import checked_request, json_body
from helix.serving.sse import TextJson
from helix.study.attempts import mark_done
from helix.study.card_import import cards_in, import_cards
from helix.study.formats import Format, exported
from helix.study.lessons import arrange, open_lesson
from helix.study.model_maker import build_maker
from helix.study.sets import get_set, set_with_items
from helix.study.views import item_view

_TYPES = {
    "markdown": ("text/markdown; charset=utf-8", "md"), "csv": ("text/csv; charset=utf-8", "csv"),
    "anki": ("application/octet-stream", "apkg"), "svg": ("image/svg+xml", "svg"),
    "json": ("application/json", "json"),
}  # fmt: skip
_LIMITS = FormLimits(
    16 * MEGABYTE, 1, 17 * MEGABYTE, "the form field file: a .csv or .apkg file",
    "split the deck",
)  # fmt: skip
_FORM = form_body("file", file={"type": "string", "format": "binary"}, title={"type": "string"})

router = APIRouter(prefix="/v1", tags=["study"], route_class=ApiRoute)
form_router = APIRouter(prefix="/v1", tags=["study"], route_class=FormRoute)


class Arrangement(BaseModel):
    """The positions of a map's nodes, and which are folded, by their ids."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    positions: dict[str, list[float]] | None = Field({}, description="[x, y]; null forgets all")
    folded: dict[str, bool] = Field(default_factory=dict)


@router.post("/study/{set_id}/lessons/{item_id}", summary="Open a lesson", response_class=Response)
async def lesson(request: Request, caller: CurrentCaller, set_id: int, item_id: int) -> Response:
    """The lesson; its text is written when it is opened for the first time."""
    services = caller.services
    maker = build_maker(services.settings, services.llm)
    await get_set(caller.library, set_id)
    prompts = await services.answering.prompts_of(caller.tenant)
    with prompts.active(), place_for(request) as place:
        item = await open_lesson(caller.library, services.answering, maker, item_id, place.run)
    caller.note("lesson_read")
    return TextJson(item_view(item))


@router.post(
    "/study/{set_id}/lessons/{item_id}/done", summary="Finish a lesson", response_class=Response
)
async def lesson_done(caller: CurrentCaller, set_id: int, item_id: int) -> Response:
    """Mark the lesson as done; the response has how many of the workshop's lessons are."""
    library = caller.library
    await get_set(library, set_id)
    done = await library.change(
        partial(mark_done, tenant=library.tenant, item_id=item_id, learner=caller.learner)
    )
    caller.note("lesson_finished")
    if done["done"] == done["of"]:
        caller.note("workshop_finished")
    return TextJson(done)


@router.patch(
    "/study/{set_id}/positions", summary="Arrange a map", status_code=204,
    openapi_extra=json_body(Arrangement),
)  # fmt: skip
async def positions(request: Request, caller: CurrentCaller, set_id: int) -> Response:
    """Store positions and folded nodes; `"positions": null` forgets all positions."""
    asked = checked_request(await request.body(), 0, Arrangement)
    library = caller.library
    await library.change(partial(
        arrange, tenant=library.tenant, set_id=set_id, positions=asked.positions,
        folded=asked.folded,
    ))  # fmt: skip
    return Response(status_code=204)


@router.get("/study/{set_id}/export", summary="Take a set along", response_class=Response)
async def export(
    caller: CurrentCaller,
    set_id: int,
    kind: Annotated[Format, Query(alias="format")] = "json",
) -> Response:
    """Export the set as JSON or Markdown; cards also as CSV and as an Anki deck, a map as SVG."""
    found, items = await set_with_items(caller.library, set_id)
    content = await caller.library.aside(partial(exported, kind, found, items))
    if found["kind"] == "map":
        caller.note("map_exported")
    media, suffix = _TYPES[kind]
    headers = {
        "Content-Disposition": f"attachment; filename=study-{set_id}.{suffix}",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(content, media_type=media, headers=headers)


@router.post("/study/{set_id}/drawn", summary="Tell that a map was saved", status_code=204)
async def drawn(caller: CurrentCaller, set_id: int) -> Response:
    """Count the map as saved, for clients that draw it into a file themselves, as the page does."""
    found = await get_set(caller.library, set_id)
    if found["kind"] != "map":
        raise BadRequest(f"a set of kind {found['kind']} is not drawn: only maps are")
    caller.note("map_exported")
    return Response(status_code=204)


@form_router.post(
    "/study/import", summary="Bring in a deck", status_code=201, response_class=Response,
    openapi_extra=_FORM,
)  # fmt: skip
async def bring_in(request: Request, caller: CurrentCaller) -> Response:
    """A `.csv` or `.apkg` file as a deck; a card gets the span that states its back, if any."""
    form = await read_form(request, _LIMITS)
    try:
        caller = caller.for_tenant(named_tenant(form))
        file, title = form.get("file"), form.get("title", "")
        if not isinstance(file, UploadFile) or not isinstance(title, str):
            raise BadRequest(f"no file came: send {_LIMITS.usage}")
        data, name = await file.read(), file.filename or ""
    finally:
        await form.close()
    library = caller.library
    cards = await library.aside(partial(cards_in, name, data))
    title = check_name("title", title or name, 200)
    set_id = await import_cards(library, title, cards, caller.placed({}))
    caller.changed(f"import of study set {set_id}")
    return TextJson(await get_set(library, set_id), 201)
