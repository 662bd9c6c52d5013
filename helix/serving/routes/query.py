"""POST /v1/query: a question in, an answer with all that is known of it out, whole or as events."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from helix.answering.answer import Question
from helix.answering.engine import AnswerStream
from helix.answering.pipeline import AnswerRequest
from helix.errors import HelixError, UpstreamError
from helix.serving.admission import place_for
from helix.serving.answer_stream import typed_frames
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.disconnects import CLIENT_CLOSED_REQUEST, event_stream, run_unless_disconnected
from helix.serving.query_request import MAX_BYTES, QueryRequest, query_request, schema
from helix.serving.sse import TextJson

_logger = logging.getLogger(__name__)

_ANSWER = json.loads(Path(__file__).with_name("query_example.json").read_text("utf-8"))
_EVENTS = 'event: token\ndata: {"t":"Refunds "}\n\n'
_CONTENT: dict[str, dict[str, Any]] = {
    "application/json": {"schema": {"type": "object"}, "example": _ANSWER},
    "text/event-stream": {"schema": {"type": "string"}, "example": _EVENTS},
}
_REQUEST = {"required": True, "content": {"application/json": {"schema": schema(QueryRequest)}}}


class _QueryRoute(ApiRoute):
    """A route whose failures have the statuses of the contract, wherever they come from."""

    max_body_bytes = MAX_BYTES

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def with_contract_status(request: Request) -> Response:
            try:
                return await handler(request)
            except HelixError as error:
                model_failed = isinstance(error, UpstreamError)
                status = 502 if model_failed else min(error.status, 500)
                if status >= 500:
                    _logger.warning("no answer: %s", error)
                return JSONResponse({"error": str(error)}, status_code=status)

        return with_contract_status


router = APIRouter(prefix="/v1", route_class=_QueryRoute)


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
async def query(request: Request, caller: CurrentCaller) -> Response:
    """Answer with citations and their exact characters, or say why not. No text is logged."""
    services = caller.services
    asked = query_request(await request.body(), services.settings.max_question_chars)
    named = asked.conversation_id is not None
    scope = asked.scope(caller.for_tenant(asked.tenant_id).tenant)
    answering = AnswerRequest(
        services.answering,
        Question(asked.question, scope, asked.top_k),
        debug=bool(asked.debug),
        verdict=bool(asked.verdict),
        extra={"conversation_id": asked.conversation_id} if named else {},
    )
    headers = answer_headers(answering.question)
    if asked.stream:
        return await _streamed(request, answering, headers)
    with place_for(request, scope.tenant) as place:
        answer = await run_unless_disconnected(request, place.run(answering.run_json))
    if answer is None:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    return TextJson(answer, headers=headers)


async def _streamed(
    request: Request, answering: AnswerRequest, headers: dict[str, str]
) -> Response:
    with place_for(request, answering.question.scope.tenant) as place:
        start = place.run(answering.start)
        stream = await run_unless_disconnected(request, start, AnswerStream.aclose)
        if stream is None:
            return Response(status_code=CLIENT_CLOSED_REQUEST)
        close = place.until(stream.aclose)
    return event_stream(typed_frames(answering, stream), close, headers)


def answer_headers(question: Question) -> dict[str, str]:
    """The headers by which the answer is found again."""
    return {"X-Answer-Id": question.answer_id, "X-Trace-Id": question.trace_id}
