"""The kind of a DOCX paragraph by its style: a heading of some level, a list's item, or text."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from pipelines.readers.docx_text import attribute, child, value_of, within

_BODY_TEXT = 9  # the outline level that is none
_DEEPEST_LIST = 8
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_LIST = re.compile(r"list (?:bullet|number)(?: [2-5])?", re.IGNORECASE)


@dataclass(frozen=True)
class Style:
    """``level``: 0 the title, 1-9 headings. ``depth``: of a list, from 0. ``listed``: its id."""

    level: int | None = None
    depth: int | None = None
    listed: str = ""


class Styles:
    """The paragraph styles of a document.

    Word keeps the names of its own styles in English whatever language it runs in; others take
    after the style they are based on, or have an outline level of their own.
    """

    def __init__(self, element: Any) -> None:
        self._elements = {attribute(style, "styleId"): style for style in within(element, "style")}
        self._elements.pop("", None)  # what has no name is no paragraph's style
        self._known: dict[str, Style] = {}

    def of(self, paragraph: Any) -> Style:
        """The style of a paragraph, with its own properties."""
        properties = child(paragraph, "pPr")
        if properties is None:
            return Style()
        return _changed(self._named(value_of(properties, "pStyle")), properties)

    def _named(self, identifier: str) -> Style:
        chain: list[str] = []
        while identifier in self._elements and identifier not in chain:
            if identifier in self._known:
                break
            chain.append(identifier)
            identifier = value_of(self._elements[identifier], "basedOn")
        found = self._known.get(identifier, Style())
        for name in reversed(chain):
            found = self._known[name] = _defined(found, self._elements[name])
        return found


def _defined(base: Style, element: Any) -> Style:
    properties = child(element, "pPr")
    style = base if properties is None else _changed(base, properties)
    name = value_of(element, "name")
    if heading := _HEADING.fullmatch(name):
        return replace(style, level=int(heading.group(1)))
    if name.lower() == "title":
        return replace(style, level=0)
    if _LIST.fullmatch(name) and style.depth is None:
        return replace(style, depth=int(name[-1]) - 1 if name[-1].isdigit() else 0)
    return style


def _changed(style: Style, properties: Any) -> Style:
    """``style`` with what a paragraph's or a style's own properties say."""
    outline = child(properties, "outlineLvl")
    if outline is not None:
        level = _number(outline) + 1
        style = replace(style, level=level if level <= _BODY_TEXT else None)
    numbering = child(properties, "numPr")
    if numbering is None:
        return style
    listed, depth = child(numbering, "numId"), child(numbering, "ilvl")
    if listed is not None and _number(listed) == 0:  # how a paragraph leaves its style's list
        return replace(style, depth=None, listed="")
    own = style.listed if listed is None else attribute(listed, "val")
    return replace(
        style, listed=own, depth=min(_DEEPEST_LIST, 0 if depth is None else _number(depth))
    )


def _number(element: Any) -> int:
    value = attribute(element, "val")
    return int(value) if value.isascii() and value.isdigit() else 0
