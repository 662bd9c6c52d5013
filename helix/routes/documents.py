"""/v1/documents and /v1/chunks: bring documents in, list and read them, delete them."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import Annotated
from urllib.parse import quote, urlsplit

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel

from helix.errors import BadRequest
from helix.library.access import Connected, Row
from helix.library.documents import (
    Sort,
    Status,
    Wanted,
    get_chunk,
    get_document,
    get_file,
    list_documents,
    remove_document,
)
from helix.library.paging import check_text
from helix.library.runs import create_run, find_open_run
from helix.library.uploads import read_again, store_uploads
from helix.media import KINDS
from helix.routes.state import services
from helix.routes.uploading import uploads_of

_MAX_URL = 2000
_UPLOAD_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "array", "items": {"type": "string", "format": "binary"}},
                        "title": {"type": "string", "description": "of the one file"},
                        "source_uri": {"type": "string", "description": "of the one file"},
                    },
                }
            }
        },
    }
}

router = APIRouter(prefix="/v1", tags=["documents"])


class Page(BaseModel):
    """A web page to bring in."""

    url: str
    title: str | None = None


@router.post(
    "/documents",
    summary="Upload documents",
    status_code=202,
    openapi_extra=_UPLOAD_BODY,
    responses={
        200: {"description": "All of it is there already, and readable"},
        400: {"description": "No file, or an empty one"},
        413: {"description": "A file is over the limit of bytes"},
        415: {"description": "A file is of no kind that Helix reads"},
    },
)
async def upload(request: Request) -> JSONResponse:
    """Store the files and start one run that reads them. The same bytes are stored once."""
    held = services(request)
    async with uploads_of(request, held.library, held.settings.max_file_mb) as uploads:
        stored = await held.library.change(partial(store_uploads, uploads=uploads))
    if stored.run_id is not None:
        held.on_run_created()
    return JSONResponse(
        {"run_id": stored.run_id, "documents": stored.documents},
        status_code=200 if stored.run_id is None else 202,
    )


@router.post("/documents/url", summary="Bring in a web page", status_code=202)
async def import_page(request: Request, page: Page) -> Row:
    """Start a run that fetches and reads one page; the one under way for this URL, if there is."""
    held = services(request)
    url = _web_address(page.url)
    options = {"url": url}
    if title := check_text("title", page.title or "", 500):
        options["title"] = title
    key = hashlib.sha256("\0".join(("url", url, title)).encode()).hexdigest()

    def start(connection: Connected) -> int:
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (key,))
        return find_open_run(connection, key) or create_run(connection, "url", options, key)

    run_id = await held.library.change(start)
    held.on_run_created()
    return {"run_id": run_id}


def _web_address(text: str) -> str:
    """The address, if it can be one at all; where it leads is for the fetch to judge.

    Raises:
        BadRequest: it is none, not of the web, or carries a password.
    """
    url = check_text("url", text, _MAX_URL)
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host or any(c.isspace() for c in url):
        raise BadRequest("url must be the address of a web page, such as https://example.com/docs")
    if "@" in parts.netloc:
        raise BadRequest("url carries a user name or password: leave it out")
    return url


@router.get("/documents", summary="List documents")
async def documents(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str | None, Query(description="`next` of the page before")] = None,
    q: Annotated[str, Query(description="A part of title or source_uri")] = "",
    status: Annotated[Status | None, Query()] = None,
    sort: Annotated[Sort, Query(description="updated and size: largest first")] = "updated",
) -> JSONResponse:
    """A page of the documents that match."""
    wanted = Wanted(limit, after, check_text("q", q, 500), status, sort)
    return JSONResponse(await list_documents(services(request).library, wanted))


@router.get("/documents/{document_id}", summary="Read a document")
async def document(request: Request, document_id: int, text: bool = True) -> JSONResponse:
    """Its text, outline and chunks. Offsets count characters (Unicode code points) of the text."""
    return JSONResponse(await get_document(services(request).library, document_id, text))


@router.get("/documents/{document_id}/file", summary="Download an upload", response_class=Response)
async def file(request: Request, document_id: int) -> Response:
    """The bytes as they were uploaded."""
    source_uri, media, data = await get_file(services(request).library, document_id)
    name = quote(source_uri.rpartition("/")[2], safe="") or "file"
    return Response(
        data,
        media_type=KINDS[media].mime if media in KINDS else "application/octet-stream",
        headers={
            "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "sandbox",
        },
    )


@router.delete(
    "/documents/{document_id}", summary="Delete a document", status_code=204,
    response_class=Response,
)  # fmt: skip
async def delete(request: Request, document_id: int) -> Response:
    """With its text, chunks, vectors and file: all of it, or nothing when that fails."""
    await services(request).library.change(partial(remove_document, document_id=document_id))
    return Response(status_code=204)


@router.post(
    "/documents/{document_id}/reingest",
    summary="Read an upload again",
    status_code=202,
    responses={409: {"description": "Its bytes are not kept"}},
)
async def reingest(request: Request, document_id: int) -> Row:
    """Start a run over the stored bytes; the document stays readable meanwhile."""
    held = services(request)
    run_id = await held.library.change(partial(read_again, document_id=document_id))
    held.on_run_created()
    return {"run_id": run_id}


@router.get("/chunks/{chunk_id}", summary="Resolve a citation")
async def chunk(request: Request, chunk_id: int) -> JSONResponse:
    """The chunk that a citation names, and where in its document it lies."""
    return JSONResponse(await get_chunk(services(request).library, chunk_id))
