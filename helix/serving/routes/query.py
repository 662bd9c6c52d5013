"""POST /v1/query: a question in, an answer with all that is known of it out, whole or as events."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from helix.answering.pipeline import AnswerRequest
from helix.answering.question import Question
from helix.conversations.questions import Asking, next_in
from helix.overload.entry import place_for
from helix.serving.authentication import CurrentCaller
from helix.serving.caller import Caller
from helix.serving.conversation_id import own_id
from helix.serving.disconnects import CLIENT_CLOSED_REQUEST, run_unless_disconnected
from helix.serving.error_handlers import QueryRoute
from helix.serving.query_request import QueryRequest, json_body, query_request
from helix.serving.sse import TextJson, answer_headers, streamed, typed_frames
from helix.serving.turns import answer_turn

_ANSWER = json.loads(Path(__file__).with_name("query_example.json").read_text("utf-8"))
_EVENTS = 'event: token\ndata: {"t":"Refunds "}\n\n'
_CONTENT: dict[str, dict[str, Any]] = {
    "application/json": {"schema": {"type": "object"}, "example": _ANSWER},
    "text/event-stream": {"schema": {"type": "string"}, "example": _EVENTS},
}


router = APIRouter(prefix="/v1", route_class=QueryRoute)


@router.post(
    "/query",
    summary="Ask the documents, and be told how",
    response_class=Response,
    openapi_extra=json_body(QueryRequest),
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
    caller = await caller.for_tenant(asked.tenant_id).in_space(asked.space)
    if asked.conversation_id:
        return await answer_turn(request, caller, await _asking(asked, caller))
    scope = asked.scope(caller.tenant).within(caller.reach.spaces)
    answering = AnswerRequest(
        services.answering,
        Question(
            asked.question,
            scope,
            asked.top_k,
            mode=asked.mode or services.settings.mode,
            time_zone=asked.time_zone or "UTC",
            model=asked.model,
            debug=bool(asked.debug),
        ),
        verdict=bool(asked.verdict),
        extra={"conversation_id": asked.conversation_id} if named else {},
        right=caller.right,
    )
    headers = answer_headers(answering.question)
    if asked.stream:
        return await streamed(request, answering, partial(typed_frames, answering), headers)
    with place_for(request) as place:
        answer = await run_unless_disconnected(request, place.run(answering.run_json))
    if answer is None:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    return TextJson(answer, headers=headers)


async def _asking(asked: QueryRequest, caller: Caller) -> Asking:
    """The question as the next of its conversation, which begins with it where there is none."""
    conversation_id = await own_id(caller, asked.conversation_id or "")
    add = next_in(caller.tenant, conversation_id, caller.asked_space)
    return Asking(
        conversation_id, add, asked.question,
        asked.stored_scope() if asked.narrows else None,
        asked.top_k, bool(asked.debug), bool(asked.verdict), bool(asked.stream),
        wait=True, with_ids=False, named=asked.conversation_id or "", mode=asked.mode,
        time_zone=asked.time_zone or "UTC", model=asked.model,
    )  # fmt: skip
