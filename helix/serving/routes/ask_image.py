"""POST /ask-image: a question about an image that comes with it. No retrieval, no citations."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.datastructures import FormData, UploadFile

from helix.answering.answerers import tell_meter
from helix.answering.guardrails import Hygiene
from helix.answering.images import UploadedImage, ask_about_image, image_type, not_taken
from helix.domain.input_text import question_of
from helix.errors import BadRequest
from helix.library.errors import UnsupportedMedia
from helix.overload.entry import place_for
from helix.overload.limits import MEGABYTE
from helix.serving.authentication import CurrentCaller, FormRoute
from helix.serving.disconnects import CLIENT_CLOSED_REQUEST, run_unless_disconnected
from helix.serving.forms import FormLimits, form_body, named_tenant, read_form
from helix.serving.sse import TextJson
from helix.telemetry.usage_meter import current_meter

MAX_IMAGE_MB = 10
"""Gemini takes requests of 20 MB, and an image grows by a third on its way there."""

IMAGE_LIMITS = FormLimits(
    file_bytes=MAX_IMAGE_MB * MEGABYTE,
    files=1,
    request_bytes=(MAX_IMAGE_MB + 1) * MEGABYTE,
    usage="the image as multipart/form-data, field image, and the question, field q",
    remedy="make it smaller",
)
_BODY = form_body(
    "image q",
    image={"type": "string", "format": "binary"},
    q={"type": "string"},
    tenant_id={"type": "string"},
)
IMAGE_RESPONSES: dict[int | str, dict[str, Any]] = {
    413: {"description": f"The image is larger than {MAX_IMAGE_MB} MB"},
    415: {"description": "Its bytes are no PNG, JPEG, WebP, HEIC or HEIF image"},
    501: {"description": "The model that answers cannot look at images"},
}
_TEXT = {"application/json": {"example": {"text": "A receipt of 12 May 2026 over 14.90 euros."}}}

_logger = logging.getLogger(__name__)
router = APIRouter(route_class=FormRoute)


@router.post(
    "/ask-image",
    summary="Ask about an image",
    response_class=Response,
    openapi_extra=_BODY,
    responses={
        200: {"description": "What the model says of the image", "content": _TEXT},
        "default": {"description": 'Any failure: `{"error": "one line"}`'},
        400: {"description": "No image came, or `q` is missing, blank or too long"},
        **IMAGE_RESPONSES,
        503: {"description": "The model failed"},
    },
)
async def ask_image(request: Request, caller: CurrentCaller) -> Response:
    """Put the image and the question to the model. Neither is stored or logged."""
    services = caller.services
    form = await read_form(request, IMAGE_LIMITS)
    try:
        caller = caller.for_tenant(named_tenant(form))
        image = await image_of(form)
        question = _question(form, services.settings.max_question_chars)
    finally:
        await form.close()
    with place_for(request) as place:

        async def look() -> str:
            tell_meter(services.llm, caller.reach.spaces)
            with (await services.answering.prompts_of(caller.tenant)).active():
                told = await ask_about_image(services.llm, question, image)
            if meter := current_meter():
                meter.question()
            return told

        text = await run_unless_disconnected(request, place.run(look))
    if text is None:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    if "hygiene" in services.settings.guards:
        hygiene = Hygiene(())  # there are no sources that a link could lead to
        text = hygiene.feed(text) + hygiene.end()
    return TextJson({"text": text})


def _question(form: FormData, limit: int) -> str:
    text = form.get("q")
    return question_of(text if isinstance(text, str) else None, limit, "q")


async def image_of(form: FormData) -> UploadedImage:
    """The form's image; its bytes decide what it is, not its name or declared type.

    Raises:
        BadRequest: no image came.
        UnsupportedMedia: it is no image that models take.
    """
    image = form.get("image")
    if image is None:
        raise BadRequest(f"no image came: send {IMAGE_LIMITS.usage}")
    # a field without a file name arrives as text, which is no image
    data = await image.read() if isinstance(image, UploadFile) else b""
    kind = image_type(data)
    if kind is None:
        raise UnsupportedMedia(not_taken(data))
    return UploadedImage(data, kind)
