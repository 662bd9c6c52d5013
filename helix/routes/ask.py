"""GET /ask: a question in, token frames and one citations frame out."""

from __future__ import annotations

import logging
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response

from helix.answering import Inquiry
from helix.errors import BadRequest, HelixError
from helix.logs import trace_id
from helix.query_engine import AnswerStream
from helix.questions import question_of
from helix.routes.asker import Asker
from helix.routes.leaving import CLIENT_CLOSED_REQUEST, event_stream, unless_gone
from helix.routes.query import answer_headers
from helix.scope import Scope
from helix.streaming import plain_frames

_LARGEST_ID = 2**63 - 1
_NO_ID = "document_id must be a document's id, a whole number"

_logger = logging.getLogger(__name__)
router = APIRouter()

_STREAM = {"text/event-stream": {"schema": {"type": "string"}, "example": (
    'data: {"t":"Refunds are accepted within 30 days. [1]"}\n\nevent: citations\n'
    'data: [{"n":1,"chunk_id":42,"document_title":"Refund Policy","snippet":"Refunds are…"}]\n\n'
)}}  # fmt: skip


@router.get(
    "/ask",
    summary="Ask the documents",
    response_class=Response,
    responses={
        200: {"description": "Token frames, then one citations frame", "content": _STREAM},
        "default": {"description": 'Any failure: `{"error": "one line"}`'},
        400: {"description": "`q` is missing, blank or too long, or `document_id` is no id"},
        503: {"description": "Database or model failed before the first token"},
    },
)
async def ask(
    request: Request,
    asker: Asker,
    q: Annotated[str | None, Query(description="The question")] = None,
    document_id: Annotated[
        str | None, Query(description="Answer from this document only (documents.id)")
    ] = None,
    verdict: Annotated[
        bool, Query(description="Have a judge look at the answer; its verdict is one more event")
    ] = False,
) -> Response:
    """Stream a grounded answer, or the exact refusal. A stream without a citations frame is cut."""
    held = asker.services
    question = question_of(q, held.settings.max_question_chars)
    scope = Scope(asker.tenant, document_ids=_document_ids(document_id))
    inquiry = Inquiry(held.answering, question, scope, verdict=verdict, trace_id=trace_id.get())
    try:
        stream = await unless_gone(request, inquiry.begin(), AnswerStream.aclose)
    except HelixError as error:
        if error.status < 503:
            raise
        _logger.warning("no first token: %s", error)
        return JSONResponse({"error": str(error)}, status_code=503)
    if stream is None:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    return event_stream(
        plain_frames(inquiry, stream), answer_headers(inquiry), release=stream.aclose
    )


def _document_ids(text: str | None) -> tuple[int] | None:
    if text is None:
        return None
    digits = text.lstrip("0") or text[:1]
    # the length first: Python itself refuses to read a number of thousands of digits
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
        raise BadRequest(_NO_ID)
    if (number := int(digits)) > _LARGEST_ID:
        raise BadRequest(_NO_ID)
    return (number,)
