"""Links along a series of pages, as manuals have above and below each: previous, next, up, home."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from lxml.etree import _Element  # type: ignore[import-untyped]

from pipelines.readers.markup_text import BLOCKS, tag_of

_RELATIONS = frozenset("contents first home index last next prev previous start toc top up".split())
_KEPT = frozenset("html body main article caption tbody td tfoot th thead tr".split())
_SAYS = frozenset(("pre", *(f"h{level}" for level in range(1, 7))))
_FEWEST = 2  # links of a part
_MOST_BESIDE, _MOST_IN_TABLE = 40, 200
"""Characters that are no link's: for each link, and in a table, which has the pages' titles."""


@dataclass
class _Count:
    along: int = 0
    others: int = 0
    beside: int = 0

    def add(self, other: _Count) -> None:
        self.along += other.along
        self.others += other.others
        self.beside += other.beside


def drop_navigation(tree: _Element) -> None:
    """Take out of a page what only leads along its series of pages.

    The page says itself by ``rel`` where the previous, the next and others are. A part goes whose
    links all lead there or have a key of their own, as "Home" has, at least two, and that says
    little beside them, under no heading and in no paragraph of its own.
    """
    places = {
        one.get("href")
        for one in tree.iter("a", "link")
        if one.get("href") and _RELATIONS & set(one.get("rel", "").lower().split())
    }
    if len(places) < _FEWEST:
        return
    counts = _counts(tree, places)
    for element in list(tree.iter()):
        if element in counts and _is_navigation(element, counts[element]):
            element.drop_tree()


def _counts(tree: _Element, places: set[str]) -> dict[_Element, _Count]:
    """The links and the text of each element, with what is in it; in linear time."""
    counts: defaultdict[_Element, _Count] = defaultdict(_Count)
    for element in reversed(list(tree.iter())):
        if not isinstance(element.tag, str):
            continue
        count, tag = counts[element], tag_of(element)
        count.beside += len((element.text or "").strip())
        if tag == "a" and element.get("href"):
            is_along = element.get("href") in places or "accesskey" in element.attrib
            count = counts[element] = _Count(int(is_along), int(not is_along))
        elif tag in _SAYS or (tag == "p" and count.beside and not count.along):
            count.others += 1
        parent = element.getparent()
        if parent is not None:
            counts[parent].add(count)
            counts[parent].beside += len((element.tail or "").strip())
    return counts


def _is_navigation(element: _Element, count: _Count) -> bool:
    tag = tag_of(element)
    if tag not in BLOCKS or tag in _KEPT or count.others or count.along < _FEWEST:
        return False
    most = _MOST_IN_TABLE if tag == "table" else _MOST_BESIDE * count.along
    return count.beside <= most
