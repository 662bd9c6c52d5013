"""POST /v1/documents/url and /v1/documents/crawl: bring in a page of the web, or a site's pages."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from helix.domain.crawl_limits import DEPTH, MOST_DEPTH, MOST_PAGES, PAGES
from helix.domain.metadata import checked_metadata
from helix.domain.scope import checked_tags
from helix.errors import BadRequest
from helix.library.access import Connected, Row
from helix.library.pagination import check_name, check_text
from helix.library.web_imports import WebImportsOff, start_import, web_address
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.caller import Caller
from helix.serving.storage_quota import check_quota

router = APIRouter(prefix="/v1", tags=["documents"], route_class=ApiRoute)


class PageImport(BaseModel):
    """A web page to bring in."""

    model_config = ConfigDict(extra="forbid")

    url: str
    title: str | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None
    tenant_id: str | None = None


class Crawl(BaseModel):
    """A site whose pages are to be brought in; it stays on the host that ``url`` leads to."""

    model_config = ConfigDict(extra="forbid")

    url: str = Field(description="Where to start: a page of the site")
    prefix: str | None = Field(None, description="Part of the site to stay in; the URL's if none")
    pages: Annotated[int, Field(strict=True, description="To ask for at most")] = PAGES
    depth: Annotated[int, Field(strict=True, description="Links to follow from the start")] = DEPTH
    files: bool = Field(False, description="Take PDFs and the like too")
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None
    tenant_id: str | None = None

    def options(self) -> Row:
        """The options of the run, checked; raises BadRequest."""
        options: Row = {"url": web_address(self.url), "files": self.files}
        if self.prefix is not None:
            options["prefix"] = check_text("prefix", self.prefix)
            if not options["prefix"].startswith("/"):
                raise BadRequest("prefix is a path such as /docs/: it starts with a slash")
        options["pages"] = _within("pages", self.pages, 1, MOST_PAGES)
        options["depth"] = _within("depth", self.depth, 0, MOST_DEPTH)
        return options


def _within(name: str, value: int, least: int, most: int) -> int:
    if not least <= value <= most:
        raise BadRequest(f"{name} is a whole number from {least} to {most}")
    return value


_OFF: dict[int | str, Row] = {403: {"description": "HELIX_WEB_IMPORTS=0: this server does not"}}


@router.post("/documents/url", summary="Bring in a web page", status_code=202, responses=_OFF)
async def import_page(caller: CurrentCaller, page: PageImport) -> Row:
    """Start a run that fetches and reads one page; the one under way for this URL, if there is.

    It stands in the space that the address names, or in the first that one may edit.
    """
    caller = caller.for_tenant(page.tenant_id)
    options: Row = {"url": web_address(page.url)}
    if title := check_name("title", page.title or "", 500):
        options["title"] = title
    return await _started(caller, "url", options, page)


@router.post("/documents/crawl", summary="Bring in a site", status_code=202, responses=_OFF)
async def crawl(caller: CurrentCaller, site: Crawl) -> Row:
    """Start a run over the pages of a site: its sitemap's, or what links lead to, under one path.

    It keeps to robots.txt. The run under way for the same request, if there is one.
    """
    return await _started(caller.for_tenant(site.tenant_id), "crawl", site.options(), site)


async def _started(
    caller: Caller, kind: Literal["url", "crawl"], options: Row, asked: PageImport | Crawl
) -> Row:
    if not caller.services.settings.web_imports:
        raise WebImportsOff
    if asked.tags is not None:
        options["tags"] = checked_tags(asked.tags)
    if asked.metadata:
        options["metadata"] = checked_metadata(asked.metadata)
    if (space := caller.writable_space()) is not None:
        options["space"] = space
    if caller.edits is not None:  # what comes from an address may be another's already
        options |= {"edits": list(caller.edits), "by": caller.owner}
    library, settings = caller.library.whole, caller.services.settings

    def start(connection: Connected) -> int:
        check_quota(connection, settings, library.tenant, more=1)
        return start_import(connection, kind=kind, options=options, tenant=library.tenant)

    run_id = await library.change(start)
    caller.changed(f"run {run_id}")
    caller.services.on_run_created()
    return {"run_id": run_id}
