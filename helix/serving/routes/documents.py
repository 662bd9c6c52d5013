"""/v1/documents and /v1/chunks: list, read, change and delete documents."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from helix.domain.file_kinds import media_of
from helix.domain.metadata import checked_changes
from helix.domain.names import EDITABLE, FILE_NAME
from helix.domain.scope import checked_tags
from helix.errors import BadRequest
from helix.library.access import Row
from helix.library.document_edits import edit_document
from helix.library.document_list import Order, Page, Sort, checked_sort, list_documents
from helix.library.documents import (
    file_parts,
    get_chunk,
    get_document,
    get_file,
    must_change,
    remove_document,
)
from helix.library.pagination import check_name, check_text
from helix.library.reingestion import reread
from helix.library.uploads import clean_name
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.document_filters import KNOWN_PARAMETERS, Narrowed
from helix.serving.forms import disposition

SHOWN = {
    "pdf": "application/pdf",
    **dict.fromkeys(("text", "markdown", "csv", "html"), "text/plain; charset=utf-8"),
}
"""File types that a browser may show, and as what: never as markup that could run."""
_VIEWER = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'"

router = APIRouter(prefix="/v1", tags=["documents"], route_class=ApiRoute)


class DocumentChange(BaseModel):
    """Changes of a document; what is left out stays as it is."""

    model_config = ConfigDict(extra="forbid")

    title: str | None = None
    file_name: str | None = None
    facts: dict[str, str | None] | None = Field(None, description="Texts by name; null removes one")
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = Field(None, description="Values by key; null removes one")
    tenant_id: str | None = None

    def changes(self) -> Row:
        """The keys that are given, checked; raises BadRequest."""
        found: Row = {}
        for name, most in (("title", 500), ("file_name", 300)):
            if (text := getattr(self, name)) is not None:
                found[name] = check_name(name, text, most)
                if not found[name]:
                    raise BadRequest(f"{name} is empty: leave it out to keep the one there is")
        if FILE_NAME in found:
            found[FILE_NAME] = clean_name(found[FILE_NAME])
        if self.facts is not None:
            found["facts"] = {name: _fact(name, text) for name, text in self.facts.items()}
        if self.tags is not None:
            found["tags"] = list(checked_tags(self.tags))
        if self.metadata:
            found["metadata"] = checked_changes(self.metadata)
        if not found:
            raise BadRequest("nothing to change: send title, file_name, facts, tags or metadata")
        return found


def _fact(name: str, text: str | None) -> str | None:
    if name not in EDITABLE:
        raise BadRequest(f"{name[:80]} is no fact: there are {', '.join(EDITABLE)}")
    return check_text(name, text, 500).strip() or None if text is not None else None


@router.get("/documents", summary="List documents", dependencies=[KNOWN_PARAMETERS])
async def documents(
    caller: CurrentCaller,
    wanted: Narrowed,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str | None, Query(description="`next` of the page before")] = None,
    sort: Annotated[
        Sort,
        Query(description="title, size, kind, status, meta.KEY; updated and size: largest first"),
    ] = "updated",
    order: Annotated[Order | None, Query(description="Another than the sort's own")] = None,
) -> JSONResponse:
    """A page of the documents that match."""
    page = Page(limit, after, checked_sort(sort), order)
    return JSONResponse(await list_documents(caller.library, wanted, page))


@router.get("/documents/{document_id}", summary="Read a document")
async def document(caller: CurrentCaller, document_id: int, text: bool = True) -> JSONResponse:
    """Its text, outline and chunks. Offsets count characters (Unicode code points) of the text."""
    return JSONResponse(await get_document(caller.library, document_id, text))


@router.get("/documents/{document_id}/file", summary="Download an upload", response_class=Response)
async def file(
    caller: CurrentCaller,
    document_id: int,
    inline: Annotated[bool, Query(description="To be shown: PDF, and text as text")] = False,
) -> Response:
    """The bytes as they were uploaded."""
    kept = await get_file(caller.library, document_id)
    name = kept.file_name or kept.source_uri.rpartition("/")[2] or "file"
    shown = inline and kept.media in SHOWN
    media = media_of(kept.media)
    mime = media.mime if media else "application/octet-stream"
    return StreamingResponse(
        file_parts(caller.library, kept),
        media_type=SHOWN[kept.media] if shown else mime,
        headers={
            "Content-Length": str(kept.size),
            "Content-Disposition": disposition("inline" if shown else "attachment", name),
            "X-Content-Type-Options": "nosniff",
            # the browser's viewer of PDFs does not open in a sandbox, and runs nothing of this site
            "Content-Security-Policy": _VIEWER if shown else "sandbox",
        },
    )


@router.patch("/documents/{document_id}", summary="Change a document")
async def change(caller: CurrentCaller, document_id: int, changed: DocumentChange) -> Row:
    """Change its title, file name, tags (all of them at once), facts or metadata.

    Of facts and metadata what is named is changed; null takes it away.

    Questions that are asked from now on see it, and it stays when the document is read again.
    """
    library = caller.for_tenant(changed.tenant_id).library
    changes = changed.changes()
    await must_change(library, document_id)
    await library.whole.change(
        partial(edit_document, document_id=document_id, changes=changes, tenant=library.tenant)
    )
    return {"id": document_id, **changes}


@router.delete(
    "/documents/{document_id}", summary="Delete a document", status_code=204,
    response_class=Response,
)  # fmt: skip
async def delete(caller: CurrentCaller, document_id: int) -> Response:
    """Delete it with its text, chunks, vectors and file: all of it, or nothing when that fails."""
    library = caller.library
    await must_change(library, document_id)
    remove = partial(remove_document, document_id=document_id, tenant=library.tenant)
    await library.whole.change(remove)
    return Response(status_code=204)


@router.post(
    "/documents/{document_id}/reingest",
    summary="Read an upload again",
    status_code=202,
    responses={409: {"description": "Its bytes are not kept"}},
)
async def reingest(caller: CurrentCaller, document_id: int) -> Row:
    """Start a run over the stored bytes; the document stays readable meanwhile."""
    library = caller.library
    await must_change(library, document_id)
    run_id = await library.whole.change(
        partial(reread, document_id=document_id, tenant=library.tenant)
    )
    caller.services.on_run_created()
    return {"run_id": run_id}


@router.get("/chunks/{chunk_id}", summary="Resolve a citation")
async def chunk(caller: CurrentCaller, chunk_id: int) -> JSONResponse:
    """The chunk that a citation names, and where in its document it lies."""
    return JSONResponse(await get_chunk(caller.library, chunk_id))
