"""The first step of a run over the web: fetch the pages of a site, or one page, and add them."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator
from contextlib import aclosing

from helix.errors import BadRequest
from helix.library.runs import RunRow, set_stage
from helix.settings import Settings
from helix.storage.connections import Connected
from helix.store import ChunkStore
from pipelines.crawler.fetch import FetchLimits
from pipelines.crawler.options import CrawlOptions
from pipelines.crawler.plan import import_url, plan_crawl
from pipelines.crawler.results import (
    FinishedPage,
    Ignored,
    PageToRead,
    Result,
    StoredPage,
    StoredPages,
)
from pipelines.crawler.urls import origin_of
from pipelines.files.recipe import ChunkSizes
from pipelines.outages import in_database, through_outages
from pipelines.runs.path_plan import add_files_to_run
from pipelines.runs.planned_files import PlannedFile

# A page of an older recipe is read again, so its bytes are needed: it does not count as known.
_KNOWN = """
SELECT source_uri, content_hash, origin FROM documents
WHERE tenant_id = %(tenant)s AND status = 'ready' AND recipe = %(recipe)s
    AND (starts_with(origin ->> 'url', %(site)s) OR starts_with(source_uri, %(site)s))
"""


async def plan_web(settings: Settings, store: ChunkStore, run: RunRow) -> None:
    """Fetch the pages of a run of kind ``crawl`` or ``url`` and add them to it, one by one.

    A run of kind ``url`` may name several, as ``urls``.

    Raises:
        RunCancelled, StoreUnavailable: as they say.
    """

    async def add(file: PlannedFile) -> None:
        tags = run.options.get("tags")
        await through_outages(
            lambda: asyncio.to_thread(
                add_files_to_run, store, run.id, [file], tags, metadata=run.options.get("metadata")
            )
        )

    ignored = 0
    recipe = ChunkSizes.of(settings).recipe
    limits = FetchLimits(largest=settings.max_file_mb * 2**20)
    for url in run.options.get("urls") or [run.options.get("url")]:
        try:
            options = CrawlOptions.from_dict({**run.options, "url": url})
        except BadRequest as problem:
            await add(PlannedFile(str(url or "url"), reason=str(problem)))
            continue
        options = options.allowing(settings.allow_hosts)
        stored_pages = await in_database(
            store, stored_pages_of, store.tenant, origin_of(options.url), recipe
        )
        async with aclosing(_results(run, options, stored_pages, limits)) as results:
            async for result in results:
                if isinstance(result, Ignored):
                    ignored += 1
                else:
                    await add(_file_to_plan(result))
    await in_database(store, set_stage, run.id, "scan", ignored)


def stored_pages_of(connection: Connected, tenant: str, site: str, recipe: str) -> StoredPages:
    """The stored pages of ``site`` (scheme and host), by their addresses.

    All of it at once: a crawl asks as it goes, in the event loop.
    """
    pages: dict[str, StoredPage] = {}
    values = {"tenant": tenant, "site": f"{site}/", "recipe": recipe}
    for source_uri, content_hash, origin in connection.execute(_KNOWN, values):
        page = StoredPage.from_origin(source_uri, content_hash, origin)
        pages.setdefault(source_uri, page)
        pages[str(origin.get("url") or source_uri)] = page
    return pages.get


async def _results(
    run: RunRow, options: CrawlOptions, stored_pages: StoredPages, limits: FetchLimits
) -> AsyncGenerator[Result, None]:
    if run.kind == "url":
        yield await import_url(options, stored_pages, limits=limits)
        return
    async with aclosing(plan_crawl(options, stored_pages, limits=limits)) as results:
        async for result in results:
            yield result


def _file_to_plan(result: PageToRead | FinishedPage) -> PlannedFile:
    if isinstance(result, FinishedPage):
        unchanged = result.status == "unchanged"
        return PlannedFile(result.source_uri, reason=result.reason, unchanged=unchanged)
    content_hash = hashlib.sha256(result.data).hexdigest()
    return PlannedFile(
        result.source_uri, result.data, result.media, result.title, content_hash, result.origin
    )
