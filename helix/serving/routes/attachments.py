"""/v1/conversations/{id}/attachments: documents that one conversation alone is answered from."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from helix.conversations.attachments import (
    MOST,
    add_to_library,
    attach,
    detach,
    list_attached,
    space_of,
)
from helix.conversations.views import get_conversation
from helix.library.documents import get_document
from helix.overload.entry import asker
from helix.overload.limits import MEGABYTE
from helix.serving.authentication import CurrentCaller, FormRoute
from helix.serving.conversation_id import ConversationId
from helix.serving.forms import form_body, named_tenant, read_form
from helix.serving.routes.uploads import examine, store, upload_limits

_BODY = form_body(
    "file",
    file={"type": "array", "items": {"type": "string", "format": "binary"}},
    tenant_id={"type": "string"},
)

router = APIRouter(
    prefix="/v1/conversations/{conversation_id}/attachments",
    tags=["conversations"],
    route_class=FormRoute,
)


@router.post(
    "", summary="Put documents to a conversation", status_code=202, openapi_extra=_BODY,
    responses={
        200: {"description": "All of it is there already, and readable"},
        404: {"description": "No such conversation of this tenant"},
    },
)  # fmt: skip
async def put(
    request: Request, caller: CurrentCaller, conversation_id: ConversationId
) -> JSONResponse:
    """Up to five, read as uploads are, found by this conversation's questions, gone with it."""
    services = caller.services
    form = await read_form(request, upload_limits(services.settings.max_file_mb * MEGABYTE, MOST))
    try:
        caller = caller.for_tenant(named_tenant(form))
        await get_conversation(caller.library, conversation_id)
        uploads, refused = await examine(caller.library, form)
        if refused:
            error = type(refused[0][1])
            raise error("; ".join(str(problem) for _, problem in refused))
        async with asker(request).upload(sum(each.size for each in uploads)):
            stored = await attach(caller.library, conversation_id, uploads)
    finally:
        await form.close()
    if stored.run_id is not None:
        services.on_run_created()
    caller.note("document_attached", len(stored.documents))
    caller.changed("" if stored.run_id is None else f"run {stored.run_id}")
    stored_json = {"run_id": stored.run_id, "documents": stored.documents}
    return JSONResponse(stored_json, status_code=200 if stored.run_id is None else 202)


@router.get("", summary="List a conversation's documents")
async def attachments(caller: CurrentCaller, conversation_id: ConversationId) -> JSONResponse:
    """Each with its status: a `ready` one is found by the next question."""
    await get_conversation(caller.library, conversation_id)
    return JSONResponse({"documents": await list_attached(caller.library, conversation_id)})


@router.get("/{document_id}", summary="Read a document of a conversation")
async def attachment(
    caller: CurrentCaller, conversation_id: ConversationId, document_id: int, text: bool = True
) -> JSONResponse:
    """Its text, outline and chunks, as those of a document of the library."""
    await get_conversation(caller.library, conversation_id)
    space = caller.library.of(space_of(caller.tenant, conversation_id))
    return JSONResponse(await get_document(space, document_id, text))


@router.delete("/{document_id}", summary="Take a document from a conversation", status_code=204)
async def remove(
    caller: CurrentCaller, conversation_id: ConversationId, document_id: int
) -> Response:
    """Remove it with its words in the conversation's answers."""
    await get_conversation(caller.library, conversation_id)
    await detach(caller.library, conversation_id, document_id)
    return Response(status_code=204)


@router.post("/{document_id}/library", summary="Add it to the library", status_code=202)
async def move(
    caller: CurrentCaller, conversation_id: ConversationId, document_id: int
) -> JSONResponse:
    """Read it again as a document of the library; it leaves the conversation."""
    await get_conversation(caller.library, conversation_id)
    stored = await add_to_library(
        caller.library, conversation_id, document_id, partial(store, caller)
    )
    return JSONResponse({"run_id": stored.run_id, "documents": stored.documents}, 202)
