"""The plan of a crawl, or of one page: the sources that the run will read and write."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from pipelines.crawler.content import content_of
from pipelines.crawler.crawl import Crawl
from pipelines.crawler.fetch import Fetcher, FetchError, FetchLimits, Pace
from pipelines.crawler.guard import ForbiddenAddress, GuardedBackend
from pipelines.crawler.options import CrawlOptions
from pipelines.crawler.results import FinishedPage, PageToRead, Result, StoredPage, StoredPages
from pipelines.crawler.urls import identity

DEFAULT_LIMITS = FetchLimits()


async def plan_crawl(
    options: CrawlOptions,
    stored_page: StoredPages,
    *,
    limits: FetchLimits = DEFAULT_LIMITS,
) -> AsyncGenerator[Result, None]:
    """Crawl from ``options.url``: a result a page; no ``source_uri`` is planned or settled twice.

    Holds one page at a time. A site that fails is a Settled, never an exception.
    """
    fetcher = Fetcher(GuardedBackend(options.allow_hosts), limits, Pace(options.delay_ms / 1000))
    async with fetcher, aclosing(Crawl(fetcher, options, stored_page).run()) as results:
        async for result in results:
            yield result


async def import_url(
    options: CrawlOptions,
    stored_page: StoredPages,
    *,
    limits: FetchLimits = DEFAULT_LIMITS,
) -> PageToRead | FinishedPage:
    """The one page at ``options.url``, of any kind that Helix reads.

    Its user asked for it, so robots.txt and noindex, which are for robots, are not asked; the
    guard and the limits are those of a crawl. With ``options.title`` it is planned even if its
    bytes are known, for the title may not be.
    """
    if options.title is not None:
        stored_page = dict[str, StoredPage]().get
    async with Fetcher(GuardedBackend(options.allow_hosts), limits) as fetcher:
        try:
            page = await fetcher.get(options.url, stored_page)
            stored = stored_page(page.final_url)
            if page.status == 304 and stored:
                return FinishedPage(stored.source_uri, "unchanged")
            if page.status != 200:
                raise FetchError(f"the site answered {page.status}")
            content = await asyncio.to_thread(content_of, page)
        except (FetchError, ForbiddenAddress) as error:
            return FinishedPage(identity(options.url), "failed", str(error))
    stored = stored or stored_page(content.source_uri)
    if stored and (stored.content_hash, stored.source_uri) == (
        content.content_hash,
        content.source_uri,
    ):
        return FinishedPage(content.source_uri, "unchanged")
    return content.page_to_read(content.source_uri, title=options.title)
