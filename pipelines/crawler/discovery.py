"""Before the first page: what robots.txt allows, and what sitemaps list."""

from __future__ import annotations

import logging

from pipelines.crawler import robots, sitemap
from pipelines.crawler.fetch import PRODUCT, Fetcher, FetchError, NotFollowed
from pipelines.crawler.guard import ForbiddenAddress
from pipelines.crawler.robots import Robots
from pipelines.crawler.urls import Site, origin_of, try_normalise

_logger = logging.getLogger(__name__)

MOST_SITEMAPS = 50
"""Sitemap files that one crawl reads."""
SLOWEST = 60.0
"""The longest Crawl-delay, in seconds, that is kept to; a site that asks for more is left alone."""


class SiteClosed(FetchError):
    """robots.txt cannot be had, or asks for what a crawl cannot do: no page is asked for."""


async def robots_of(fetcher: Fetcher, origin: str) -> Robots:
    """The rules of ``origin`` (RFC 9309, 2.3.1): without a robots.txt (4xx) all is allowed.

    Raises:
        SiteClosed: it cannot be had (5xx, no answer), so nothing may be asked for.
        ForbiddenAddress: the guard refuses the site.
    """
    try:
        page = await fetcher.get(f"{origin}/robots.txt", largest=robots.LARGEST)
    except ForbiddenAddress:
        raise
    except FetchError as error:
        raise SiteClosed(f"its robots.txt cannot be had: {error}", away=error.away) from None
    if page.status >= 500 or page.status == 429:
        raise SiteClosed(
            f"its robots.txt answered {page.status}, so nothing else is asked for: try again later"
        )
    if page.status != 200:
        return Robots()
    robots_file = robots.parse(page.data.decode("utf-8", errors="replace"), PRODUCT)
    if robots_file.delay > SLOWEST:
        raise SiteClosed(f"its robots.txt asks for {robots_file.delay:g} s between two pages")
    return robots_file


async def sitemap_pages(fetcher: Fetcher, site: Site, rules: Robots) -> list[str]:
    """The pages of ``site`` that its sitemaps list, normalised, each once; none is no error.

    Looked for where robots.txt says, at the root and at the prefix. Sitemaps of other hosts, and
    what cannot be read, are passed over.
    """
    folder = site.prefix.rpartition("/")[0]
    waiting = [*rules.sitemaps, f"{site.origin}/sitemap.xml", f"{site.origin}{folder}/sitemap.xml"]
    pages: dict[str, None] = {}
    visited: set[str] = set()
    while waiting and len(visited) < MOST_SITEMAPS and len(pages) < sitemap.MOST_URLS:
        url = _on_site(waiting.pop(0), site)
        if url is None or url in visited or not rules.allows(url):
            continue
        visited.add(url)
        listed = await _sitemap(fetcher, url)
        waiting += listed.sitemaps[:MOST_SITEMAPS]
        for page in listed.pages:
            address = _on_site(page, site)
            if address is not None and site.covers(address):
                pages[address] = None
    return list(pages)[: sitemap.MOST_URLS]


def _on_site(url: str, site: Site) -> str | None:
    """``url`` where it is on the site's host, else None."""
    address = try_normalise(url, f"{site.origin}/")
    adopted = site.adopt(address) if address else None
    return adopted if adopted and origin_of(adopted) == site.origin else None


async def _sitemap(fetcher: Fetcher, url: str) -> sitemap.Sitemap:
    def same_host(target: str) -> str | None:
        return None if origin_of(target) == origin_of(url) else "another host"

    try:
        page = await fetcher.get(url, follow=same_host, largest=sitemap.LARGEST)
        parsed = sitemap.parse(page.data) if page.status == 200 else sitemap.Sitemap()
    except (NotFollowed, FetchError, ForbiddenAddress, sitemap.BadSitemap):
        return sitemap.Sitemap()
    if parsed.is_truncated:
        _logger.warning(
            "a sitemap lists over %d addresses: the rest is left out", sitemap.MOST_URLS
        )
    return parsed
