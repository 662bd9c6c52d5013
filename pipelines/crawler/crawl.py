"""A crawl: from one address to the pages of its site, politely, each reported once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from urllib.parse import urlsplit

from helix.domain.file_kinds import supported_name
from pipelines.crawler.content import PAGE_KIND, Content, content_of
from pipelines.crawler.discovery import SiteClosed, robots_of, sitemap_pages
from pipelines.crawler.fetch import (
    GONE,
    Fetcher,
    FetchError,
    NotADocument,
    NotFollowed,
    Page,
)
from pipelines.crawler.frontier import Frontier, Step
from pipelines.crawler.guard import ForbiddenAddress
from pipelines.crawler.options import CrawlOptions
from pipelines.crawler.results import FinishedPage, Ignored, Result, StoredPage, StoredPages
from pipelines.crawler.robots import Robots
from pipelines.crawler.urls import Site, file_name, identity, origin_of

MOST_MOVES = 3
"""Other hosts that the start may lead to, one after the other (to https, to www)."""
MOST_AWAY = 10
"""Pages in a row without an answer after which the site is taken for gone."""

_DISALLOWED = "its robots.txt does not allow it"


class Crawl:
    """One crawl. ``run`` yields what becomes of each page, in the order they are asked for."""

    def __init__(self, fetcher: Fetcher, options: CrawlOptions, stored_pages: StoredPages) -> None:
        self._fetcher = fetcher
        self._options = options
        self._stored_page = stored_pages
        self._rules = Robots()
        self._by_links = True
        self._hashes: dict[str, str] = {}  # content hash to the source_uri that has it
        self._taken_uris: set[str] = set()  # source_uris that have their page
        self._failed: set[str] = set()
        self._requests = 0
        self._away = 0
        self.cut_short = ""
        """The reason why not all of the site was looked at; empty where it was."""
        self._settle_on(options.url)

    async def run(self) -> AsyncGenerator[Result, None]:
        """The results; nothing is raised for what a site does or does not do."""
        start: Page | None = None
        try:
            start = await self._start()
        except (FetchError, ForbiddenAddress) as error:
            self.cut_short = str(error)
            yield self._track_failure(
                FinishedPage(identity(self._options.url), "failed", str(error))
            )
            if not isinstance(error, FetchError) or isinstance(error, SiteClosed) or error.away:
                return
        await self._find_pages()
        if start is not None:
            yield self._track_failure(
                await self._settle(Step(start.final_url, 0), start, is_start=True)
            )
        while (step := self._next()) is not None:
            yield self._track_failure(await self._visit(step))
        early_end = self._early_end()
        if early_end is not None:
            self.cut_short = early_end.reason
            yield early_end

    def allows(self, url: str) -> bool:
        """True where the site's robots.txt, had by ``run``, lets a normalised ``url`` be asked."""
        return self._rules.allows(url)

    async def _start(self) -> Page:
        """The first page; where it leads to another host, the crawl is of that host."""
        url = self._options.url
        for _ in range(MOST_MOVES):
            self._settle_on(url)
            self._rules = await robots_of(self._fetcher, origin_of(url))
            self._fetcher.pace.at_least(self._rules.delay)
            if not self._rules.allows(url):
                raise SiteClosed(_DISALLOWED)
            self._requests = 1
            try:
                page = await self._fetcher.get(url, self._usable, self._not_from_start)
            except NotFollowed as elsewhere:
                if origin_of(elsewhere.url) == self._site.origin:
                    raise
                url = elsewhere.url
                continue
            self._settle_on(page.final_url)
            self._frontier.mark(url)
            return page
        raise SiteClosed(f"it leads from host to host, more than {MOST_MOVES} times")

    def _settle_on(self, url: str) -> None:
        self._site = Site.around(url, self._options.prefix)
        self._frontier = Frontier(self._site, self._options.depth)
        self._frontier.mark(url)

    def _not_from_start(self, target: str) -> str | None:
        if origin_of(target) != self._site.origin:
            return "redirects to another host"
        return None if self._rules.allows(target) else _DISALLOWED

    async def _find_pages(self) -> None:
        listed = self._pages_among(await sitemap_pages(self._fetcher, self._site, self._rules))
        self._by_links = not any(self._frontier.is_new(url) for url in listed)
        self._frontier.add(listed, 0)

    def _pages_among(self, urls: Iterable[str]) -> list[str]:
        """The web pages among ``urls``; with ``files``, documents of other formats too."""
        return [url for url in urls if self._options.files or not _is_file(url)]

    def _next(self) -> Step | None:
        if self._requests >= self._options.pages or self._away >= MOST_AWAY:
            return None
        while (step := self._frontier.next()) and identity(step.url) in self._taken_uris:
            pass  # queued, and then another page turned out to be it
        return step

    def _track_failure(self, result: Result) -> Result:
        """Keeps track of what failed: a ``source_uri`` is reported once."""
        if isinstance(result, FinishedPage) and result.status == "failed":
            self._failed.add(result.source_uri)
        return result

    def _early_end(self) -> Ignored | None:
        """The reason why a crawl ended early; None where it did not."""
        start, remaining = identity(self._options.url), len(self._frontier)
        if not remaining:
            return None
        if self._away >= MOST_AWAY:
            return Ignored(
                start, f"stopped: {MOST_AWAY} pages in a row did not answer, {remaining} left"
            )
        return Ignored(
            start, f"stopped at {self._requests} pages, {remaining} more are known: --pages"
        )

    async def _visit(self, step: Step) -> Result:
        uri = identity(step.url)
        if not self._rules.allows(step.url):
            return Ignored(uri, _DISALLOWED)
        self._requests += 1
        try:
            page = await self._fetcher.get(step.url, self._usable, self._not_from(step))
        except (NotFollowed, NotADocument) as error:
            return Ignored(uri, str(error))
        except ForbiddenAddress as error:
            return FinishedPage(uri, "failed", str(error))
        except FetchError as error:
            self._away = self._away + 1 if error.away else 0
            return FinishedPage(uri, "failed", str(error))
        self._away = 0
        return await self._settle(step, page)

    def _usable(self, url: str) -> StoredPage | None:
        """The stored page, where a 304 would do: its links have to be known too."""
        stored = self._stored_page(url)
        return None if stored and stored.links is None and self._by_links else stored

    def _not_from(self, step: Step) -> Callable[[str], str | None]:
        """The reason why a redirect on the way from ``step`` is not followed."""
        on_the_way = {identity(step.url)}

        def reason(target: str) -> str | None:
            if not self._site.covers(target):
                return "redirects to what is not part of this crawl"
            if not self._rules.allows(target):
                return _DISALLOWED
            if identity(target) not in on_the_way and not self._frontier.mark(target):
                return "redirects to a page that is dealt with already"
            on_the_way.add(identity(target))
            return None

        return reason

    async def _settle(self, step: Step, page: Page, *, is_start: bool = False) -> Result:
        """Handle an answer: its content, a failure, or a reason to ignore it; queue its links."""
        uri = identity(page.final_url)
        if page.status == 304:
            return self._settle_unchanged(step, page)
        if page.status != 200:
            reason = f"the site answered {page.status}"
            return FinishedPage(identity(step.url), "failed", reason, page.status in GONE)
        try:
            content = await asyncio.to_thread(content_of, page)
        except NotADocument as error:
            return FinishedPage(uri, "failed", str(error)) if is_start else Ignored(uri, str(error))
        except FetchError as error:
            return FinishedPage(uri, "failed", str(error))
        if self._by_links:
            self._frontier.add(self._pages_among(content.links), step.depth + 1)
        if content.noindex:
            return Ignored(uri, "it asks not to be indexed (noindex)")
        if content.kind != PAGE_KIND and not (is_start or self._options.files):
            return Ignored(uri, f"no page but a {content.kind} file: --files takes it")
        return self._take(content)

    def _settle_unchanged(self, step: Step, page: Page) -> Result:
        stored = self._stored_page(page.final_url)
        if stored is None:
            return FinishedPage(identity(step.url), "failed", "the site answered 304")
        if self._by_links:
            self._frontier.add(self._pages_among(stored.links or ()), step.depth + 1)
        if stored.source_uri in self._taken_uris | self._failed:
            return Ignored(identity(step.url), f"the same page as {stored.source_uri}")
        self._remember(stored.source_uri, stored.content_hash)
        return FinishedPage(stored.source_uri, "unchanged")

    def _take(self, content: Content) -> Result:
        """A page to read, unless it is there already: in the database or in this crawl."""
        address, digest = identity(content.url), content.content_hash
        if digest in self._hashes:
            return Ignored(address, f"the same as {self._hashes[digest]}")
        uri = content.source_uri
        if uri in self._failed or (uri in self._taken_uris and not _same_path(uri, address)):
            # every page calls the home page its canonical one: a mistake, not a thousand copies
            uri = address
        if uri in self._taken_uris:
            return Ignored(address, f"the same page as {uri}")
        self._remember(uri, digest)
        stored = self._stored_page(content.url) or self._stored_page(uri)
        if stored and stored.content_hash == digest and stored.source_uri == uri:
            return FinishedPage(uri, "unchanged")
        return content.page_to_read(uri, with_links=self._by_links)

    def _remember(self, source_uri: str, content_hash: str) -> None:
        self._taken_uris.add(source_uri)
        self._hashes.setdefault(content_hash, source_uri)
        self._frontier.mark(source_uri)


def _same_path(one: str, other: str) -> bool:
    return urlsplit(one).path.rstrip("/") == urlsplit(other).path.rstrip("/")


def _is_file(url: str) -> bool:
    """True where the file name is of a document that Helix reads and that is no web page."""
    name = file_name(url)
    return supported_name(name) and not name.lower().endswith((".html", ".htm", ".xhtml"))
