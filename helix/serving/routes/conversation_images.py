"""/v1/conversations/{id}/images: images that questions of one conversation are about."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.datastructures import UploadFile

from helix.answering.images import ImagesNotSupported
from helix.conversations.images import add_image, read_image
from helix.conversations.views import get_conversation
from helix.library.uploads import clean_name
from helix.overload.entry import asker
from helix.serving.authentication import CurrentCaller, FormRoute
from helix.serving.conversation_id import ConversationId
from helix.serving.forms import form_body, named_tenant, read_form
from helix.serving.routes.ask_image import IMAGE_LIMITS, IMAGE_RESPONSES, image_of
from helix.serving.sse import TextJson

_BODY = form_body(
    "image", image={"type": "string", "format": "binary"}, tenant_id={"type": "string"}
)

router = APIRouter(
    prefix="/v1/conversations/{conversation_id}/images",
    tags=["conversations"],
    route_class=FormRoute,
    default_response_class=Response,
)


@router.post(
    "", summary="Put an image to a conversation", status_code=201, openapi_extra=_BODY,
    responses={404: {"description": "No such conversation of this tenant"}, **IMAGE_RESPONSES},
)  # fmt: skip
async def put(request: Request, caller: CurrentCaller, conversation_id: ConversationId) -> Response:
    """Kept with the conversation; a question names it by the `id` that is told."""
    services = caller.services
    form = await read_form(request, IMAGE_LIMITS)
    try:
        caller = caller.for_tenant(named_tenant(form))
        await get_conversation(caller.library, conversation_id)
        image, sent = await image_of(form), form.get("image")
    finally:
        await form.close()
    if not any(llm.sees for llm in services.choices.values()):  # the question is held to its own
        raise ImagesNotSupported(services.llm.identity)
    name = clean_name(sent.filename or "") if isinstance(sent, UploadFile) else "image"
    add = partial(
        add_image, tenant=caller.tenant, conversation_id=conversation_id, image=image, name=name
    )
    async with asker(request).upload(len(image.data)):
        kept = await caller.library.change(add)
    caller.changed("image")
    return TextJson(kept, 201)


@router.get("/{image_id}", summary="Show an image of a conversation")
async def show(caller: CurrentCaller, conversation_id: ConversationId, image_id: str) -> Response:
    """Its bytes, of the type that they are."""
    image = await read_image(caller.library, conversation_id, image_id)
    headers = {
        "Cache-Control": "private, no-cache",  # it may be deleted by then
        "Vary": "Authorization",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; sandbox",
    }
    return Response(image.data, media_type=image.type, headers=headers)
