"""/v1/conversations: made, listed, read, changed and deleted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from helix.conversations.attachments import delete_with_documents
from helix.conversations.conversation_rows import change, create
from helix.conversations.names import checked_id, new_id
from helix.conversations.transfer import (
    export_json,
    export_markdown,
    import_json,
    import_turns,
    model_of_export,
    titled_path,
    turns_of_markdown,
)
from helix.conversations.tree import switch
from helix.conversations.views import (
    Page,
    get_conversation,
    get_message,
    get_path,
    get_tree,
    list_conversations,
)
from helix.conversations.word import WORD_MEDIA, word_of
from helix.domain.input_text import LONGEST_TITLE
from helix.errors import BadRequest
from helix.library.access import Library
from helix.library.errors import Conflict
from helix.library.pagination import check_name
from helix.library.spaces import space_of
from helix.overload.fairness import off_loop_if_long
from helix.providers.choices import named
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.caller import Caller
from helix.serving.conversation_id import ConversationId, own_id
from helix.serving.query_request import (
    ANSWERS_BY,
    DocumentId,
    Filters,
    ModelName,
    SpaceName,
    checked_request,
    json_body,
    stored_scope,
)
from helix.serving.sse import TextJson

router = APIRouter(prefix="/v1", tags=["conversations"], route_class=ApiRoute)


class _Described(BaseModel):
    """The title of a conversation, and the scope of its questions."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    title: str | None = Field(None, description="Its first question is shown where there is none")
    document_ids: list[DocumentId] | None = Field(None, max_length=1000)
    filters: Filters | None = None
    space: SpaceName | None = Field(None, description="Its documents alone: id or name")
    model: ModelName | None = Field(None, description=f'{ANSWERS_BY}; "" for the tenant\'s')
    tenant_id: str | None = None

    def checked_title(self) -> str | None:
        """The title without white space around it; raises BadRequest."""
        return None if self.title is None else check_name("title", self.title, LONGEST_TITLE)

    def checked_model(self, choices: Mapping[str, object]) -> str | None:
        """The model's name; raises ModelNotAllowed."""
        if self.model:
            named(choices, self.model)
        return self.model

    async def scope(self, caller: Caller) -> dict[str, Any] | None:
        """The scope in its stored form; None where the request says nothing of it.

        Raises:
            NotFound: it names a space that ``caller`` may not read.
        """
        if not self.model_fields_set & {"document_ids", "filters", "space"}:
            return None
        stored = stored_scope(self.document_ids or None, self.filters)
        if not self.space:
            return stored
        return stored | {"space": await space_of(caller.library, self.space, caller.spaces)}


class NewConversation(_Described):
    """A conversation to make; all of it may be left out."""

    id: str | None = Field(None, description="1 to 200 letters, digits or _ . : @ -")


class ConversationChange(_Described):
    """Changes of a conversation; what is left out stays as it is."""

    active: int | None = Field(None, description="A message: the path through it is shown")


@router.post(
    "/conversations", summary="Begin a conversation", status_code=201, response_class=Response,
    openapi_extra=json_body(NewConversation, required=False),
)  # fmt: skip
async def begin(request: Request, caller: CurrentCaller) -> Response:
    """An empty one; `409` where there is one of this `id`."""
    new = checked_request(await request.body() or b"{}", 0, NewConversation)
    caller = caller.for_tenant(new.tenant_id)
    library = caller.library
    conversation_id = new_id() if new.id is None else await own_id(caller, checked_id(new.id))
    title, scope = new.checked_title() or "", caller.placed(await new.scope(caller) or {})
    model = new.checked_model(caller.services.choices) or ""
    made = await library.change(
        lambda connection: create(connection, library.tenant, conversation_id, title, scope, model)
    )
    if not made:
        raise Conflict(f"there is a conversation {new.id} already")
    caller.note("conversation_begun")
    caller.changed("conversation" if new.id else f"conversation {conversation_id}")
    return TextJson(await get_conversation(library, conversation_id), 201)


@router.post(
    "/conversations/import", summary="Bring in a conversation", status_code=201,
    response_class=Response,
    openapi_extra={"requestBody": {"required": True, "content": {
        "application/json": {"schema": {"type": "object"}},
        "text/markdown": {"schema": {"type": "string"}}}}},
)  # fmt: skip
async def import_conversation(request: Request, caller: CurrentCaller) -> Response:
    """Make a conversation of what `export` gave: JSON, or Markdown by its content type.

    Where its model may not be chosen here `model_left_out` names it: another one answers.
    """
    choices, chosen = caller.services.choices, ""
    body, longest = await request.body(), caller.services.settings.max_question_chars
    try:
        if "markdown" in request.headers.get("content-type", ""):
            text = body.decode()
            title, turns = await off_loop_if_long(len(text), turns_of_markdown, text)
            made = await import_turns(caller.library, title, turns, longest)
        else:
            exported = json.loads(body)
            chosen = model_of_export(exported)
            made = await import_json(caller.library, exported, longest, choices)
    except (ValueError, RecursionError):
        raise BadRequest("the body is neither JSON nor Markdown in UTF-8") from None
    caller.changed(f"import of conversation {made}")
    told = await get_conversation(caller.library, made)
    if chosen and chosen not in choices:
        told["model_left_out"] = chosen[:LONGEST_TITLE]
    return TextJson(told, 201)


@router.get("/conversations", summary="List conversations", response_class=Response)
async def conversations(
    caller: CurrentCaller,
    q: Annotated[str, Query(description="A part of the title or of a question")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str | None, Query(description="`next` of the page before")] = None,
) -> Response:
    """A page of them, those used last first; of those made in `space`, if it is named."""
    page = Page(limit, after)
    return TextJson(await list_conversations(caller.library, q, page, caller.asked_space))


@router.get(
    "/conversations/{conversation_id}", summary="Read a conversation", response_class=Response
)
async def conversation(
    caller: CurrentCaller,
    conversation_id: ConversationId,
    view: Annotated[
        Literal["path", "tree"], Query(description="The messages that are told")
    ] = "path",
    limit: Annotated[int | None, Query(ge=1, le=1000, description="10; of a tree 1,000")] = None,
    before: Annotated[int | None, Query(description="`earlier` of the page before")] = None,
    after: Annotated[int | None, Query(description="`next` of the tree's page before")] = None,
) -> Response:
    """The last messages of the active path; with `view=tree` where each message stands."""
    if view == "tree":
        return TextJson(await get_tree(caller.library, conversation_id, limit or 1000, after))
    return TextJson(await get_path(caller.library, conversation_id, limit or 10, before))


@router.patch(
    "/conversations/{conversation_id}", summary="Change a conversation", response_class=Response,
    openapi_extra=json_body(ConversationChange),
)  # fmt: skip
async def change_conversation(
    request: Request, caller: CurrentCaller, conversation_id: ConversationId
) -> Response:
    """Change its title, the documents it is asked of, its model, or the path that is active."""
    changed = checked_request(await request.body(), 0, ConversationChange)
    caller = caller.for_tenant(changed.tenant_id)
    library = caller.library
    title, scope = changed.checked_title(), await changed.scope(caller)
    active = changed.active
    model = changed.checked_model(caller.services.choices)
    if title is None and scope is None and active is None and model is None:
        raise BadRequest(
            "nothing to change: send title, document_ids, filters, space, model or active"
        )

    def all_at_once(connection: Any) -> None:
        if any(each is not None for each in (title, scope, model)):
            keeps = "space" not in changed.model_fields_set
            change(connection, library.tenant, conversation_id, title, scope, model, keeps)
        if active is not None:
            switch(connection, library.tenant, conversation_id, active)

    await library.change(all_at_once)
    return TextJson(await get_conversation(library, conversation_id))


@router.delete("/conversations/{conversation_id}", summary="Delete a conversation", status_code=204)
async def delete_conversation(caller: CurrentCaller, conversation_id: ConversationId) -> Response:
    """Delete it with all its messages; an answer that is under way in it is stopped."""
    await delete_with_documents(caller.library, conversation_id)
    return Response(status_code=204)


@router.get(
    "/conversations/{conversation_id}/export", summary="Take a conversation along",
    response_class=Response,
)  # fmt: skip
async def export(
    request: Request,
    caller: CurrentCaller,
    conversation_id: ConversationId,
    kind: Annotated[Literal["json", "markdown", "docx"], Query(alias="format")] = "json",
    message: Annotated[int | None, Query(description="docx: of this message alone")] = None,
) -> Response:
    """The whole tree as JSON, or the active path as Markdown or a Word document, as a file."""
    if message is not None and kind != "docx":
        raise BadRequest("message is for format=docx: the others have the whole conversation")
    ending = {"json": "json", "markdown": "md", "docx": "docx"}[kind]
    headers = {
        "Content-Disposition": f"attachment; filename=conversation.{ending}",
        "X-Content-Type-Options": "nosniff",
    }
    library = caller.library
    if kind == "json":
        return TextJson(await export_json(library, conversation_id), headers=headers)
    if kind == "markdown":
        text = await export_markdown(library, conversation_id)
        data, media = text.encode(errors="replace"), "text/markdown; charset=utf-8"
    else:
        data, media = await _word(library, conversation_id, message, request), WORD_MEDIA
    return Response(data, media_type=media, headers=headers)


async def _word(
    library: Library, conversation_id: str, message_id: int | None, request: Request
) -> bytes:
    """The active path as a Word document, or one message; its links lead to this server's page."""
    if message_id is None:
        title, turns = await titled_path(library, conversation_id)
    else:
        title, turns = "", [await get_message(library, conversation_id, message_id)]
    return await asyncio.to_thread(word_of, title, turns, str(request.base_url))


@router.get(
    "/conversations/{conversation_id}/messages/{message_id}",
    summary="Read a message",
    response_class=Response,
)
async def message(
    caller: CurrentCaller, conversation_id: ConversationId, message_id: int
) -> Response:
    """The question with its answer, its siblings, and what has changed of what it cites."""
    return TextJson(await get_message(caller.library, conversation_id, message_id))
