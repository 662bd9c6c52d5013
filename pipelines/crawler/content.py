"""From an answer to what the writing path takes: its kind, its bytes, where it leads.

Links, canonical address and robots directives are read by a scan in linear time. No HTML parser:
this runs in the worker itself, on whatever a site sends. Each step goes forward and none looks
back; comments, scripts and styles are passed over.
"""

from __future__ import annotations

import hashlib
import html
import re
from codecs import BOM_UTF8, BOM_UTF16_LE
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import Message

from helix.domain.file_kinds import problem, sniff
from pipelines.crawler.fetch import FetchError, NotADocument, Page
from pipelines.crawler.results import PageToRead
from pipelines.crawler.urls import file_name, identity, origin_of, try_normalise

LARGEST = 8 * 2**20
"""Bytes of a page that are looked at."""
MOST_TAGS = 20_000
MOST_ATTRIBUTES = 30
"""Of one tag. With MOST_TAGS it bounds the time: a second for the worst page."""
MOST_LINKS = 5_000

_TAG = re.compile(
    r"<(?:(!--)|(a|area|base|link|meta|script|style|textarea|template)(?=[\s/>]))", re.IGNORECASE
)
_ATTRIBUTE = re.compile(
    r"""[\s/]*(?:(>)|([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*)))?|(=))"""
)
_ROBOT = "helixbot"  # our name in marks for robots, in lower case
_SKIPPED = ("script", "style", "textarea", "template")
_CLOSING = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in _SKIPPED}
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?([A-Za-z0-9_-]{1,20})""", re.I)
_CODECS = re.compile(
    r"utf-?8|us-ascii|iso-?8859-\d{1,2}|latin-?1|(?:windows-|cp)125\d|shift_jis|euc-(?:jp|kr)"
    r"|gb(?:k|2312|18030)|big5|koi8-[ru]",
    re.IGNORECASE,
)
"""The encodings that are believed: Python has others that are no encodings of pages, and slow."""


@dataclass
class Links:
    """Addresses as they are written; ``base`` is what they are relative to, where the page says."""

    links: list[str] = field(default_factory=list)
    base: str | None = None
    canonical: str | None = None
    noindex: bool = False
    nofollow: bool = False


def find_links(data: bytes) -> Links:
    """The links of the page ``data``, at most MOST_LINKS, each once, in order."""
    text = _decoded(data[:LARGEST])
    links = Links()
    addresses: dict[str, None] = {}
    position = 0
    for _ in range(MOST_TAGS):
        tag = _TAG.search(text, position)
        if tag is None or len(addresses) >= MOST_LINKS:
            break
        if tag[1]:
            position = _after(text, "-->", tag.end() - 2)  # <!--> is a whole one
            continue
        name = tag[2].lower()
        attributes, position = _attributes(text, tag.end())
        if name in _SKIPPED:
            closing = _CLOSING[name].search(text, position)
            # a script that is not closed goes on to the end
            position = closing.end() if closing else len(text)
        elif name in ("a", "area"):
            if attributes.get("href"):
                addresses[attributes["href"]] = None
        else:
            _head(links, name, attributes)
    links.links = list(addresses)
    return links


def is_page_charset(name: str) -> bool:
    """True where ``name`` is an encoding that web pages have."""
    return _CODECS.fullmatch(name) is not None


def robots_directives(value: str) -> tuple[bool, bool]:
    """(noindex, nofollow) of an X-Robots-Tag header; ``other-bot: noindex`` is not for us."""
    noindex = nofollow = False
    mine = True
    for part in value.lower().split(","):
        name, colon, rest = part.partition(":")
        if colon and name.strip() != "unavailable_after":
            mine, part = name.strip() == _ROBOT, rest
        if mine:
            noindex |= part.strip() in ("noindex", "none")
            nofollow |= part.strip() in ("nofollow", "none")
    return noindex, nofollow


def _decoded(data: bytes) -> str:
    declared = _CHARSET.search(data[:2048])
    name = declared[1].decode() if declared else "utf-8"
    with suppress(LookupError):
        return data.decode(name if is_page_charset(name) else "utf-8", errors="replace")
    return data.decode(errors="replace")


def _after(text: str, end: str, position: int) -> int:
    place = text.find(end, position)
    return len(text) if place < 0 else place + len(end)


def _attributes(text: str, position: int) -> tuple[dict[str, str], int]:
    """The attributes of a tag (names in lower case, the first of a name wins), and its end."""
    attributes: dict[str, str] = {}
    for _ in range(MOST_ATTRIBUTES):
        match = _ATTRIBUTE.match(text, position)
        if match is None:
            return attributes, len(text)
        position = match.end()
        if match[1]:
            break
        if match[2]:
            value = match[3] or match[4] or match[5] or ""
            attributes.setdefault(match[2].lower(), html.unescape(value[:4096]).strip())
    return attributes, position


def _head(links: Links, name: str, attributes: dict[str, str]) -> None:
    href = attributes.get("href")
    if name == "base":
        links.base = links.base or href
    elif name == "link" and "canonical" in attributes.get("rel", "").lower().split():
        links.canonical = links.canonical or href
    elif name == "meta" and attributes.get("name", "").lower() in ("robots", _ROBOT):
        noindex, nofollow = robots_directives(attributes.get("content", ""))
        links.noindex |= noindex
        links.nofollow |= nofollow


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
