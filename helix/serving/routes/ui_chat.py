"""POST /v1/ui/chat: what ``useChat`` of the AI SDK talks to, and the way back to an answer."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from helix.answering.events import Event, typed_events
from helix.answering.pipeline import AnswerRequest
from helix.answering.question import Mode, Question
from helix.answering.stream import AnswerStream
from helix.conversations.conversation_rows import create, hold
from helix.conversations.liveness import MessageEvent, MessageRow
from helix.conversations.questions import Asking
from helix.conversations.tree import (
    AddedMessage,
    NewMessage,
    active_leaf,
    add_message,
    message,
)
from helix.conversations.views import get_conversation, get_message
from helix.domain.scope import scope_of_stored
from helix.errors import BadRequest, HelixError
from helix.library.access import Connected
from helix.library.errors import NotFound
from helix.protocols.messages import MOST_PARTS, Message, latest, question_of_messages
from helix.protocols.ui_stream import HEADERS, ui_frames
from helix.serving.addresses import base_of
from helix.serving.authentication import CurrentCaller
from helix.serving.body_problems import first_problem, read_body
from helix.serving.caller import Caller
from helix.serving.conversation_id import ConversationId, own_id
from helix.serving.disconnects import CLIENT_CLOSED_REQUEST, event_stream, run_unless_disconnected
from helix.serving.error_handlers import QueryRoute
from helix.serving.pasted_text import last_message, without_pasted
from helix.serving.query_request import (
    ANSWERS_BY,
    MODES,
    DocumentId,
    Filters,
    ModelName,
    TimeZone,
    stored_scope,
)
from helix.serving.sse import answer_headers, streamed
from helix.serving.turns import start_turn

router = APIRouter(
    prefix="/v1/ui/chat", tags=["ai-sdk"], route_class=QueryRoute, default_response_class=Response
)
_logger = logging.getLogger(__name__)
_PARTS = 'data: {"type":"start","messageId":"…"}\n\ndata: {"type":"start-step"}\n\n'
_TOLD: dict[int | str, dict[str, Any]] = {
    200: {"description": "A UI message stream, version 1", "content": {
        "text/event-stream": {"schema": {"type": "string"}, "example": _PARTS}}},
}  # fmt: skip
_BODY = {"requestBody": {"required": True, "content": {"application/json": {
    "schema": {"type": "object", "required": ["id", "messages"]}}}}}  # fmt: skip


class _Lenient(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Part(_Lenient):
    type: str
    text: str | None = None


class _UiMessage(_Lenient):
    role: str
    parts: list[_Part] = Field(default_factory=list, max_length=MOST_PARTS)

    def message(self) -> Message:
        """The message as every protocol's are read; raises BadRequest for what is not text."""
        if self.role == "user" and any(part.type == "file" for part in self.parts):
            raise BadRequest("a message holds a file: only text is read here")
        texts = (part.text for part in self.parts if part.type == "text")
        return Message(self.role, "\n".join(text for text in texts if text))


class UiChatRequest(_Lenient):
    """The chat's ``id`` and all its messages; the rest is Helix's own, and may be left out."""

    id: str = Field(min_length=1, max_length=200)
    messages: Annotated[list[_UiMessage], BeforeValidator(latest), Field(min_length=1)]
    resume: bool = Field(False, description="Go on where the client leaves; it may come back")
    document_ids: list[DocumentId] | None = Field(None, min_length=1, max_length=1000)
    filters: Filters | None = None
    top_k: int | None = Field(None, ge=1, le=50)
    mode: Mode | None = Field(None, description=MODES)
    time_zone: TimeZone | None = Field(None, description="The asker's, for an agent; UTC")
    model: ModelName | None = Field(None, description=ANSWERS_BY)
    tenant_id: str | None = None

    @property
    def said(self) -> list[Message]:
        """The messages, oldest first."""
        return [message.message() for message in self.messages]


async def ui_chat_request(body: bytes) -> UiChatRequest:
    """The request in ``body``.

    Raises:
        BadRequest: one line that names the first key which is missing or malformed.
    """
    try:
        return await read_body(body, UiChatRequest)
    except ValidationError as error:
        place, problem = first_problem(error)
        raise BadRequest(f"{place or 'the body'}: {problem}") from None


@router.post("", summary="Ask, for the AI SDK", responses=_TOLD, openapi_extra=_BODY)
async def chat(request: Request, caller: CurrentCaller) -> Response:
    """The last message is the question, those before it its history.

    With `resume` the question is kept as the next of the conversation of the chat's id, whose
    messages are then the history, and its answer goes on where the client leaves.
    """
    asked = await ui_chat_request(await request.body())
    caller = caller.for_tenant(asked.tenant_id)
    services = caller.services
    base, stored = (
        base_of(request, services.settings),
        stored_scope(asked.document_ids, asked.filters),
    )
    text, history = question_of_messages(asked.said)
    if asked.resume:
        return await _resumable(request, caller, asked, stored)
    last = await last_message(request, caller, text)
    history = without_pasted(history, services.settings.max_question_chars)
    scope = scope_of_stored(stored, caller.tenant).within(caller.reach.spaces)
    question = Question(
        last.question, last.within(scope), asked.top_k, history,
        mode=asked.mode or services.settings.mode, time_zone=asked.time_zone or "UTC",
        model=asked.model,
    )  # fmt: skip
    answering = AnswerRequest(services.answering, question, extra=last.extra, right=caller.right)

    def frames(stream: AnswerStream) -> AsyncGenerator[bytes, None]:
        return ui_frames(typed_events(answering, stream), base, question.answer_id)

    return await streamed(request, answering, frames, answer_headers(question) | HEADERS)


@router.get(
    "/{conversation_id}/stream", summary="Come back to an answer, for the AI SDK",
    responses={200: _TOLD[200], 204: {"description": "Nothing is being answered"}},
)  # fmt: skip
async def resume(
    request: Request, caller: CurrentCaller, conversation_id: ConversationId
) -> Response:
    """All parts of the answer that is under way, from its first on."""
    try:
        answering = (await get_conversation(caller.library, conversation_id))["answering"]
    except NotFound:
        answering = None
    if answering is None:
        return Response(status_code=204)
    answer_id = (await get_message(caller.library, conversation_id, answering))["answer_id"]
    row = MessageRow(caller.library, conversation_id, answering)
    return _followed(request, caller, row, answer_id)


async def _resumable(
    request: Request, caller: Caller, asked: UiChatRequest, stored: dict[str, Any]
) -> Response:
    questions = [said.text for said in asked.said if said.role == "user"]
    name, text = await own_id(caller, asked.id), questions[-1]
    text = (await last_message(request, caller, text, name)).question
    asking = Asking(
        name, partial(_add, caller=caller, name=name, before=len(questions) - 1), text,
        stored or None, asked.top_k, wait=True, named=asked.id, mode=asked.mode,
        time_zone=asked.time_zone or "UTC", model=asked.model,
    )  # fmt: skip
    turn = await start_turn(request, caller, asking)
    if await run_unless_disconnected(request, turn.started()) is None:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    return _followed(request, caller, turn.row, turn.first[1]["answer_id"])


def _add(
    connection: Connected, new: NewMessage, caller: Caller, name: str, before: int
) -> tuple[NewMessage, AddedMessage]:
    """Add ``new`` below the message of the active path that has ``before`` - 1 before it.

    So a question that is asked again, or another in its place, becomes a sibling.
    """
    tenant = caller.tenant
    create(connection, tenant, name, "", caller.placed({}))
    hold(connection, tenant, name)
    parent = active_leaf(connection, tenant, name)
    while parent is not None:
        found = message(connection, tenant, name, parent)
        if found["depth"] < before:
            break
        parent = found["parent_id"]
    return new, add_message(connection, tenant, name, new, parent)


def _followed(request: Request, caller: Caller, row: MessageRow, answer_id: str) -> Response:
    events = caller.services.turns.follow(row, 0)
    base = base_of(request, caller.services.settings)
    frames = ui_frames(_decoded(events), base, answer_id)
    return event_stream(frames, events.aclose, HEADERS | {"X-Answer-Id": answer_id})


async def _decoded(events: AsyncGenerator[MessageEvent, None]) -> AsyncGenerator[Event, None]:
    """The events of a turn; where reading them fails, ``error`` is the last."""
    async with aclosing(events):
        try:
            async for event in events:
                yield event.name, json.loads(event.data)
        except HelixError as error:
            _logger.warning("stream cut: %s", error)
            yield "error", {"error": str(error)}
