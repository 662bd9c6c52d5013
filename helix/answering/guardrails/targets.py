"""Targets allowed to an answer's links: hosts of its sources, or exactly a target of their links.

Nothing here decodes anything: a target in another spelling than the plain one is not allowed, so
no renderer can read another host in it than is read here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from urllib.parse import urlsplit

from helix.domain.context import Source

# What ends a URL in running text: white space, and what no URL has unescaped.
URL_END = r"\s<>\"`\[\]|\\{}^。，、；！？）」』】》…"

_AUTHORITY = re.compile(
    r"(https?)://([a-z0-9](?:[a-z0-9.-]{0,252}))(?::(\d{1,5}))?", re.IGNORECASE | re.ASCII
)
_WEB = re.compile(rf"{_AUTHORITY.pattern}(?:[/?#][^\s<>\"`\\]*+)?", _AUTHORITY.flags)
_SCHEME = re.compile(r"[\x00-\x20]*([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_BARE = re.compile(
    rf"(?:[a-z][a-z0-9+.-]{{1,30}}://|\b(?:www\.|mailto:|xmpp:))[^{URL_END}]+", re.IGNORECASE
)
_IN_BRACKETS = re.compile(r"\]\(\s*<?([^\s<>()]+(?:\([^\s<>()]*\)[^\s<>()]*)?)|<([a-z][^\s<>]*)>")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_NEVER = ("javascript", "vbscript", "data", "blob", "filesystem")
_TRAILING = ".,;:!?'\")*_~"


def trimmed(url: str) -> str:
    """``url`` without the punctuation of the sentence around it; a bracket it opened stays."""
    while url and url[-1] in _TRAILING:
        if url[-1] == ")" and url.count("(") >= url.count(")"):
            break
        url = url[:-1]
    return url


class Targets:
    """The targets that the sources of one answer allow.

    Args:
        sources: the sources of the answer; their texts are read when they are first needed.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources

    def allows(self, target: str, *, image: bool) -> bool:
        """True if a link may lead to ``target``, or an image be loaded from it.

        A host of a source serves both. A link may also be the exact copy of one in a source's
        text, which carries nothing away; an image may not, for it is loaded unasked.
        """
        return self._known_host(target) or (not image and self._copied(target))

    def host_end(self, url: str) -> int | None:
        """The end of the host and port that ``url`` begins with; None where no source has them."""
        found = _AUTHORITY.match(url)
        known = found is not None and _place(found[1], found[2], found[3]) in self._hosts
        return found.end() if found and known else None

    def quotes(self, text: str) -> bool:
        """True if ``text`` stands in a source, word for word."""
        return any(text in source.content for source in self._sources)

    def _known_host(self, target: str) -> bool:
        found = _WEB.fullmatch(target)
        return found is not None and _place(found[1], found[2], found[3]) in self._hosts

    def _copied(self, target: str) -> bool:
        scheme = _SCHEME.match(target)
        if scheme and scheme[1].lower() in _NEVER:
            return False
        return target in self._copies

    @cached_property
    def _hosts(self) -> frozenset[tuple[str, str]]:
        uris = (hit.source_uri for source in self._sources for hit in source.hits)
        return frozenset(place for uri in uris if (place := _place_of(uri)))

    @cached_property
    def _copies(self) -> frozenset[str]:
        found: set[str] = set()
        for source in self._sources:
            for bare in _BARE.findall(source.content):
                found |= {bare, trimmed(bare)}
            for bracketed, angled in _IN_BRACKETS.findall(source.content):
                found.add(bracketed or angled)
        return frozenset(found)


def _place(scheme: str, host: str, port: str | None) -> tuple[str, str]:
    return host.lower().rstrip("."), port or _DEFAULT_PORTS[scheme.lower()]


def _place_of(uri: str) -> tuple[str, str] | None:
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in _DEFAULT_PORTS or not host:
        return None
    return _place(parts.scheme, host, str(port) if port else None)
