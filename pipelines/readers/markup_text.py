"""The words of HTML elements: what is text in them, what is not, and where lines end."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
