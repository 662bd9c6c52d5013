"""POST /ask-image: a question about an image that comes with it. No retrieval, no citations."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.datastructures import FormData, UploadFile

from helix.errors import BadRequest, HelixError
from helix.guardrails import Hygiene
from helix.questions import question_of
from helix.routes.asker import Asker
from helix.routes.forms import MEGABYTE, FormLimits, read_form
from helix.routes.leaving import CLIENT_CLOSED_REQUEST, unless_gone
from helix.seeing.answer import Picture, answer_about
from helix.seeing.images import image_type
from helix.sse import json_bytes

MAX_IMAGE_MB = 10
"""Gemini takes requests of 20 MB, and an image grows by a third on its way there."""

_LIMITS = FormLimits(
    file_bytes=MAX_IMAGE_MB * MEGABYTE,
    files=1,
    request_bytes=(MAX_IMAGE_MB + 1) * MEGABYTE,
    sent="the image as multipart/form-data, field image, and the question, field q",
    remedy="make it smaller",
)
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["image", "q"],
                    "properties": {
                        "image": {"type": "string", "format": "binary"},
                        "q": {"type": "string"},
                        "tenant_id": {"type": "string"},
                    },
                }
            }
        },
    }
}
_TEXT = {"application/json": {"example": {"text": "A receipt of 12 May 2026 over 14.90 euros."}}}

_logger = logging.getLogger(__name__)
router = APIRouter()


class NoImage(HelixError):
    """What came is no image that models take; the contract has this line."""

    status = 415

    def __init__(self) -> None:
        super().__init__("unsupported media type")


@router.post(
    "/ask-image",
    summary="Ask about an image",
    response_class=Response,
    openapi_extra=_BODY,
    responses={
        200: {"description": "What the model says of the image", "content": _TEXT},
        "default": {"description": 'Any failure: `{"error": "one line"}`'},
        400: {"description": "No image came, or `q` is missing, blank or too long"},
        413: {"description": f"The image is larger than {MAX_IMAGE_MB} MB"},
        415: {"description": "Its bytes are no PNG, JPEG, WebP, HEIC or HEIF image"},
        501: {"description": "The model that answers cannot look at images"},
        503: {"description": "The model failed"},
    },
)
async def ask_image(request: Request, asker: Asker) -> Response:
    """Put the image and the question to the model. Neither is stored or logged."""
    held = asker.services
    form = await read_form(request, _LIMITS)
    try:
        tenant_id = form.get("tenant_id")
        asker.named(tenant_id if isinstance(tenant_id, str) else None)
        picture = await _picture(form)
        q = form.get("q")
        question = question_of(q if isinstance(q, str) else None, held.settings.max_question_chars)
    finally:
        await form.close()
    text = await unless_gone(request, answer_about(held.llm, question, picture))
    if text is None:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    if "hygiene" in held.settings.guards:
        hygiene = Hygiene(())  # there are no sources that a link could lead to
        text = hygiene.feed(text) + hygiene.end()
    return Response(json_bytes({"text": text}), media_type="application/json")


async def _picture(form: FormData) -> Picture:
    """The image of the form, told by its bytes: what it is called or said to be counts nothing."""
    sent = form.get("image")
    if sent is None:
        raise BadRequest(f"no image came: send {_LIMITS.sent}")
    # a field without a file's name comes as text, which no image is
    data = await sent.read() if isinstance(sent, UploadFile) else b""
    kind = image_type(data)
    if kind is None:
        raise NoImage
    return Picture(data, kind)
