"""POST /v1/erasures: a document erased with all that others have of it, and the signed record."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict

from helix.conversations.receipts.document_erasure import erase_document
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.query_request import DocumentId
from helix.serving.sse import TextJson

router = APIRouter(prefix="/v1", tags=["documents"], route_class=ApiRoute)


class Erasure(BaseModel):
    """The document to erase."""

    model_config = ConfigDict(extra="forbid")

    document_id: DocumentId
    names: bool = False
    tenant_id: str | None = None


@router.post("/erasures", summary="Erase a document, with a signed record")
async def erase(caller: CurrentCaller, asked: Erasure) -> Response:
    """Delete it if it is there. `proof` says what went where and when, and what backups still have.

    The record has no word of the document; its names only with `names`. `helix prove` and one
    Python file verify it offline.
    """
    caller = caller.for_tenant(asked.tenant_id)
    caller = replace(caller, edits=caller.spaces)  # of whoever has the scope, with write or without
    settings = caller.services.settings
    caller.changed(str(asked.document_id))
    record = await erase_document(caller.library, asked.document_id, settings, names=asked.names)
    return TextJson(record)
