"""A feed (RSS, Atom) as a source: its entries are documents, or the pages that they name.

A feed is a window: what grows old falls out of it and stays here. Gone is an entry that is missing
between others that are there, or whose page answers 404 or 410.
"""

from __future__ import annotations

from calendar import timegm
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from html import escape
from io import BytesIO
from typing import Any

import feedparser

from pipelines.crawler.content import content_of
from pipelines.crawler.fetch import GONE, FetchError
from pipelines.crawler.guard import ForbiddenAddress
from pipelines.crawler.urls import BadUrl, normalise
from pipelines.sources.base import Entry, EntryGone, Known, SourceError
from pipelines.sources.blocking_fetcher import BlockingFetcher, hosts_of
from pipelines.sources.notes import noted, remembered
from pipelines.valid_metadata import valid_metadata

_LONGEST_KEY = 500
_LONGEST_NAME = 120
_HARMLESS = (feedparser.CharacterEncodingOverride, feedparser.NonXMLContentType)


def open_source(address: str, options: Mapping[str, Any], secrets: Mapping[str, str]) -> FeedSource:
    """The feed at ``address``; with ``pages`` the pages that its entries name are the documents.

    Raises:
        BadRequest: no web address.
    """
    url = normalise(address)
    fetcher = BlockingFetcher(hosts_of(url, options), delay_ms=300 if options.get("pages") else 0)
    return FeedSource(url, fetcher, with_pages=bool(options.get("pages")))


class FeedSource:
    """The entries of a feed; keys are their ids."""

    def __init__(self, url: str, fetcher: BlockingFetcher, *, with_pages: bool) -> None:
        self._url = url
        self._fetcher = fetcher
        self._with_pages = with_pages
        self._known: dict[str, Entry] = {}
        self._texts: dict[str, str] = {}
        self._gone: set[str] = set()

    def recall(self, known: Mapping[str, Known]) -> None:
        """Take the entries that were had before: those that fell out of the feed stay."""
        for key, before in known.items():
            found = remembered(before)
            self._known[key] = found[0] if found else Entry(key, name="entry.html")

    def entries(self) -> Iterator[Entry]:
        """The entries of the feed, then older ones.

        Raises:
            SourceError: there is no feed, or it is cut off.
        """
        self._texts, self._gone = {}, set()
        page = self._fetcher.get(self._url)
        if page.status != 200:
            raise SourceError(f"the feed {self._url} answered {page.status}")
        headers = {"content-type": page.content_type, "content-location": page.final_url}
        parsed = feedparser.parse(BytesIO(page.data), response_headers=headers)
        if not parsed.version:
            raise SourceError(f"{self._url} is no feed: give the address of its RSS or Atom")
        oldest: datetime | None = None
        for item in parsed.entries:
            entry = self._entry(item, str(parsed.feed.get("title", "")))
            oldest = min(filter(None, (oldest, entry.modified)), default=None)
            yield entry
        if parsed.bozo and not isinstance(parsed.bozo_exception, _HARMLESS):
            raise SourceError(f"the feed {self._url} is damaged: {parsed.bozo_exception}")
        yield from self._older(oldest)

    def _older(self, oldest: datetime | None) -> Iterator[Entry]:
        """Entries that are not in the feed any more, but for those that were taken out of it."""
        for key, entry in self._known.items():
            if key in self._texts:
                continue
            is_between = oldest and entry.modified and entry.modified >= oldest
            if is_between and self._is_gone(entry):
                self._gone.add(key)
                continue
            self._texts[key] = ""
            yield entry

    def _is_gone(self, entry: Entry) -> bool:
        """True where the entry's page says so, or it has none."""
        try:
            return not entry.url or self._fetcher.get(normalise(entry.url)).status in GONE
        except BadUrl:
            return True
        except (FetchError, ForbiddenAddress):
            return False

    def _entry(self, item: Any, feed: str) -> Entry:
        text = _html_of(item)
        key = str(item.get("id") or item.get("link") or sha256(text.encode()).hexdigest())
        key = key if len(key) <= _LONGEST_KEY else sha256(key.encode()).hexdigest()
        self._texts[key] = text
        tags = [str(tag.get("term") or "") for tag in item.get("tags", ())]
        metadata = valid_metadata({"author": item.get("author"), "feed": feed, "categories": tags})
        title = str(item.get("title") or "entry").replace("/", "-")[:_LONGEST_NAME]
        entry = Entry(
            key,
            modified=_time_of(item),
            etag=sha256(text.encode()).hexdigest(),
            name=f"{title}.html",
            url=str(item.get("link") or ""),
            metadata=metadata,
        )
        return noted(entry)

    def read(self, entry: Entry) -> bytes:
        """The entry as a page of HTML, or the page that it names."""
        if self._with_pages and entry.url:
            return self._page(entry.url)
        text = self._texts.get(entry.key)
        if not text:
            raise SourceError("it fell out of the feed: it is read when the feed has it again")
        return text.encode()

    def _page(self, url: str) -> bytes:
        page = self._fetcher.get(normalise(url))
        if page.status in GONE:
            raise EntryGone(f"its page answered {page.status}")
        if page.status != 200:
            raise SourceError(f"its page answered {page.status}")
        return content_of(page).data

    def is_there(self, key: str) -> bool:
        """False where it is missing between others of the feed, and its page is gone too."""
        return key not in self._gone

    def close(self) -> None:
        """Close the connection."""
        self._fetcher.close()


def _html_of(item: Any) -> str:
    """The entry as a page: its title and its longest text; feedparser has cleaned that."""
    texts = [str(part.get("value") or "") for part in item.get("content", ())]
    body = max([*texts, str(item.get("summary") or "")], key=len)
    title = escape(str(item.get("title") or ""))
    return (
        f'<!doctype html><html><head><meta charset="utf-8"><title>{title}</title></head>'
        f"<body><article><h1>{title}</h1>\n<div>{body}</div></article></body></html>"
    )


def _time_of(item: Any) -> datetime | None:
    parsed = item.get("updated_parsed") or item.get("published_parsed")
    return datetime.fromtimestamp(timegm(parsed), UTC) if parsed else None
