"""/v1/documents/{id}/pages, tables and boxes: a document as it is printed."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.responses import JSONResponse, Response

from helix.domain.pages import Box
from helix.library.access import Library
from helix.library.pages import (
    boxes_of_range,
    bytes_of_file,
    file_of_page,
    list_pages,
    list_tables,
    text_in_box,
)
from helix.sandbox.rendering.images import PageOfFile
from helix.sandbox.rendering.limits import LEAST_SCALE, MOST_SCALE
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.caller import Caller
from helix.serving.entity_tags import has_same

router = APIRouter(prefix="/v1", tags=["documents"], route_class=ApiRoute)

Scale = Annotated[
    float, Query(ge=LEAST_SCALE, le=MOST_SCALE, description="Pixels a point; 1 is 72 an inch")
]
PAGE_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/png": {}}, "description": "The page as it is printed"},
    304: {"description": "It is what If-None-Match names"},
    404: {"description": "No such page, or the file's bytes are not kept"},
    422: {"description": "The page is damaged, or takes too much to draw"},
}
_Points = Annotated[float, Query(allow_inf_nan=False, description="Points from the top left")]


@router.get("/documents/{document_id}/pages", summary="List printed pages")
async def pages(caller: CurrentCaller, document_id: int) -> JSONResponse:
    """Number, printed label, size in points and span of text of each page of a PDF."""
    return JSONResponse({"pages": await list_pages(caller.library, document_id)})


@router.get("/documents/{document_id}/tables", summary="List tables")
async def tables(caller: CurrentCaller, document_id: int) -> JSONResponse:
    """The tables with the header paths of rows and columns, and the span of each cell."""
    return JSONResponse({"tables": await list_tables(caller.library, document_id)})


@router.get(
    "/documents/{document_id}/pages/{number}.png",
    summary="Draw a page",
    response_class=Response,
    responses=PAGE_RESPONSES,
)
async def page_image(
    caller: CurrentCaller,
    document_id: int,
    number: int,
    scale: Scale = 1.5,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """A PNG. A page that would have over 8 million pixels is drawn smaller."""
    return await drawn_page(caller, caller.library, document_id, number, scale, if_none_match)


async def drawn_page(
    caller: Caller,
    library: Library,
    document_id: int,
    number: int,
    scale: float,
    if_none_match: str | None,
) -> Response:
    """The page of a document of ``library`` as a PNG, or 304.

    Raises:
        NotFound: no such document or page, or its file's bytes are not kept.
        HelixError: the page is damaged, or takes too much to draw.
    """
    file_hash = await file_of_page(library, document_id, number)
    page = PageOfFile(library.tenant, file_hash, number, round(scale, 2))
    headers = {
        "ETag": page.tag,
        "Cache-Control": "private, no-cache",  # asked again each time: it may be another's by then
        "Vary": "Authorization",
        "X-Content-Type-Options": "nosniff",
    }
    if has_same(if_none_match, page.tag):
        return Response(status_code=304, headers=headers)
    image = await caller.services.page_images.png(page, partial(bytes_of_file, library, file_hash))
    return Response(image, media_type="image/png", headers=headers)


@router.get("/documents/{document_id}/boxes", summary="Find text on its pages")
async def boxes(caller: CurrentCaller, document_id: int, start: int, end: int) -> JSONResponse:
    """Rectangles in points from the top left of the page; the words of a line are one."""
    found = await boxes_of_range(caller.library, document_id, start, end)
    return JSONResponse({"boxes": [asdict(box) for box in found]})


@router.get(
    "/documents/{document_id}/pages/{number}/text", summary="Find the text of a place on a page"
)
async def text_of_place(
    caller: CurrentCaller,
    document_id: int,
    number: int,
    left: _Points,
    top: _Points,
    right: Annotated[float | None, Query(allow_inf_nan=False, description="`left`")] = None,
    bottom: Annotated[float | None, Query(allow_inf_nan=False, description="`top`")] = None,
) -> JSONResponse:
    """The spans with words in the rectangle, or at the point if only a point is given."""
    box = Box(left, top, left if right is None else right, top if bottom is None else bottom)
    return JSONResponse(await text_in_box(caller.library, document_id, number, box))
