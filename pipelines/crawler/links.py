"""A page's links, canonical address and robots directives, by a scan in linear time.

No HTML parser: this runs in the worker itself, on whatever a site sends. Each step goes forward
and none looks back; comments, scripts and styles are passed over.
"""

from __future__ import annotations

import html
import re
from contextlib import suppress
from dataclasses import dataclass, field

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
