"""DOCX: paragraphs, lists and tables in the order of the body, a section under each heading."""

from __future__ import annotations

import io
from typing import Any

from docx.document import Document as WordDocument
from docx.opc.part import PartFactory
from docx.oxml import parse_xml
from docx.package import Package
from docx.parts.document import DocumentPart

from pipelines.readers import Progress, ReadText
from pipelines.readers.charts import plots, title_of
from pipelines.readers.document_body import DocumentBody
from pipelines.readers.docx_styles import Styles, numbering_of
from pipelines.readers.docx_text import (
    Notes,
    boxes,
    charts,
    children,
    is_deleted,
    paragraph_text,
    table_rows,
    within,
)
from pipelines.readers.office import core_title, guarded, local_name

_WRAPPERS = ("sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo")
_CONTENT_TYPES = (  # a document with macros, and templates, which differ in nothing that is read
    "application/vnd.ms-word.document.macroEnabled.main+xml",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
    "application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
)
PartFactory.part_type_for |= dict.fromkeys(_CONTENT_TYPES, DocumentPart)


def read(data: bytes, progress: Progress) -> ReadText:
    """Sections by heading, with its path; a long table's are of 20 rows with their header.

    Headers and footers, comments and what tracked changes delete are left out; notes stand after
    the paragraph that refers to them, as "Footnote: …". Paragraphs have the numbers that are shown.

    Raises:
        UnreadableFile: encrypted, damaged, or without text.
    """
    with guarded(data, "Word document"):
        part = Package.open(io.BytesIO(data)).main_document_part
        return _Body(part.document).read(core_title(data))


class _Body:
    """The walk through a body, in its order."""

    def __init__(self, document: WordDocument) -> None:
        self._element: Any = document.element.body
        self._parts = document.part.related_parts
        self._styles = Styles(document.styles.element)
        self._numbering = numbering_of(document.part)
        self._notes = Notes(document.part)
        self._out = DocumentBody()

    def read(self, title: str | None) -> ReadText:
        self._walk(self._element)
        return self._out.finish(title)

    def _walk(self, parent: Any) -> None:
        for block in children(parent):
            name = local_name(block)
            if name == "p":
                self._paragraph(block)
            elif name == "tbl":
                self._table(block)
            elif name in _WRAPPERS:
                self._walk(block)

    def _paragraph(self, paragraph: Any) -> None:
        text, number = paragraph_text(paragraph).strip(), self._number(paragraph)
        style = self._styles.of(paragraph)
        if text and style.level is not None:
            self._out.heading(text, style.level, number)
        elif text and style.depth is not None:
            self._out.item(text, style.depth, number)
        elif text:
            self._out.line(number + text)
        for note in self._notes.of(paragraph):
            self._out.line(note)
        for box in boxes(paragraph):
            self._walk(box)
        for chart in charts(paragraph):
            self._chart(chart)

    def _number(self, paragraph: Any) -> str:
        """The number in front of a paragraph, which is counted where the paragraph is empty too."""
        style = self._styles.of(paragraph)
        if style.depth is None or is_deleted(paragraph):
            return ""
        return self._numbering.next(style.listed, style.depth)

    def _numbered(self, paragraph: Any) -> str:
        return self._number(paragraph) + paragraph_text(paragraph)

    def _table(self, table: Any) -> None:
        rows = list(within(table, "tr"))
        cells = [list(within(row, "tc")) for row in rows]
        if len(rows) < 2 or max(map(len, cells)) < 2:  # not a table but a frame around text
            for cell in (cell for row in cells for cell in row):
                self._walk(cell)
            return
        self._out.table(list(table_rows(rows, self._numbered)))
        for note in self._notes.of(table):
            self._out.line(note)
        for chart in charts(table):
            self._chart(chart)

    def _chart(self, relation: str) -> None:
        """A chart's title and its numbers, a line a category."""
        try:
            chart = parse_xml(self._parts[relation].blob)
            titles, tables = list(title_of(chart)), list(plots(chart))
        except Exception as error:  # noqa: BLE001 - an odd chart is no reason to lose the rest
            self._out.warnings.append(f"a chart is not read ({type(error).__name__})")
            return
        for title in titles:
            self._out.line(title)
        for lines, table in tables:
            self._out.small_table(lines, [table])
