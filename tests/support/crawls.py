"""A crawl of a site on loopback, and what it found by path."""

from __future__ import annotations

from pipelines.crawler.plan import plan_crawl
from pipelines.crawler.results import PageToRead, Result, StoredPages
from tests.support.web_site import LIMITS, Website, nothing, options_of


async def crawl(
    site: Website, path: str = "/", known: StoredPages = nothing, **options: object
) -> list[Result]:
    """The results of a crawl of ``site`` from ``path`` on, in order."""
    return [
        result
        async for result in plan_crawl(options_of(site, path, **options), known, limits=LIMITS)
    ]


def planned(results: list[Result], site: Website) -> list[str]:
    """Paths of the pages to read, in order."""
    start = len(site.url(""))
    return [result.source_uri[start:] for result in results if isinstance(result, PageToRead)]


def reasons(results: list[Result], site: Website) -> dict[str, str]:
    """Path to reason of what was left out or failed."""
    start = len(site.url(""))
    return {
        result.source_uri[start:]: result.reason
        for result in results
        if not isinstance(result, PageToRead)
    }
