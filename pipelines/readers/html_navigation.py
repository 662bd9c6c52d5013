"""Links along a series of pages, as manuals have above and below each: previous, next, up, home."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from lxml.etree import _Element  # type: ignore[import-untyped]

from pipelines.readers.markup_text import BLOCKS, tag_of
from pipelines.readers.outline import LONGEST_HEADING

_RELATIONS = frozenset("contents first home index last next prev previous start toc top up".split())
_NEVER_DROPPED = frozenset("html body main article caption tbody td tfoot th thead tr".split())
_CONTENT = frozenset(("pre", *(f"h{level}" for level in range(1, 7))))
_FEWEST_LINKS = 2  # links of a part


@dataclass
class _Count:
    """The links and the text of an element, with all that is in it.

    ``along``: links along the series. ``others``: other links, headings, code, and paragraphs
    without a link. In characters, ``linked``: the text of links along the series; ``beside``: text
    that is in no link and no page's title; ``text``: all.
    """

    along: int = 0
    others: int = 0
    linked: int = 0
    beside: int = 0
    text: int = 0

    def add(self, other: _Count) -> None:
        self.along += other.along
        self.others += other.others
        self.linked += other.linked
        self.beside += other.beside
        self.text += other.text


def drop_navigation(tree: _Element) -> None:
    """Take out of a page what only leads along its series of pages.

    The page says itself by ``rel`` where the previous, the next and others are. A part goes whose
    links all lead there or have a key of their own, as "Home" has, at least two, and that says no
    more beside them than they do, but for the titles of these pages. A page of nothing else stays.
    """
    related = [
        one
        for one in tree.iter("a", "link")
        if one.get("href") and _RELATIONS & set(one.get("rel", "").lower().split())
    ]
    places = {one.get("href") for one in related}
    if len(places) < _FEWEST_LINKS:
        return
    counts = _counts(tree, places, _titles(tree, places))
    dropped, inner = list[_Element](), set[_Element]()
    for element in tree.iter():
        if element.getparent() in inner:
            inner.add(element)
        elif element in counts and _is_navigation(element, counts[element]):
            inner.add(element)
            dropped.append(element)
    if sum(counts[one].text for one in dropped) < counts[tree].text:
        for element in dropped:
            element.clear(keep_tail=True)


def _titles(tree: _Element, places: set[str]) -> set[str]:
    """The titles that the page gives itself and those of its series."""
    own = ["".join(one.itertext()) for one in tree.iter("title")]
    given = [
        one.get("title", "")
        for one in tree.iter("a", "link")
        if one.get("href") in places or "accesskey" in one.attrib
    ]
    return {" ".join(title.split()) for title in (*own, *given)}


def _counts(tree: _Element, places: set[str], titles: set[str]) -> dict[_Element, _Count]:
    """The links and the text of each element, with what is in it; in linear time."""
    counts: defaultdict[_Element, _Count] = defaultdict(_Count)
    for element in reversed(list(tree.iter())):
        if not isinstance(element.tag, str) or tag_of(element) in ("head", "script", "style"):
            continue
        count, tag = counts[element], tag_of(element)
        _add_text(count, element.text, titles)
        if tag == "a" and element.get("href"):
            is_along = element.get("href") in places or "accesskey" in element.attrib
            linked = count.text if is_along else 0
            count = _Count(int(is_along), int(not is_along), linked, 0, count.text)
            counts[element] = count
        elif tag in ("td", "th", "li") and _is_title(element, count, titles):
            count.beside = 0
        elif tag in _CONTENT or (tag == "p" and count.beside and not count.along):
            count.others += 1
        parent = element.getparent()
        if parent is not None:
            counts[parent].add(count)
            _add_text(counts[parent], element.tail, titles)
    return counts


def _is_title(element: _Element, count: _Count, titles: set[str]) -> bool:
    """True for a title in several elements, such as one with a name in code."""
    if not 0 < count.beside <= count.text <= LONGEST_HEADING:
        return False
    return " ".join("".join(element.itertext()).split()) in titles


def _add_text(count: _Count, text: str | None, titles: set[str]) -> None:
    said = " ".join((text or "").split())
    count.text += len(said)
    count.beside += 0 if said in titles else len(said)


def _is_navigation(element: _Element, count: _Count) -> bool:
    tag = tag_of(element)
    if tag not in BLOCKS or tag in _NEVER_DROPPED or count.others or count.along < _FEWEST_LINKS:
        return False
    return count.beside <= count.linked
