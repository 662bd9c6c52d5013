"""/v1/conversations/{id}/messages: asked, asked again, edited, followed and stopped."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from helix.answering.question import Mode
from helix.conversations.conversation_rows import hold
from helix.conversations.images import MOST_AT_ONCE
from helix.conversations.liveness import MessageRow
from helix.conversations.questions import Add, Asking, in_place_of
from helix.conversations.tree import (
    AddedMessage,
    NewMessage,
    active_leaf,
    add_message,
)
from helix.conversations.views import get_message
from helix.errors import BadRequest
from helix.library.access import Connected
from helix.library.errors import Conflict
from helix.serving.authentication import CurrentCaller
from helix.serving.caller import Caller
from helix.serving.conversation_id import ConversationId
from helix.serving.error_handlers import QueryRoute
from helix.serving.query_request import (
    ANSWERS_BY,
    MODES,
    ModelName,
    QueryRequest,
    TimeZone,
    checked_request,
    json_body,
)
from helix.serving.sse import TextJson, last_event_id
from helix.serving.turns import answer_turn, turn_stream

_ImageId = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_EVENTS = (
    'id: 1\nevent: message\ndata: {"conversation_id":"c-1","message_id":12,"parent_id":9}\n\n'
    'id: 2\nevent: token\ndata: {"t":"Refunds "}\n\n'
)
_TOLD: dict[int | str, dict[str, Any]] = {
    200: {"description": "The answer's events; with `stream` false, the answer", "content": {
        "text/event-stream": {"schema": {"type": "string"}, "example": _EVENTS},
        "application/json": {"schema": {"type": "object"}}}},
    404: {"description": "No such conversation or message of this tenant"},
    409: {"description": "Another question of the conversation is being answered"},
}  # fmt: skip

router = APIRouter(
    prefix="/v1/conversations/{conversation_id}/messages",
    tags=["conversations"],
    route_class=QueryRoute,
    default_response_class=Response,
)


class TurnOptions(BaseModel):
    """Options of a turn's answer; what is null counts as left out."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    tenant_id: str | None = None
    debug: bool | None = Field(None, description="Tell how the answer came about")
    stream: bool | None = Field(None, description="false: answer as one JSON")
    verdict: bool | None = Field(None, description="Have a judge look at the whole answer")
    wait: bool | None = Field(
        None, description="Wait for the question that is being answered; else 409"
    )
    mode: Mode | None = Field(None, description=MODES)
    time_zone: TimeZone | None = Field(None, description="The asker's, for an agent; UTC")
    model: ModelName | None = Field(None, description=ANSWERS_BY)


class MessageRequest(QueryRequest):
    """A question in a conversation: that of POST /v1/query, and where it goes."""

    stream: bool | None = Field(None, description="false: answer as one JSON")
    wait: bool | None = Field(
        None, description="Wait for the question that is being answered; else 409"
    )
    parent_id: int | None = Field(
        None, description="The message that it follows; the active leaf otherwise"
    )
    images: list[_ImageId] | None = Field(
        None, max_length=MOST_AT_ONCE, description="What it is about: images of the conversation"
    )


@router.post(
    "", summary="Ask in a conversation", responses=_TOLD,
    openapi_extra=json_body(MessageRequest),
)  # fmt: skip
async def ask(request: Request, caller: CurrentCaller, conversation_id: ConversationId) -> Response:
    """The question goes below `parent_id`, or below the active leaf. It goes on without client."""
    asked = await _message(request, caller)
    caller = await caller.for_tenant(asked.tenant_id).in_space(asked.space)

    def add(connection: Connected, new: NewMessage) -> tuple[NewMessage, AddedMessage]:
        hold(connection, caller.tenant, conversation_id)
        parent = asked.parent_id
        if parent is None:
            parent = active_leaf(connection, caller.tenant, conversation_id)
        return new, add_message(connection, caller.tenant, conversation_id, new, parent)

    return await answer_turn(request, caller, _asking(conversation_id, add, asked))


@router.post(
    "/{message_id}/edit", summary="Ask something else instead", responses=_TOLD,
    openapi_extra=json_body(MessageRequest),
)  # fmt: skip
async def edit(
    request: Request, caller: CurrentCaller, conversation_id: ConversationId, message_id: int
) -> Response:
    """The question becomes a sibling of the message, in its scope where it names none."""
    asked = await _message(request, caller)
    if asked.parent_id is not None:
        raise BadRequest("parent_id is the message's own here: leave it out")
    caller = await caller.for_tenant(asked.tenant_id).in_space(asked.space)
    add = in_place_of(caller.tenant, conversation_id, message_id, keeps_question=False)
    return await answer_turn(request, caller, _asking(conversation_id, add, asked))


@router.post(
    "/{message_id}/regenerate", summary="Ask again", responses=_TOLD,
    openapi_extra=json_body(TurnOptions, required=False),
)  # fmt: skip
async def regenerate(
    request: Request, caller: CurrentCaller, conversation_id: ConversationId, message_id: int
) -> Response:
    """The same question becomes a sibling of the message, and is answered anew."""
    options = checked_request(await request.body() or b"{}", 0, TurnOptions)
    caller = caller.for_tenant(options.tenant_id)
    add = in_place_of(caller.tenant, conversation_id, message_id, keeps_question=True)
    return await answer_turn(request, caller, _asking(conversation_id, add, options))


@router.get(
    "/{message_id}/events", summary="Follow an answer",
    responses={200: _TOLD[200], 404: _TOLD[404]},
)  # fmt: skip
async def events(
    request: Request, caller: CurrentCaller, conversation_id: ConversationId, message_id: int
) -> Response:
    """The events after `Last-Event-ID`, byte for byte as they were told, then those to come."""
    after = last_event_id(request)
    await get_message(caller.library, conversation_id, message_id)
    return turn_stream(caller, MessageRow(caller.library, conversation_id, message_id), after)


@router.post("/{message_id}/stop", summary="Stop an answer")
async def stop(caller: CurrentCaller, conversation_id: ConversationId, message_id: int) -> Response:
    """Stop the answer; its text so far stays, marked `stopped`; `409` where it had ended."""
    await get_message(caller.library, conversation_id, message_id)
    row = MessageRow(caller.library, conversation_id, message_id)
    status = await caller.services.turns.stop(row)
    if status is None:
        raise Conflict(f"message {message_id} is not being answered")
    return TextJson({"id": message_id, "status": status})


async def _message(request: Request, caller: Caller) -> MessageRequest:
    limit = caller.services.settings.max_question_chars
    asked = checked_request(await request.body(), limit, MessageRequest)
    if asked.conversation_id is not None:
        raise BadRequest("conversation_id is in the address here: leave it out")
    return asked


def _asking(conversation_id: str, add: Add, asked: MessageRequest | TurnOptions) -> Asking:
    asking = Asking(
        conversation_id, add, debug=bool(asked.debug), verdict=bool(asked.verdict),
        stream=asked.stream is not False, wait=bool(asked.wait), mode=asked.mode,
        time_zone=asked.time_zone or "UTC", model=asked.model,
    )  # fmt: skip
    if isinstance(asked, TurnOptions):
        return asking
    scope = asked.stored_scope() if asked.narrows else None
    images = None if asked.images is None else tuple(asked.images)
    return replace(asking, question=asked.question, scope=scope, top_k=asked.top_k, images=images)
