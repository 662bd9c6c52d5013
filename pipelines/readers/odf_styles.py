"""Styles of an OpenDocument file: headings and titles by a paragraph's, numbers by a list's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pipelines.readers.list_numbers import ListLevel, NumberedList, Numbering
from pipelines.readers.odf import attribute, children, count
from pipelines.readers.office import local_name

OUTLINE = "outline"  # the list that headings are counted in
_FORMS = {
    "1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman",
}  # fmt: skip
_LONGEST = 80  # characters of what stands around a number
_DEEPEST = 9  # levels; a number has places for so many


class Styles:
    """The styles in the roots of some parts; those named later count."""

    def __init__(self, *roots: Any) -> None:
        self._parents: dict[str, tuple[str, str]] = {}
        self._levels: dict[str, dict[int, ListLevel]] = {}
        self._last: dict[str, str] = {}  # list by its style, and by its own id
        self.numbering = Numbering({})
        for element in (part for root in roots for part in root.iter("{*}*")):
            name = local_name(element)
            if name == "style" and attribute(element, "family") == "paragraph":
                parent = attribute(element, "parent-style-name")
                level = attribute(element, "default-outline-level")
                self._parents[attribute(element, "name")] = parent, level
            elif name == "list-style":
                self._levels[attribute(element, "name")] = dict(_levels(element))
            elif name == "outline-style":
                self.numbering.lists[OUTLINE] = NumberedList(dict(_levels(element)))

    def level_of(self, paragraph: Any) -> int | None:
        """The level of a paragraph's style: 0 of a document's title, None of text."""
        name, seen = attribute(paragraph, "style-name"), set[str]()
        while name in self._parents and name not in seen:
            seen.add(name)
            if name == "Title":
                return 0
            name, level = self._parents[name]
            if level in tuple("123456789"):
                return int(level)
        return 0 if name == "Title" else None

    def list_of(self, element: Any) -> str:
        """The id by which the items of an outermost list are counted."""
        style, own = attribute(element, "style-name"), f"list {len(self.numbering.lists)}"
        told = attribute(element, "continue-list")
        if told or attribute(element, "continue-numbering") == "true":
            own = self._last.get(told or style, own)
        self.numbering.lists.setdefault(own, NumberedList(self._levels.get(style, {})))
        self._last[style] = self._last[attribute(element, "id")] = own
        return own

    def begin(self, listed: str, depth: int, item: Any) -> None:
        """Have an item counted from the number that it gives, if it does."""
        if attribute(item, "start-value"):
            self.numbering.lists[listed].counts[depth] = count(item, "start-value") - 1


def _levels(style: Any) -> Iterator[tuple[int, ListLevel]]:
    for element in children(style):
        depth, form = count(element, "level") - 1, attribute(element, "num-format")
        if depth >= _DEEPEST:
            continue
        if local_name(element) not in ("list-level-style-number", "outline-level-style"):
            yield depth, ListLevel(1, "bullet", "", depth)
            continue
        shown = range(depth + 1 - min(depth + 1, count(element, "display-levels")), depth + 1)
        numbers = ".".join(f"%{level + 1}" for level in shown) if form else ""
        around = [attribute(element, f"num-{side}fix")[:_LONGEST] for side in ("pre", "suf")]
        text = f"{around[0]}{numbers}{around[1]}".strip()
        start = count(element, "start-value")
        yield depth, ListLevel(start, _FORMS.get(form, "decimal"), text and f"{text} ", depth)
