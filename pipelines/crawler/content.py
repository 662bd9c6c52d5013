"""From an answer to what the writing path takes: its kind, its bytes, where it leads."""

from __future__ import annotations

import hashlib
from codecs import BOM_UTF8, BOM_UTF16_LE
from contextlib import suppress
from dataclasses import dataclass
from email.message import Message

from helix.domain.file_kinds import problem, sniff
from pipelines.crawler.fetch import FetchError, NotADocument, Page
from pipelines.crawler.links import Links, find_links, is_page_charset, robots_directives
from pipelines.crawler.results import PageToRead
from pipelines.crawler.urls import file_name, identity, origin_of, try_normalise

PAGE_KIND = "html"

_PAGE_MIMES = ("text/html", "application/xhtml+xml")
_TEXTS = {"text/markdown": "markdown", "text/csv": "csv"}
_LOOSE = (None, "text", "markdown", "csv", PAGE_KIND)
"""Kinds of bytes without a signature of their own: here the site's Content-Type counts for more."""


@dataclass(frozen=True)
class Content:
    """A page's bytes as they are kept; ``links`` are normalised and on the page's own host.

    ``source_uri`` is the canonical address where the page names one on its host, else its own.
    """

    url: str
    kind: str
    data: bytes
    source_uri: str
    links: tuple[str, ...]
    noindex: bool
    etag: str
    last_modified: str

    @property
    def content_hash(self) -> str:
        """SHA-256 in hex, as ``documents.content_hash``."""
        return hashlib.sha256(self.data).hexdigest()

    def page_to_read(
        self, source_uri: str, *, title: str | None = None, with_links: bool = False
    ) -> PageToRead:
        """The page under ``source_uri``; ``with_links`` where the next crawl needs them."""
        origin: dict[str, object] = {
            "url": self.url,
            "etag": self.etag,
            "last_modified": self.last_modified,
        }
        if with_links:
            origin["links"] = list(self.links)
        return PageToRead(source_uri, self.data, self.kind, title, origin)


def content_of(page: Page) -> Content:
    """The content of an answer of status 200.

    Raises:
        FetchError: empty.
        NotADocument: nothing that Helix reads.
    """
    if not page.data.strip():
        raise FetchError("empty: there is nothing in it")
    mime, charset = _declared(page.content_type)
    kind = _kind(page, mime)
    if kind is None:
        raise NotADocument(f"not a document: {problem(page.data, file_name(page.final_url))}")
    data = (
        _as_utf8(page.data, charset) if mime.startswith("text/") or kind == PAGE_KIND else page.data
    )
    noindex, nofollow = robots_directives(page.robots_tag)
    links = find_links(data) if kind == PAGE_KIND else Links()
    return Content(
        url=page.final_url,
        kind=kind,
        data=data,
        source_uri=_canonical(page.final_url, links),
        links=() if nofollow or links.nofollow else _absolute(page.final_url, links),
        noindex=noindex or links.noindex,
        etag=page.etag[:500],
        last_modified=page.last_modified[:100],
    )


def _declared(content_type: str) -> tuple[str, str | None]:
    """(mime type in lower case, charset) of a Content-Type header."""
    message = Message()
    message["content-type"] = content_type.replace("\r", " ").replace("\n", " ")
    charset = message.get_param("charset")
    mime = content_type.partition(";")[0].strip().lower()
    return mime, charset if isinstance(charset, str) else None


def _kind(page: Page, mime: str) -> str | None:
    kind = sniff(page.data, file_name(page.final_url))
    if kind not in _LOOSE:
        return kind
    if kind == PAGE_KIND or (mime in _PAGE_MIMES and b"\0" not in page.data[:1024]):
        return PAGE_KIND
    return _TEXTS.get(mime, kind) if kind == "text" else kind


def _as_utf8(data: bytes, charset: str | None) -> bytes:
    """Text in an encoding that the header names as marked UTF-8: readers see the bytes only."""
    if charset and is_page_charset(charset) and not data.startswith((BOM_UTF8, BOM_UTF16_LE)):
        with suppress(UnicodeDecodeError):
            data.decode()
            return data
        with suppress(UnicodeDecodeError, LookupError):
            return BOM_UTF8 + data.decode(charset).encode()
    return data


def _canonical(url: str, found: Links) -> str:
    canonical = try_normalise(found.canonical, url) if found.canonical else None
    return identity(canonical if canonical and origin_of(canonical) == origin_of(url) else url)


def _absolute(url: str, found: Links) -> tuple[str, ...]:
    """The links that stay on the host (by http or https), normalised, each once."""
    base = (try_normalise(found.base, url) if found.base else None) or url
    host = origin_of(url).partition("://")[2]
    links: dict[str, None] = {}
    for link in found.links:
        absolute = try_normalise(link, base)
        if absolute and origin_of(absolute).partition("://")[2] == host:
            links[absolute] = None
    return tuple(links)
