"""Tables printed as real files: PDF with and without lines by reportlab, DOCX by python-docx."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from xml.sax.saxutils import escape

import docx as word
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.shared import Pt
from reportlab.lib.pagesizes import landscape, letter  # type: ignore[import-untyped]
from reportlab.lib.styles import ParagraphStyle  # type: ignore[import-untyped]
from reportlab.pdfbase.pdfmetrics import stringWidth  # type: ignore[import-untyped]
from reportlab.platypus import (  # type: ignore[import-untyped]
    Paragraph,
    SimpleDocTemplate,
    Spacer,
    Table,
    TableStyle,
)

from evals.documents.true_tables import MatrixTable

FONT, BOLD = "Helvetica", "Helvetica-Bold"
INDENT = 8
MARGIN = 48
_SIZES = (8.5, 7.5, 6.5, 5.5)
_LABELS = 0.22
"""The share of the width that the row labels have at least, where they need it."""
_PAD = 8
_WIDEST_HEADER = 60.0


@dataclass(frozen=True)
class PrintedDocument:
    """The contents of a document: a title, text above and below, and a table between."""

    title: str
    above: Sequence[str]
    table: MatrixTable
    below: Sequence[str] = ()


def pdf(document: PrintedDocument, *, lines: bool) -> bytes:
    """The document as PDF, the table with a line around each cell or with none at all."""
    size = next((one for one in _SIZES if _fits(document.table, one, letter[0])), _SIZES[-1])
    page = letter if _fits(document.table, size, letter[0]) else landscape(letter)
    text = ParagraphStyle("text", fontName=FONT, fontSize=9.5, leading=12.5, spaceAfter=6)
    title = ParagraphStyle("title", parent=text, fontName=BOLD, fontSize=15, leading=19)
    story: list[Any] = [Paragraph(escape(document.title), title)]
    story += [Paragraph(escape(one), text) for one in document.above]
    story += [_table(document.table, size, page[0] - 2 * MARGIN, lines=lines), Spacer(1, 10)]
    story += [Paragraph(escape(one), text) for one in document.below]
    out = BytesIO()
    margins = dict.fromkeys(("leftMargin", "rightMargin", "topMargin", "bottomMargin"), MARGIN)
    SimpleDocTemplate(out, pagesize=page, title="", invariant=1, **margins).build(story)
    return out.getvalue()


def _widths(table: MatrixTable, size: float) -> list[float]:
    """The least width of each column of values, its headers wrapped."""
    columns = len(table.rows[0].cells)
    found = []
    for column in range(1, columns):
        body = [row.cells[column] for row in table.rows if not row.header]
        heads = [text for row in table.spans for start, end, text in row if start == end == column]
        words = [word for text in heads for word in text.split()]
        wide = max((stringWidth(text, FONT, size) for text in body), default=0)
        whole = max((stringWidth(text, BOLD, size) for text in heads), default=0)
        word = max((stringWidth(text, BOLD, size) for text in words), default=0)
        found.append(max(wide, word, min(whole, _WIDEST_HEADER)) + 2 * _PAD)
    return found


def _fits(table: MatrixTable, size: float, width: float) -> bool:
    return sum(_widths(table, size)) <= (width - 2 * MARGIN) * (1 - _LABELS)


def _table(table: MatrixTable, size: float, width: float, *, lines: bool) -> Table:
    values = _widths(table, size)
    labels = [stringWidth(row.cells[0], FONT, size) for row in table.rows]
    room = max(width * _LABELS, width - sum(values))
    first = min(max(labels, default=0) + INDENT + 2 * _PAD, room)
    style = [
        ("FONT", (0, 0), (-1, -1), FONT, size, size + 2.5),
        ("ALIGN", (1, 0), (-1, -1), "RIGHT"),
        ("VALIGN", (0, 0), (-1, -1), "BOTTOM"),
        ("LEFTPADDING", (0, 0), (-1, -1), 4),
        ("RIGHTPADDING", (0, 0), (-1, -1), 4),
        ("TOPPADDING", (0, 0), (-1, -1), 2),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 2),
    ]
    if lines:
        style.append(("GRID", (0, 0), (-1, -1), 0.5, "black"))
    rows = [list(row) for row in _printed_rows(table, size)]
    for number, spans in enumerate(table.spans):
        style += [("SPAN", (s, number), (e, number)) for s, e, _ in spans if e > s]
    return Table(rows, [first, *values], style=TableStyle(style), hAlign="LEFT")


def _printed_rows(table: MatrixTable, size: float) -> Iterator[list[Any]]:
    label = ParagraphStyle("label", fontName=FONT, fontSize=size, leading=size + 2.5)
    within = ParagraphStyle("within", parent=label, leftIndent=INDENT)
    head = ParagraphStyle("head", parent=label, fontName=BOLD, alignment=1)
    for number, row in enumerate(table.rows):
        style = within if row.indented else label
        first = Paragraph(escape(row.cells[0]), style)
        if not row.header:
            yield [first, *row.cells[1:]]
            continue
        cells: list[Any] = [first, *[""] * (len(row.cells) - 1)]
        for start, _, text in table.spans[number]:
            cells[start] = Paragraph(escape(text), head)
        yield cells


def docx(document: PrintedDocument) -> bytes:
    """The document as DOCX: headings, paragraphs and a table with merged header cells."""
    made = word.Document()
    made.add_heading(document.title, level=1)
    for one in document.above:
        made.add_paragraph(one)
    rows = document.table.rows
    table = made.add_table(rows=len(rows), cols=len(rows[0].cells), style="Table Grid")
    for number, row in enumerate(rows):
        places = enumerate(row.cells) if not row.header else [(0, row.cells[0])]
        for place, text in places:
            paragraph = table.cell(number, place).paragraphs[0]
            paragraph.add_run(text)
            if place:
                paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
            elif row.indented:
                paragraph.paragraph_format.left_indent = Pt(INDENT)
        for start, end, text in document.table.spans[number] if row.header else ():
            cell = table.cell(number, start)
            cell = cell.merge(table.cell(number, end)) if end > start else cell
            cell.paragraphs[0].add_run(text).bold = True
    for one in document.below:
        made.add_paragraph(one)
    out = BytesIO()
    made.save(out)
    return out.getvalue()
