"""Draw ``samples/brightwater-annual-report.pdf``: the annual report of a company that is invented.

``python scripts/sample_report.py [FILE]`` draws the same bytes each time (with one version of
reportlab). It has what real reports have: a cover, page numbers that begin after it, a running
header, statements with spanning headers, groups and totals, amounts in thousands, footnotes, and a
page of two columns.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reportlab.lib.pagesizes import A4  # type: ignore[import-untyped]
from reportlab.lib.styles import ParagraphStyle  # type: ignore[import-untyped]
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]
from reportlab.platypus import (  # type: ignore[import-untyped]
    BaseDocTemplate,
    Frame,
    FrameBreak,
    NextPageTemplate,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)

FILE = Path(__file__).parent.parent / "samples" / "brightwater-annual-report.pdf"
COMPANY, TITLE = "Brightwater Instruments plc", "Annual Report 2025"
MARGIN, GAP = 56, 22
WIDTH = A4[0] - 2 * MARGIN

TEXT = ParagraphStyle("text", fontName="Times-Roman", fontSize=10.5, leading=14, spaceAfter=7)
SMALL = ParagraphStyle("small", parent=TEXT, fontSize=8.5, leading=11)
LABEL = ParagraphStyle("label", parent=TEXT, fontName="Helvetica", fontSize=8.5, leading=11)
HEADING = ParagraphStyle(
    "heading", parent=TEXT, fontName="Helvetica-Bold", fontSize=15, leading=19, spaceAfter=9
)
PART = ParagraphStyle("part", parent=HEADING, fontSize=11.5, leading=15, spaceBefore=8)
COVER = ParagraphStyle("cover", parent=HEADING, fontSize=28, leading=34)

LETTER = (
    "2025 was the year in which we opened the calibration laboratory in Aarhus and brought the"
    " Tidewatch sensor to market. Revenue grew by 11.4% to £86.2 million, and we kept our promise"
    " to repair every instrument that we have sold since 1998.",
    "The board proposes a final dividend of 7.5 pence per share, to be paid on 12 June 2026 to"
    " shareholders on the register on 15 May 2026.",
    "Helena Marsh will succeed Tobias Lindqvist as chief executive on 1 July 2026. Tobias has led"
    " the company for nine years; he leaves it twice as large and with one product recall, which he"
    " handled in the open.",
)
BUSINESS = (
    "Brightwater makes instruments that measure water: its level, its flow and what is dissolved in"
    " it. Customers are water utilities, port authorities and research stations in 31 countries.",
    "No customer accounted for more than 8% of revenue in 2025 (2024: 9%).",
)
PEOPLE = (
    "At the end of the year 612 people worked for the group (2024: 574), of whom 148 in research"
    " and development. Voluntary turnover fell to 6.1%.",
)
LEGAL = (
    "In March 2025 the port authority of Kalmar brought a claim of £3.4 million over sensors that"
    " were delivered late. The company disputes the claim; a hearing is set for November 2026. No"
    " provision has been made.",
    "A former distributor withdrew its complaint in September 2025 without any payment.",
)
RISKS = (
    (
        "Supply",
        "Two foundries make the membranes of our flow sensors. If one of them failed, we could"
        " deliver from stock for about 14 weeks.",
    ),
    (
        "Currency",
        "Some 58% of revenue is in euros. A fall of the euro by 10% against the pound would lower"
        " operating profit by about £2.1 million.",
    ),
    (
        "Security",
        "In 2025 we found one intrusion, into a test server without customers' data; it was closed"
        " within four hours and reported to the regulator.",
    ),
    (
        "Climate",
        "The works in Hull lie two metres above the highest tide on record. The flood wall of 2023"
        " protects them to four metres.",
    ),
    (
        "Engineers",
        "Calibration engineers are scarce. Our own school in Hull trains 24 of them a year.",
    ),
    (
        "Regulation",
        "From 2027 utilities in the European Union have to measure discharge every fifteen minutes."
        " We expect demand for loggers to grow.",
    ),
)

SEGMENTS = (
    ("", "Year ended 31 December", "", ""),
    ("(in thousands of pounds)", "2025", "2024", "Change"),
    ("Revenue by segment:", "", "", ""),
    ("  Level sensors", "38,420", "35,106", "9.4%"),
    ("  Flow sensors", "27,915", "24,388", "14.5%"),
    ("  Water analysis", "12,640", "11,207", "12.8%"),
    ("  Repair and calibration", "7,225", "6,679", "8.2%"),
    ("Total revenue", "86,200", "77,380", "11.4%"),
    ("Operating profit by segment:", "", "", ""),
    ("  Level sensors", "8,835", "7,724", "14.4%"),
    ("  Flow sensors", "4,746", "4,634", "2.4%"),
    ("  Water analysis", "1,011", "(336)", "–"),
    ("  Repair and calibration", "1,373", "1,202", "14.2%"),
    ("Total operating profit", "15,965", "13,224", "20.7%"),
)
INCOME = (
    ("", "Year ended 31 December", ""),
    ("(in thousands of pounds, except per share)", "2025", "2024"),
    ("Revenue", "86,200", "77,380"),
    ("Cost of sales", "(41,376)", "(38,690)"),
    ("Gross profit", "44,824", "38,690"),
    ("Operating expenses:", "", ""),
    ("  Research and development", "(11,206)", "(9,673)"),
    ("  Sales and marketing", "(9,913)", "(9,286)"),
    ("  Administration (1)", "(7,740)", "(6,507)"),
    ("Total operating expenses", "(28,859)", "(25,466)"),
    ("Operating profit", "15,965", "13,224"),
    ("Finance costs, net", "(742)", "(815)"),
    ("Profit before tax", "15,223", "12,409"),
    ("Income tax", "(3,502)", "(2,916)"),
    ("Profit for the year", "11,721", "9,493"),
    ("Earnings per share:", "", ""),
    ("  Basic", "29.3p", "23.8p"),
    ("  Diluted", "28.9p", "23.5p"),
)
FOOTNOTE = "(1) Including £1,120 thousand for the opening of the laboratory in Aarhus."
BALANCE = (
    ("", "31 December", ""),
    ("(in thousands of pounds)", "2025", "2024"),
    ("Current assets:", "", ""),
    ("  Cash and cash equivalents", "14,380", "11,962"),
    ("  Trade receivables, net", "15,744", "14,207"),
    ("  Inventories", "18,093", "19,551"),
    ("Total current assets", "48,217", "45,720"),
    ("Non-current assets:", "", ""),
    ("  Property, plant and equipment", "31,466", "26,818"),
    ("  Right-of-use assets", "6,204", "6,940"),
    ("  Goodwill", "9,350", "9,350"),
    ("Total non-current assets", "47,020", "43,108"),
    ("Total assets", "95,237", "88,828"),
    ("Current liabilities:", "", ""),
    ("  Trade payables", "9,118", "8,846"),
    ("  Lease liabilities", "1,382", "1,305"),
    ("  Bank loan", "2,000", "2,000"),
    ("Total current liabilities", "12,500", "12,151"),
)
LEASES = (
    ("(in thousands of pounds)", "Buildings", "Vehicles", "Total"),
    ("Within one year", "1,094", "288", "1,382"),
    ("One to five years", "3,316", "402", "3,718"),
    ("After five years", "1,275", "–", "1,275"),
    ("Total lease liabilities", "5,685", "690", "6,375"),
)
STAFF = (
    ("Site", "2025", "2024"),
    ("Hull", "341", "338"),
    ("Aarhus", "129", "96"),
    ("Porto", "88", "85"),
    ("Singapore", "54", "55"),
    ("Total", "612", "574"),
)


def statement(rows: Sequence[Sequence[str]], heads: int, *, grid: bool = False) -> Table:
    """A table whose first ``heads`` rows are its header; a text over an empty cell spans it."""
    columns = len(rows[0])
    last_head = heads - 1
    style: list[tuple[Any, ...]] = [
        ("FONT", (0, 0), (-1, -1), "Helvetica", 8.5, 11),
        ("FONT", (0, 0), (-1, last_head), "Helvetica-Bold", 8.5, 11),
        ("ALIGN", (1, 0), (-1, -1), "RIGHT"),
        ("TOPPADDING", (0, 0), (-1, -1), 2),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 2),
        ("LINEBELOW", (0, last_head), (-1, last_head), 0.8, "black"),
    ]
    if grid:
        style.append(("GRID", (0, 0), (-1, -1), 0.4, "black"))
    if heads > 1:
        end = 2 if columns > 3 else columns - 1
        style += [("SPAN", (1, 0), (end, 0)), ("ALIGN", (1, 0), (end, 0), "CENTER")]
        style.append(("LINEBELOW", (1, 0), (end, 0), 0.4, "black"))
    cells = []
    for number, row in enumerate(rows):
        if row[0].startswith("Total"):
            style.append(("LINEABOVE", (1, number), (-1, number), 0.4, "black"))
            style.append(("FONT", (0, number), (-1, number), "Helvetica-Bold", 8.5, 11))
        indent = len(row[0]) - len(row[0].lstrip())
        style.append(("LEFTPADDING", (0, number), (0, number), 4 + 5 * indent))
        cells.append([row[0].strip(), *row[1:]])
    values = [72] * (columns - 1)
    first = min(250, WIDTH - sum(values))
    return Table(cells, [first, *values], style=TableStyle(style), hAlign="LEFT", spaceAfter=12)


def _running(canvas: Canvas, _: BaseDocTemplate) -> None:
    """The header and the footer of a page after the cover, whose number begins with 1."""
    canvas.setFont("Helvetica", 8)
    canvas.drawString(MARGIN, A4[1] - 36, COMPANY)
    canvas.drawRightString(A4[0] - MARGIN, A4[1] - 36, TITLE)
    canvas.drawCentredString(A4[0] / 2, 30, str(canvas.getPageNumber() - 1))


def _pages(document: BaseDocTemplate) -> list[PageTemplate]:
    high = A4[1] - 2 * MARGIN
    plain = {"leftPadding": 0, "rightPadding": 0, "topPadding": 0, "bottomPadding": 0}
    half = (WIDTH - GAP) / 2
    columns = [
        Frame(MARGIN + n * (half + GAP), MARGIN, half, high, id=f"column{n}", **plain)
        for n in range(2)
    ]
    whole = Frame(MARGIN, MARGIN, WIDTH, high, id="whole", **plain)
    return [
        PageTemplate("cover", [whole]),
        PageTemplate("text", [whole], onPage=_running),
        PageTemplate("columns", columns, onPage=_running),
    ]


def _paragraphs(texts: Sequence[str]) -> list[Paragraph]:
    return [Paragraph(text, TEXT) for text in texts]


def _story() -> list[Any]:
    story: list[Any] = [
        Spacer(1, 190), Paragraph(TITLE, COVER), Paragraph(COMPANY, HEADING),
        Paragraph("For the year ended 31 December 2025", TEXT), Spacer(1, 240),
        Paragraph("Registered in England, number 04417702. Published on 3 March 2026.", SMALL),
        NextPageTemplate("text"), PageBreak(),
        Paragraph("Letter from the chair", HEADING), *_paragraphs(LETTER),
        Paragraph("Amara Okafor, chair of the board", TEXT),
        Paragraph("Our business", HEADING), *_paragraphs(BUSINESS),
        Paragraph("People", PART), *_paragraphs(PEOPLE),
        Paragraph("Employees by site at the end of the year:", TEXT),
        statement(STAFF, 1, grid=True), PageBreak(),
        Paragraph("Segments", HEADING),
        Paragraph("Revenue and operating profit by segment were as follows:", TEXT),
        statement(SEGMENTS, 2),
        Paragraph("Legal matters", HEADING), *_paragraphs(LEGAL),
        NextPageTemplate("columns"), PageBreak(), Paragraph("Risks", HEADING),
    ]  # fmt: skip
    for number, (name, text) in enumerate(RISKS):
        turn = [FrameBreak()] if number == len(RISKS) // 2 else []
        story += [*turn, Paragraph(name, PART), Paragraph(text, TEXT)]
    story += [
        NextPageTemplate("text"), PageBreak(),
        Paragraph("Consolidated income statement", HEADING), statement(INCOME, 2),
        Paragraph(FOOTNOTE, SMALL),
        PageBreak(),
        Paragraph("Consolidated balance sheet", HEADING), statement(BALANCE, 2),
        Paragraph("Note 14: Leases", HEADING),
        Paragraph("Lease liabilities at 31 December 2025 fall due as follows:", TEXT),
        statement(LEASES, 1),
        Paragraph("The leases have a weighted-average remaining term of 4.6 years.", TEXT),
    ]  # fmt: skip
    return story


def draw(file: Path) -> None:
    """Write the report to ``file``."""
    document = BaseDocTemplate(
        str(file), pagesize=A4, title=f"{COMPANY}: {TITLE}", author=COMPANY, invariant=1
    )
    document.addPageTemplates(_pages(document))
    document.build(_story())


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)
