"""/v1/documents and /v1/chunks: import web pages; list, read, tag and delete documents."""

from __future__ import annotations

import hashlib
import json
from functools import partial
from typing import Annotated
from urllib.parse import quote, urlsplit

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from helix.domain.facts import EDITABLE
from helix.domain.file_kinds import KINDS
from helix.domain.scope import checked_tags
from helix.errors import BadRequest
from helix.library.access import Connected, Row
from helix.library.document_edits import edit_document
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
from helix.library.uploads import read_again
from helix.serving.authentication import ApiRoute, CurrentCaller

_MAX_URL = 2000

router = APIRouter(prefix="/v1", tags=["documents"], route_class=ApiRoute)


class PageImport(BaseModel):
    """A web page to bring in."""

    url: str
    title: str | None = None
    tags: list[str] | None = None
    tenant_id: str | None = None


class DocumentChange(BaseModel):
    """What of a document can be changed; what is left out stays as it is."""

    model_config = ConfigDict(extra="forbid")

    title: str | None = None
    file_name: str | None = None
    facts: dict[str, str | None] | None = Field(None, description="Texts by name; null removes one")
    tags: list[str] | None = None
    tenant_id: str | None = None

    def changes(self) -> Row:
        """The keys that are given, checked; raises BadRequest."""
        found: Row = {}
        for name, most in (("title", 500), ("file_name", 300)):
            if (text := getattr(self, name)) is not None:
                found[name] = check_text(name, text, most).strip()
                if not found[name]:
                    raise BadRequest(f"{name} is empty: leave it out to keep the one there is")
        if self.facts is not None:
            found["facts"] = {name: _fact(name, text) for name, text in self.facts.items()}
        if self.tags is not None:
            found["tags"] = list(checked_tags(self.tags))
        if not found:
            raise BadRequest("nothing to change: send title, file_name, facts or tags")
        return found


def _fact(name: str, text: str | None) -> str | None:
    if name not in EDITABLE:
        raise BadRequest(f"{name[:80]} is no fact: there are {', '.join(EDITABLE)}")
    return check_text(name, text, 500).strip() or None if text is not None else None


@router.post("/documents/url", summary="Bring in a web page", status_code=202)
async def import_page(caller: CurrentCaller, page: PageImport) -> Row:
    """Start a run that fetches and reads one page; the one under way for this URL, if there is."""
    library = caller.for_tenant(page.tenant_id).library
    options: Row = {"url": _web_address(page.url)}
    if title := check_text("title", page.title or "", 500):
        options["title"] = title
    if page.tags is not None:
        options["tags"] = checked_tags(page.tags)
    key = hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()
    run_id = await library.change(
        partial(_start_import, options=options, key=key, tenant=library.tenant)
    )
    caller.services.on_run_created()
    return {"run_id": run_id}


def _start_import(connection: Connected, options: Row, key: str, tenant: str) -> int:
    lock = f"{tenant} {key}"
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (lock,))
    return find_open_run(connection, key, tenant) or create_run(
        connection, "url", options, key, tenant=tenant
    )


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
    caller: CurrentCaller,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str | None, Query(description="`next` of the page before")] = None,
    q: Annotated[str, Query(description="A part of title, source_uri or file_name")] = "",
    status: Annotated[Status | None, Query()] = None,
    sort: Annotated[Sort, Query(description="updated and size: largest first")] = "updated",
    tag: Annotated[list[str] | None, Query(description="Of several, all must be there")] = None,
    company: Annotated[str, Query(description="Whose documents, by their facts")] = "",
    kind: Annotated[str, Query(description="Of which kind, by their facts: 10-Q")] = "",
) -> JSONResponse:
    """A page of the documents that match."""
    tags = checked_tags(tag) if tag else None
    wanted = Wanted(
        limit, after, check_text("q", q, 500), status, sort, tags,
        check_text("company", company, 200), check_text("kind", kind, 100),
    )  # fmt: skip
    return JSONResponse(await list_documents(caller.library, wanted))


@router.get("/documents/{document_id}", summary="Read a document")
async def document(caller: CurrentCaller, document_id: int, text: bool = True) -> JSONResponse:
    """Its text, outline and chunks. Offsets count characters (Unicode code points) of the text."""
    return JSONResponse(await get_document(caller.library, document_id, text))


@router.get("/documents/{document_id}/file", summary="Download an upload", response_class=Response)
async def file(caller: CurrentCaller, document_id: int) -> Response:
    """The bytes as they were uploaded."""
    source_uri, media, data = await get_file(caller.library, document_id)
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


@router.patch("/documents/{document_id}", summary="Change a document")
async def change(caller: CurrentCaller, document_id: int, changed: DocumentChange) -> Row:
    """Change its title, file name, facts (null takes one away) or tags (all of them at once).

    Questions that are asked from now on see it, and it stays when the document is read again.
    """
    library = caller.for_tenant(changed.tenant_id).library
    changes = changed.changes()
    await library.change(
        partial(edit_document, document_id=document_id, changes=changes, tenant=library.tenant)
    )
    return {"id": document_id, **changes}


@router.delete(
    "/documents/{document_id}", summary="Delete a document", status_code=204,
    response_class=Response,
)  # fmt: skip
async def delete(caller: CurrentCaller, document_id: int) -> Response:
    """With its text, chunks, vectors and file: all of it, or nothing when that fails."""
    library = caller.library
    await library.change(partial(remove_document, document_id=document_id, tenant=library.tenant))
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
    run_id = await library.change(
        partial(read_again, document_id=document_id, tenant=library.tenant)
    )
    caller.services.on_run_created()
    return {"run_id": run_id}


@router.get("/chunks/{chunk_id}", summary="Resolve a citation")
async def chunk(caller: CurrentCaller, chunk_id: int) -> JSONResponse:
    """The chunk that a citation names, and where in its document it lies."""
    return JSONResponse(await get_chunk(caller.library, chunk_id))
