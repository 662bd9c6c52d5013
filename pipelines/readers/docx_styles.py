"""The kind of a DOCX paragraph by its style, a heading, an item or text, and its number.

The numbers that Word shows in front, as "4.2" or "Article 3", are nowhere in the text: each follows
from the paragraphs above it and from the definition of its list (ISO/IEC 29500-1, 17.9).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from docx.oxml import parse_xml

from pipelines.readers.docx_text import attribute, child, value_of, within
from pipelines.readers.list_numbers import ListLevel, NumberedList, Numbering

_BODY_TEXT = 9  # the outline level that is none
_DEEPEST_LIST = 8
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_LIST = re.compile(r"list (?:bullet|number)(?: [2-5])?", re.IGNORECASE)
_LONGEST = 80  # characters of a level's text, which stands in front of every paragraph
_MOST_LEVELS = 9  # Word's own limit


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
        level = _number(attribute(outline, "val")) + 1
        style = replace(style, level=level if level <= _BODY_TEXT else None)
    numbering = child(properties, "numPr")
    if numbering is None:
        return style
    listed, depth = child(numbering, "numId"), child(numbering, "ilvl")
    if (
        listed is not None and _number(attribute(listed, "val")) == 0
    ):  # how a paragraph leaves its style's list
        return replace(style, depth=None, listed="")
    own = style.listed if listed is None else attribute(listed, "val")
    return replace(
        style,
        listed=own,
        depth=min(_DEEPEST_LIST, 0 if depth is None else _number(attribute(depth, "val"))),
    )


def numbering_of(part: Any) -> Numbering:
    """The lists of a document."""
    lists: dict[str, NumberedList] = {}
    for relation in part.rels.values():
        if relation.reltype.endswith("/numbering") and not relation.is_external:
            lists |= _lists(parse_xml(relation.target_part.blob))
    return Numbering(lists)


def _lists(numbering: Any) -> dict[str, NumberedList]:
    elements = {attribute(one, "abstractNumId"): one for one in within(numbering, "abstractNum")}
    own = {key: NumberedList(_levels(element)) for key, element in elements.items()}
    styled = {
        link: own[key] for key, one in elements.items() if (link := value_of(one, "styleLink"))
    }
    definitions = {
        key: styled.get(value_of(element, "numStyleLink"), own[key])
        for key, element in elements.items()
    }
    return {
        attribute(element, "numId"): _instance(element, definitions[defined])
        for element in within(numbering, "num")
        if (defined := value_of(element, "abstractNumId")) in definitions
    }


def _instance(element: Any, definition: NumberedList) -> NumberedList:
    """A list of a definition, with what it has otherwise."""
    levels, anew = dict(definition.levels), set[int]()
    for override in within(element, "lvlOverride"):
        depth = _number(attribute(override, "ilvl"))
        levels |= _levels(override)
        if depth in levels and child(override, "startOverride") is not None:
            start = _number(value_of(override, "startOverride"))
            levels[depth] = ListLevel(**{**vars(levels[depth]), "start": start})
            anew.add(depth)
    return NumberedList(levels, definition.counts, anew)


def _levels(element: Any) -> dict[int, ListLevel]:
    found = {}
    for level in islice(within(element, "lvl"), _MOST_LEVELS):
        depth = _number(attribute(level, "ilvl"))
        restarts = child(level, "lvlRestart")
        apart = "" if value_of(level, "suff") == "nothing" else " "
        text = value_of(level, "lvlText")[:_LONGEST].strip()
        found[depth] = ListLevel(
            _number(value_of(level, "start")),
            value_of(level, "numFmt") or "decimal",
            text and text + apart,
            depth if restarts is None else _number(attribute(restarts, "val")),
            child(level, "isLgl") is not None,
        )
    return found


def _number(value: str) -> int:
    return int(value) if re.fullmatch(r"[0-9]{1,9}", value) else 0
