"""A website as a source: its pages, by a crawl that asks for what changed.

A page is gone where the site says so: 404 or 410, moved for good, or asks not to be indexed. One
that no page and no sitemap names any more is asked for by itself, and stays while it answers.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from pipelines.crawler.content import Content, content_of
from pipelines.crawler.crawl import Crawl
from pipelines.crawler.fetch import GONE, FetchError, NotFollowed, Page
from pipelines.crawler.options import CrawlOptions
from pipelines.crawler.results import FinishedPage, PageToRead, Result, StoredPage
from pipelines.sources.base import Entry, EntryGone, Known, SourceError
from pipelines.sources.blocking_fetcher import BlockingFetcher, hosts_of, page_name
from pipelines.sources.notes import noted, remembered
from pipelines.sources.spool import Spool

PAGES = 1000
"""Pages that are asked for, where the source does not say how many."""


def open_source(address: str, options: Mapping[str, Any], secrets: Mapping[str, str]) -> WebSource:
    """The site at ``address``, below its path, as ``helix crawl`` takes it.

    Raises:
        BadRequest: an option is none.
    """
    given = {**options, "url": address, "allow_hosts": hosts_of(address, options)}
    return WebSource(CrawlOptions.from_dict({"pages": PAGES, **given}))


class WebSource:
    """The pages of a site; keys are their addresses."""

    def __init__(self, options: CrawlOptions) -> None:
        self._options = options
        self._fetcher = BlockingFetcher(options.allow_hosts, options.delay_ms)
        self._spool = Spool()
        self._known: dict[str, Entry | None] = {}
        self._stored: dict[str, StoredPage] = {}
        self._found: dict[str, str] = {}  # by key, why the page cannot be had; empty where it can
        self._gone: set[str] = set()

    def recall(self, known: Mapping[str, Known]) -> None:
        """Take pages that were had before, with what makes a request for them conditional."""
        for key, before in known.items():
            entry, notes = remembered(before) or (None, {})
            self._known[key] = entry
            if entry is not None:
                page = StoredPage.from_origin(key, notes["hash"], notes)
                self._stored |= {key: page, entry.url: page}

    def entries(self) -> Iterator[Entry]:
        """The pages of the crawl, then those that it did not meet and that still answer.

        Raises:
            SourceError: the site was not looked at whole.
        """
        self._found, self._gone = {}, set()
        crawl = Crawl(self._fetcher.fetcher, self._options, self._stored.get)
        results = crawl.run()
        while (result := self._fetcher.run(_next(results))) is not None:
            if entry := self._met(result):
                yield entry
        if crawl.cut_short:
            raise SourceError(f"{self._options.url}: {crawl.cut_short}")
        for key in sorted(self._known.keys() - self._found.keys() - self._gone):
            if not crawl.allows(key):
                yield self._kept(key, "its robots.txt does not allow it")
            elif entry := self._asked(key):
                yield entry

    def _met(self, result: Result) -> Entry | None:
        if isinstance(result, PageToRead):
            return self._had(
                result.source_uri, result.data, result.media, str(result.origin["url"]),
                {name: value for name, value in result.origin.items() if name != "url"},
            )  # fmt: skip
        if not isinstance(result, FinishedPage):
            return None
        if result.gone:
            self._gone.add(result.source_uri)
            return None
        return self._kept(result.source_uri, result.reason)

    def _had(
        self, key: str, data: bytes, kind: str, url: str, validators: Mapping[str, Any]
    ) -> Entry:
        self._spool.put(key, data)
        self._found[key] = ""
        digest = sha256(data).hexdigest()
        entry = Entry(key, size=len(data), etag=digest, name=page_name(url, kind), url=url)
        return noted(entry, hash=digest, **validators)

    def _kept(self, key: str, reason: str) -> Entry:
        """The page as it is known; one that cannot be had is listed, so that its read says why."""
        self._found[key] = reason
        entry = self._known.get(key)
        if entry is not None and not reason:
            return entry
        return Entry(key, name=entry.name if entry else page_name(key, "html"), url=key)

    def _asked(self, key: str) -> Entry | None:
        """The page asked for by itself; None where it is gone."""
        entry = self._known.get(key)
        url = entry.url if entry else key
        try:
            page = self._fetcher.get(url, self._stored.get(key), _not_followed)
            if page.status in GONE:
                self._gone.add(key)
                return None
            if page.status == 304 and entry:
                return self._kept(key, "")
            if page.status != 200:
                return self._kept(key, f"the site answered {page.status}")
            content = content_of(page)
        except NotFollowed as error:
            if not error.for_good:
                return self._kept(key, str(error))
            self._gone.add(key)
            return None
        except FetchError as error:
            if error.away:  # so are the others: the listing ends here
                raise
            return self._kept(key, str(error))
        return self._answered(key, content)

    def _answered(self, key: str, content: Content) -> Entry | None:
        if content.noindex or (content.source_uri != key and content.source_uri in self._found):
            self._gone.add(key)
            return None
        validators = {"etag": content.etag, "last_modified": content.last_modified}
        return self._had(key, content.data, content.kind, content.url, validators)

    def read(self, entry: Entry) -> bytes:
        """The page as the listing had it, or asked for once more."""
        if reason := self._found.get(entry.key):
            raise SourceError(reason)
        if (data := self._spool.get(entry.key)) is not None:
            return data
        page = self._page(entry)
        if page.status in GONE:
            raise EntryGone(f"the site answered {page.status}")
        if page.status != 200:
            raise SourceError(f"the site answered {page.status}")
        return content_of(page).data

    def _page(self, entry: Entry) -> Page:
        try:
            return self._fetcher.get(entry.url or entry.key)
        except FetchError as error:
            if error.away:
                self._found.pop(entry.key, None)  # so that ``is_there`` asks the site anew
            raise

    def is_there(self, key: str) -> bool:
        """False where the site says that the page is gone, or moved for good."""
        if key not in self._gone and key not in self._found:
            self._asked(key)
        return key not in self._gone

    def close(self) -> None:
        """Close the connection; what was spooled goes."""
        self._fetcher.close()
        self._spool.close()


def _not_followed(target: str) -> str | None:
    return f"it redirects to {urlsplit(target).path}"


async def _next(results: AsyncGenerator[Result, None]) -> Result | None:
    return await anext(results, None)
