"""The paragraphs, lists, tables and charts in an OpenDocument element, in their order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from helix.domain.tables import Table
from pipelines.readers.formulas import formula_text
from pipelines.readers.list_numbers import ListLevel, NumberedList, Numbering
from pipelines.readers.odf import SHAPES, Package, attribute, children, count, paragraph_text
from pipelines.readers.odf_tables import (
    row_elements,
    shown_text,
    table_rows,
    value_text,
)
from pipelines.readers.office import local_name
from pipelines.readers.table_heads import Row
from pipelines.readers.tables import small_tables

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


_PASSED_OVER = frozenset("tracked-changes forms annotation notes desc title".split())
_BESIDE = SHAPES | {"note"}
_CALLED = {"endnote": "Endnote"}
_DEEPEST_LIST = 8


class Out(Protocol):
    """The writer that a body is given to, as document_body.py has it."""

    warnings: list[str]

    def heading(self, text: str, level: int, number: str = "") -> None: ...
    def item(self, text: str, depth: int, number: str) -> None: ...
    def line(self, text: str) -> None: ...
    def table(self, rows: Sequence[Row]) -> None: ...
    def small_table(self, lines: str, tables: Sequence[Table]) -> None: ...


class Body:
    """The walk through the elements of a part."""

    def __init__(self, package: Package, styles: Styles, out: Out) -> None:
        self._package = package
        self._styles = styles
        self._out = out

    def walk(self, parent: Any) -> None:
        """Write all that is in an element."""
        for block in children(parent):
            name = local_name(block)
            if name in ("p", "h"):
                self._paragraph(block)
            elif name == "list":
                self._list(block, 0, self._styles.list_of(block))
            elif name == "table":
                self._table(block)
            elif name == "note":
                self._note(block)
            elif name == "object":
                self._object(attribute(block, "href").removeprefix("./").rstrip("/"))
            elif name not in _PASSED_OVER:
                self.walk(block)

    def _paragraph(self, paragraph: Any) -> None:
        text, level = paragraph_text(paragraph), self._level(paragraph)
        if text and level is not None:
            is_counted = level and attribute(paragraph, "is-list-header") != "true"
            number = self._styles.numbering.next(OUTLINE, level - 1) if is_counted else ""
            self._out.heading(text, level, number)
        elif text:
            self._out.line(text)
        self._beside(paragraph)

    def _level(self, paragraph: Any) -> int | None:
        if local_name(paragraph) == "h":
            return min(count(paragraph, "outline-level"), 9)
        return self._styles.level_of(paragraph)

    def _list(self, element: Any, depth: int, listed: str) -> None:
        for item in children(element):
            is_counted = local_name(item) == "list-item"
            if is_counted:
                self._styles.begin(listed, depth, item)
            for part in children(item):
                if local_name(part) == "list":
                    self._list(part, min(depth + 1, _DEEPEST_LIST), listed)
                elif local_name(part) in ("p", "h") and is_counted:
                    self._item(part, depth, listed)
                    is_counted = False  # the number of an item is that of its first paragraph
                else:
                    self.walk([part])

    def _item(self, paragraph: Any, depth: int, listed: str) -> None:
        text, level = paragraph_text(paragraph), self._level(paragraph)
        number = self._styles.numbering.next(listed, depth)
        if text and level is not None:
            self._out.heading(text, level, number)
        elif text:
            self._out.item(text, depth, number)
        self._beside(paragraph)

    def _beside(self, paragraph: Any) -> None:
        """The notes of a paragraph, and the frames and shapes anchored in it."""
        self.walk(_anchored(paragraph))

    def _note(self, note: Any) -> None:
        body = note.find("{*}note-body")
        if body is not None and (text := shown_text(body)):
            called = _CALLED.get(attribute(note, "note-class"), "Footnote")
            self._out.line(f"{called}: {text}")

    def _table(self, table: Any) -> None:
        rows = list(row_elements(table))
        if len(rows) < 2 or max(map(len, rows)) < 2:  # not a table but a frame around text
            for row in rows:
                self.walk(row)
            return
        self._out.table(list(table_rows(rows, shown_text)))
        for row in rows:
            for note in row.iter("{*}note"):
                self._note(note)

    def _object(self, name: str) -> None:
        """A formula; a chart's title and its numbers, a line a category; nothing of another."""
        try:
            content = self._package.xml(f"{name}/content.xml")
            if local_name(content) == "math":
                if text := formula_text(content):
                    self._out.line(text)
                return
            chart = content.find(".//{*}chart/{*}chart")
            if chart is None:
                return
            title = chart.find("{*}title")
            rows = (row for table in chart.iter("{*}table") for row in row_elements(table))
            lines, tables = small_tables(table_rows(rows, value_text))
        except Exception as error:  # noqa: BLE001 - an odd chart is no reason to lose the rest
            self._out.warnings.append(f"a chart is not read ({type(error).__name__})")
            return
        if title is not None and (text := shown_text(title)):
            self._out.line(text)
        self._out.small_table(lines, tables)


def _anchored(element: Any) -> Iterator[Any]:
    for part in children(element):
        if local_name(part) in _BESIDE:
            yield part
        elif local_name(part) not in _PASSED_OVER:
            yield from _anchored(part)
