"""DOCX: paragraphs, lists and tables in the order of the body, a section under each heading."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, field
from typing import Any

from docx.document import Document as WordDocument
from docx.opc.part import PartFactory
from docx.oxml import parse_xml
from docx.package import Package
from docx.parts.document import DocumentPart

from helix.domain.tables import Table
from helix.language.sentences import Span
from pipelines.readers import Progress, ReadText
from pipelines.readers.charts import plots, title_of
from pipelines.readers.docx_styles import Numbering, Styles
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
from pipelines.readers.draft import Draft
from pipelines.readers.grids import GROUP, moved
from pipelines.readers.office import core_title, guarded, local_name
from pipelines.readers.outline import LONGEST_TABLE, short_title
from pipelines.readers.tables import add_table, small_tables, uncut

_WRAPPERS = ("sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo")
_CONTENT_TYPES = (  # a document with macros, and templates, which differ in nothing that is read
    "application/vnd.ms-word.document.macroEnabled.main+xml",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
    "application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
)
_ITEM = re.compile(r"(?:\(?(?:\d{1,3}|[a-z]|[ivxlc]{1,5})[.)] )?")
"""The numbers that tell an item of a list; with another its paragraph stands alone, as a clause."""
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


@dataclass
class _Part:
    """The section being written: its pieces and their length in all, what of it is not cut, and
    the tables within it."""

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    blocks: list[Span] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    in_list: bool = False
    only_headings: bool = True

    def add(self, text: str, gap: str) -> None:
        added = [gap, text] if self.pieces else [text]
        self.pieces += added
        self.length += sum(map(len, added))


class _Body:
    """The walk through a body, with the headings above the place it is at."""

    def __init__(self, document: WordDocument) -> None:
        self._element: Any = document.element.body
        self._parts = document.part.related_parts
        self._styles = Styles(document.styles.element)
        self._numbering = Numbering(document.part)
        self._notes = Notes(document.part)
        self._draft = Draft()
        self._title = ""
        self._first_heading = ""
        self._first_level = 0  # of the first heading, while none is beside or above it
        self._path: list[tuple[int, str]] = []
        self._part = _Part()
        self._tables = 0

    def read(self, title: str | None) -> ReadText:
        self._walk(self._element)
        self._end_section()
        # "Chapter 1" before "Chapter 2" is the first of several: the file's name says more
        heading = self._first_heading if self._first_level else None
        return self._draft.finish(title or self._title or heading)

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
            self._heading(text, style.level, number)
        elif text and style.depth is not None and _ITEM.fullmatch(number):
            self._line(f"{'  ' * style.depth}{number or '- '}{text}", in_list=True)
        elif text:
            self._line(number + text)
        for note in self._notes.of(paragraph):
            self._line(note)
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

    def _heading(self, text: str, level: int, number: str) -> None:
        # a heading right above one of its parts is read with it, not cited on its own
        if not self._part.only_headings or (self._path and level <= self._path[-1][0]):
            self._end_section()
        name = short_title(text)
        if level:
            above = [(other, heading) for other, heading in self._path if other < level]
            self._path = [*above, (level, short_title(number + text))]
            if not self._first_heading:
                self._first_heading, self._first_level = name, level
            elif level <= self._first_level:
                self._first_level = 0
        else:  # the document's title is no heading of its parts
            self._path = []
            self._title = self._title or name
        self._part.add(number + text, "\n\n")

    def _line(self, text: str, in_list: bool = False) -> None:
        part = self._part
        part.add(text, "\n" if in_list and part.in_list else "\n\n")
        part.in_list, part.only_headings = in_list, False

    def _table(self, table: Any) -> None:
        rows = list(within(table, "tr"))
        cells = [list(within(row, "tc")) for row in rows]
        if len(rows) < 2 or max(map(len, cells)) < 2:  # not a table but a frame around text
            for cell in (cell for row in cells for cell in row):
                self._walk(cell)
            return
        self._tables += 1
        numbered = list(table_rows(rows, self._numbered))
        lines, tables = small_tables(numbered)
        if len(rows) <= GROUP + 1 and len(lines) <= LONGEST_TABLE:
            self._small_table(lines, tables)
        else:
            self._end_section()
            add_table(self._draft, numbered, self._headings(), f"table {self._tables}, ")
        for note in self._notes.of(table):
            self._line(note)
        for chart in charts(table):
            self._chart(chart)

    def _chart(self, relation: str) -> None:
        """A chart's title and its numbers, a line a category."""
        try:
            chart = parse_xml(self._parts[relation].blob)
            titles, tables = list(title_of(chart)), list(plots(chart))
        except Exception as error:  # noqa: BLE001 - an odd chart is no reason to lose the rest
            self._draft.warnings.append(f"a chart is not read ({type(error).__name__})")
            return
        for title in titles:
            self._line(title)
        for lines, table in tables:
            self._small_table(lines, [table])

    def _small_table(self, lines: str, tables: list[Table]) -> None:
        """In one piece with the text around it, which says what it is about."""
        if lines:
            self._line(lines)
            start = self._part.length - len(lines)
            self._part.blocks += uncut(lines, start)
            self._part.tables += [moved(table, start) for table in tables]

    def _headings(self) -> tuple[str, ...]:
        return tuple(heading for _, heading in self._path)

    def _end_section(self) -> None:
        part = self._part
        self._draft.add(
            "".join(part.pieces),
            heading_path=self._headings(),
            blocks=part.blocks,
            tables=part.tables,
        )
        self._part = _Part()
