"""The words of HTML elements: what is text in them, what is not, and where lines end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from lxml.etree import _Element  # type: ignore[import-untyped]

BLOCKS = frozenset(
    "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption "
    "figure footer form header hgroup hr html legend li main nav ol p pre search section summary "
    "table tbody td tfoot th thead tr ul caption".split()
)
PASSED_OVER = frozenset(
    "head script style template noscript iframe object embed svg canvas audio video select "
    "datalist textarea button dialog nav".split()
)
_LINES = frozenset(("br", *(f"h{level}" for level in range(1, 7))))
WHITE = re.compile(r"[ \t\n\r\f\v\xa0\u200b]+")  # a space that does not break is one to a search
CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff\xad]")


def tag_of(element: _Element) -> str:
    """The element's name in lower case, without its namespace."""
    return str(element.tag).rpartition("}")[2].lower()


def texts_of(element: _Element, *, lines: bool) -> Iterator[str]:
    """The texts in an element in order; ``lines`` keeps those of code apart as they are."""
    if tag_of(element) in PASSED_OVER:
        return
    yield element.text or ""
    for child in element:
        if isinstance(child.tag, str):
            if tag_of(child) == "br":
                yield "\n"
            elif not lines and tag_of(child) in BLOCKS:
                yield " "
            yield from texts_of(child, lines=lines)
            if not lines and tag_of(child) in BLOCKS:
                yield " "
        yield child.tail or ""


def one_line_of(element: _Element) -> str:
    """All text of an element in one line."""
    text = CONTROLS.sub("", "".join(texts_of(element, lines=False)))
    return WHITE.sub(" ", text).strip()


def running_share(tree: _Element) -> float:
    """The share of the text, from 0 to 1, in paragraphs that are not mostly links to other pages.

    White space counts once.
    """
    total = running = said = linked = 0
    for text, is_linked in chain(_pieces(tree, is_linked=False), [(None, False)]):
        if text is None:
            total += said
            running += said if linked * 2 <= said else 0
            said = linked = 0
        else:
            length = len(" ".join(text.split()))
            said += length
            linked += length if is_linked else 0
    return running / max(total, 1)


def _pieces(element: _Element, *, is_linked: bool) -> Iterator[tuple[str | None, bool]]:
    """The texts of an element in order, each with whether it is a link's; None ends a paragraph."""
    tag = tag_of(element)
    if tag in PASSED_OVER or "hidden" in element.attrib:
        return
    is_block = tag in BLOCKS or tag in _LINES
    if is_block:
        yield None, False
    is_linked = is_linked or (tag == "a" and not element.get("href", "#").startswith("#"))
    yield element.text or "", is_linked
    for child in element:
        if isinstance(child.tag, str):
            yield from _pieces(child, is_linked=is_linked)
        yield child.tail or "", is_linked
    if is_block:
        yield None, False
