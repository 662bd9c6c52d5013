"""…/attachments/{id}/pages, tables and boxes: a conversation's own document as it is printed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Header
from fastapi.responses import JSONResponse, Response

from helix.conversations.attachments import space_of
from helix.conversations.views import get_conversation
from helix.library.access import Library
from helix.library.pages import boxes_of_range, list_pages, list_tables
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.caller import Caller
from helix.serving.conversation_id import ConversationId
from helix.serving.routes.pages import PAGE_RESPONSES, Scale, drawn_page

router = APIRouter(
    prefix="/v1/conversations/{conversation_id}/attachments/{document_id}",
    tags=["conversations"],
    route_class=ApiRoute,
)


@router.get("/pages", summary="List printed pages")
async def pages(
    caller: CurrentCaller, conversation_id: ConversationId, document_id: int
) -> JSONResponse:
    """List the pages like those of a document of the library."""
    space = await _space(caller, conversation_id)
    return JSONResponse({"pages": await list_pages(space, document_id)})


@router.get("/tables", summary="List tables")
async def tables(
    caller: CurrentCaller, conversation_id: ConversationId, document_id: int
) -> JSONResponse:
    """List the tables like those of a document of the library."""
    space = await _space(caller, conversation_id)
    return JSONResponse({"tables": await list_tables(space, document_id)})


@router.get(
    "/pages/{number}.png", summary="Draw a page", response_class=Response,
    responses=PAGE_RESPONSES,
)  # fmt: skip
async def page_image(
    caller: CurrentCaller,
    conversation_id: ConversationId,
    document_id: int,
    number: int,
    scale: Scale = 1.5,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """A PNG, as of a document of the library."""
    space = await _space(caller, conversation_id)
    return await drawn_page(caller, space, document_id, number, scale, if_none_match)


@router.get("/boxes", summary="Find text on its pages")
async def boxes(
    caller: CurrentCaller, conversation_id: ConversationId, document_id: int, start: int, end: int
) -> JSONResponse:
    """Rectangles in points from the top left of the page; the words of a line are one."""
    found = await boxes_of_range(await _space(caller, conversation_id), document_id, start, end)
    return JSONResponse({"boxes": [asdict(box) for box in found]})


async def _space(caller: Caller, conversation_id: str) -> Library:
    """The space of the conversation's documents; raises NotFound where the tenant has none such."""
    await get_conversation(caller.library, conversation_id)
    return caller.library.of(space_of(caller.tenant, conversation_id))
