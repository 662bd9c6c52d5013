"""sitemap.xml: the addresses in it, by an XML parser that knows no entities of the file's own."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat

from pipelines.crawler.fetch import FetchError, gunzip

LARGEST = 50 * 2**20
"""Bytes of one sitemap, decompressed (sitemaps.org)."""
MOST_URLS = 50_000
"""Addresses that are taken from one sitemap (sitemaps.org)."""
_DEEPEST = 20


class BadSitemap(Exception):
    """Not a sitemap; the message says why."""


@dataclass
class Sitemap:
    """``pages``, and ``sitemaps`` where it is an index; addresses as they are written.

    ``is_truncated`` says that it lists more than MOST_URLS, and that the others are left out.
    """

    pages: list[str] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)
    is_truncated: bool = False


def parse(data: bytes) -> Sitemap:
    """A sitemap or an index of sitemaps, gzipped or not; the first MOST_URLS addresses.

    Raises:
        BadSitemap: not XML, declares a document type, too deep or too large.
    """
    reading = _Reading()
    try:
        data = gunzip(data, LARGEST) if data.startswith(b"\x1f\x8b") else data
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = reading.doctype
        parser.StartElementHandler = reading.start
        parser.EndElementHandler = reading.end
        parser.CharacterDataHandler = reading.text
        parser.Parse(data.lstrip(), True)
    except (expat.ExpatError, ValueError, LookupError):
        raise BadSitemap("not XML") from None
    except FetchError as error:
        raise BadSitemap(str(error)) from None
    except _Enough:
        reading.sitemap.is_truncated = True
    return reading.sitemap


class _Enough(Exception):
    """One address more than is taken of a sitemap was met."""


class _Reading:
    def __init__(self) -> None:
        self.sitemap = Sitemap()
        self._open: list[str] = []
        self._location: list[str] = []

    def doctype(self, *_: object) -> None:
        raise BadSitemap("it declares a document type")

    def start(self, name: str, _: object) -> None:
        self._open.append(name.rpartition(" ")[2])
        if len(self._open) > _DEEPEST:
            raise BadSitemap("too deep")
        self._location.clear()

    def text(self, text: str) -> None:
        if self._open[-1] == "loc":
            self._location.append(text)

    def end(self, _: str) -> None:
        name = self._open.pop()
        if name == "loc" and self._location and self._open:
            addresses = {"url": self.sitemap.pages, "sitemap": self.sitemap.sitemaps}
            if (addresses_of_kind := addresses.get(self._open[-1])) is not None:
                self._keep(addresses_of_kind, "".join(self._location).strip())
        self._location.clear()

    def _keep(self, addresses: list[str], address: str) -> None:
        if len(self.sitemap.pages) + len(self.sitemap.sitemaps) == MOST_URLS:
            raise _Enough
        addresses.append(address)
