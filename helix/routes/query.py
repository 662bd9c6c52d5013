"""POST /v1/query: a question in, an answer with all that is known of it out, whole or as events."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect

from helix.answering import Inquiry
from helix.errors import BadRequest, HelixError, UpstreamError
from helix.logs import trace_id
from helix.query_engine import AnswerStream
from helix.query_request import MAX_BYTES, query_request, schema
from helix.routes.asker import Asker
from helix.routes.leaving import CLIENT_CLOSED_REQUEST, event_stream, unless_gone
from helix.sse import json_bytes
from helix.streaming import typed_frames

_logger = logging.getLogger(__name__)

_ANSWER = {
    "answer": "Refunds are accepted within 30 days of purchase. [1]",
    "citations": [
        {
            "n": 1, "chunk_id": 42, "document_id": 7, "title": "Refund Policy",
            "heading_path": ["Refunds"], "page": None, "snippet": "Refunds are accepted…",
            "quote": "Refunds are accepted within 30 days of purchase.", "start": 0, "end": 48,
        }
    ],
    "abstained": False, "reason": None, "clarifying_question": None,
    "support": {
        "ratio": 1.0,
        "statements": [
            {
                "start": 0, "end": 52, "supported": True, "numbers": [1], "problem": None,
                "spans": [
                    {
                        "n": 1, "chunk_id": 42, "document_id": 7, "start": 0, "end": 48,
                        "quote": "Refunds are accepted within 30 days of purchase.", "page": None,
                    }
                ],
            }
        ],
    },
    "answer_id": "0f0c6ef4c1f54cf8b2a9c1a2f6d3e845", "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
}  # fmt: skip
_EVENTS = 'event: token\ndata: {"t":"Refunds "}\n\n'
_CONTENT: dict[str, dict[str, Any]] = {
    "application/json": {"schema": {"type": "object"}, "example": _ANSWER},
    "text/event-stream": {"schema": {"type": "string"}, "example": _EVENTS},
}
_REQUEST = {"required": True, "content": {"application/json": {"schema": schema()}}}


class _QueryRoute(APIRoute):
    """A route whose failures have the statuses of the contract, wherever they come from."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def answered(request: Request) -> Response:
            try:
                return await handler(request)
            except HelixError as error:
                status = _status(error)
                if status >= 500:
                    _logger.warning("no answer: %s", error)
                return JSONResponse({"error": str(error)}, status_code=status)

        return answered


router = APIRouter(prefix="/v1", route_class=_QueryRoute)


def _status(error: HelixError) -> int:
    if isinstance(error, UpstreamError):
        return 502
    return error.status if error.status < 500 else 500


@router.post(
    "/query",
    summary="Ask the documents, and be told how",
    response_class=Response,
    openapi_extra={"requestBody": _REQUEST},
    responses={
        200: {"description": "The answer; with `stream`, its events", "content": _CONTENT},
        "default": {"description": 'Any failure: `{"error": "one line"}`'},
        400: {"description": "The request is malformed; the line names the key"},
        502: {"description": "The model or the embedding service failed"},
    },
)
async def query(request: Request, asker: Asker) -> Response:
    """Answer with citations and their exact characters, or say why not. No text is logged."""
    held = asker.services
    asked = query_request(await _body(request), held.settings.max_question_chars)
    named = asked.conversation_id is not None
    inquiry = Inquiry(
        held.answering,
        asked.question,
        asked.scope(asker.named(asked.tenant_id).tenant),
        asked.top_k,
        debug=bool(asked.debug),
        verdict=bool(asked.verdict),
        told={"conversation_id": asked.conversation_id} if named else {},
        trace_id=trace_id.get(),
    )
    headers = answer_headers(inquiry)
    if asked.stream:
        return await _streamed(request, inquiry, headers)
    answer = await unless_gone(request, inquiry.answer())
    if answer is None:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    return Response(json_bytes(answer), headers=headers, media_type="application/json")


async def _streamed(request: Request, inquiry: Inquiry, headers: dict[str, str]) -> Response:
    stream = await unless_gone(request, inquiry.begin(), AnswerStream.aclose)
    if stream is None:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    return event_stream(typed_frames(inquiry, stream), headers, release=stream.aclose)


def answer_headers(inquiry: Inquiry) -> dict[str, str]:
    """By what an answer is found again."""
    return {"X-Answer-Id": inquiry.answer_id, "X-Trace-Id": inquiry.trace_id}


async def _body(request: Request) -> bytes:
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > MAX_BYTES:
                raise BadRequest(f"the body is larger than {MAX_BYTES // 2**20} MB, the limit")
    except ClientDisconnect:
        raise BadRequest("the client left before all had come") from None
    return bytes(body)
