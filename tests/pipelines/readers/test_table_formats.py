"""One model of a table for every format: the same table is read alike from each of them."""

from __future__ import annotations

import io
import time
from typing import Any

import openpyxl  # type: ignore[import-untyped]
import pytest
from docx import Document
from docx.oxml import OxmlElement
from lxml.html import fromstring  # type: ignore[import-untyped]
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Emu

from pipelines.readers import ReadText, read
from pipelines.readers.markup_tables import rows_of
from tests.support.sample_documents import csv

Named = dict[tuple[str, str], str]
"""Row path and column path, joined, to the cell."""

ROWS = [
    ["", "Three Months Ended", "", "Change"],
    ["", "July 1, 2023", "June 25, 2022", ""],
    ["Net sales:", "", "", ""],
    ["Products", "$60,584", "$63,355", "(4)%"],
    ["Services", "21,213", "—", "8"],
    ["Total net sales", "81,797", "82,959", "(1)%"],
]
EXPECTED = {
    ("Net sales › Products", "Three Months Ended › July 1, 2023"): "$60,584",
    ("Net sales › Products", "Three Months Ended › June 25, 2022"): "$63,355",
    ("Net sales › Products", "Change"): "(4)%",
    ("Net sales › Services", "Three Months Ended › July 1, 2023"): "21,213",
    ("Net sales › Services", "Three Months Ended › June 25, 2022"): "—",
    ("Net sales › Services", "Change"): "8",
    ("Total net sales", "Three Months Ended › July 1, 2023"): "81,797",
    ("Total net sales", "Three Months Ended › June 25, 2022"): "82,959",
    ("Total net sales", "Change"): "(1)%",
}


def named(done: ReadText) -> Named:
    return {
        (" › ".join(table.rows[cell.row]), " › ".join(table.columns[cell.column])): done.text[
            cell.start : cell.end
        ]
        for table in done.tables
        for cell in table.cells
    }


def as_docx(*, marked: bool) -> bytes:
    document = Document()
    document.add_paragraph("As follows:")
    table = document.add_table(len(ROWS), 4)
    for row, cells in enumerate(ROWS):
        for column, cell in enumerate(cells):
            table.cell(row, column).text = cell
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(2, 0).merge(table.cell(2, 3))
    for row in range(2 * marked):
        properties = table.rows[row]._tr.get_or_add_trPr()
        properties.append(OxmlElement("w:tblHeader"))
    return saved(document)


def as_pptx() -> bytes:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    frame = slide.shapes.add_table(len(ROWS), 4, Emu(0), Emu(0), Emu(9_000_000), Emu(3_000_000))
    table = frame.table
    for row, cells in enumerate(ROWS):
        for column, cell in enumerate(cells):
            table.cell(row, column).text = cell
    table.cell(0, 1).merge(table.cell(0, 2))
    return saved(deck)


def as_xlsx() -> bytes:
    book = openpyxl.Workbook()
    for row, cells in enumerate(ROWS, 1):
        for column, cell in enumerate(cells, 1):
            book.active.cell(row, column).value = cell or None
    book.active.merge_cells("B1:C1")
    return saved(book)


def saved(document: object) -> bytes:
    out = io.BytesIO()
    document.save(out)  # type: ignore[attr-defined]
    return out.getvalue()


def as_html() -> bytes:
    head = (
        "<thead><tr><th></th><th colspan=2>Three Months Ended</th><th rowspan=2>Change</th></tr>"
        "<tr><th></th><th>July 1, 2023</th><th>June 25, 2022</th></tr></thead>"
    )
    group = "<tr><th colspan=4>Net sales:</th></tr>"
    body = "".join(
        f"<tr><th scope=row>{row[0]}</th>{''.join(f'<td>{cell}</td>' for cell in row[1:])}</tr>"
        for row in ROWS[3:]
    )
    return f"<main><p>As follows:</p><table>{head}{group}{body}</table></main>".encode()


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("docx", as_docx(marked=True)),
        ("docx", as_docx(marked=False)),
        ("pptx", as_pptx()),
        ("xlsx", as_xlsx()),
        ("html", as_html()),
    ],
)
def test_the_same_table_of_every_format(kind: str, data: bytes) -> None:
    done = read(kind, data)
    assert named(done) == EXPECTED
    assert (
        "Net sales › Products | Three Months Ended › July 1, 2023: $60,584 | Three Months Ended › "
        "June 25, 2022: $63,355 | Change: (4)%"
    ) in done.text.splitlines()
    assert all(
        table.start <= cell.start < cell.end <= table.end
        for table in done.tables
        for cell in table.cells
    )


def test_signs_in_columns_of_their_own_are_read_with_their_numbers() -> None:
    """Tables of the SEC's filings have them so, and a bold line above their years."""
    top = "<tr><td></td><td colspan=6><b>Year ended June 30,</b></td></tr>"
    years = "<tr><td></td><td colspan=3><b>2024</b></td><td colspan=3><b>2023</b></td></tr>"
    rows = [
        ["Revenue", "$", "8,120", "", "$", "7,655", ""],
        ["Loss", "$", "(214", ")", "", "38", ""],
        ["Taxes", "", "21.4", "%", "", "(1.5", ")%"],
        ["Other", "$", "—", "", "", "3", ""],
    ]
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    done = read(
        "html", f"<main><p>In millions:</p><table>{top}{years}{body}</table></main>".encode()
    )
    columns = [f"Year ended June 30, › {year}" for year in (2024, 2023)]
    values = {row: [named(done)[row, column] for column in columns] for row, *_ in rows}
    assert values == {
        "Revenue": ["$8,120", "$7,655"],
        "Loss": ["$(214)", "38"],
        "Taxes": ["21.4%", "(1.5)%"],
        "Other": ["$—", "3"],
    }


def row_of(*cells: str) -> str:
    row = f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    (first,) = rows_of(fromstring(f"<table>{row}</table>"))
    return " ".join(filter(None, first.cells))


def test_signs_go_to_the_number_beside_them_but_to_no_label() -> None:
    assert row_of("Net", "$", "(", "214", ")") == "Net $(214)"
    assert row_of("2023", "%", "5.2") == "2023 % 5.2"


def test_a_row_of_many_signs_is_passed_twice() -> None:
    started = time.process_time()
    assert row_of("Net", "5", *[")"] * 40_000).startswith(f"Net 5{')' * 120} )")
    assert row_of("Net", *["("] * 40_000, "5").endswith(f"( {'(' * 120}5")
    assert time.process_time() - started < 10


def test_a_column_of_units_with_a_name_stays_one() -> None:
    cells = (("Item", "Size", "Unit"), ("Share", "12", "%"), ("Price", "7", "€"))
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in cells)
    text = read("html", f"<main><p>As follows:</p><table>{rows}</table></main>".encode()).text
    assert "Item: Share | Size: 12 | Unit: %" in text


def test_header_cells_without_spans_stand_over_equal_blocks() -> None:
    done = read(
        "csv",
        csv(
            [
                ("", "2019", "", "2018", ""),
                ("", "Amount", "Share", "Amount", "Share"),
                ("Modules", "1,460", "50%", "502", "22%"),
                ("Systems", "1,603", "50%", "1,742", "78%"),
            ],
            ";",
        ),
    )
    assert named(done)["Modules", "2018 › Amount"] == "502"
    assert named(done)["Systems", "2019 › Share"] == "50%"


@pytest.mark.parametrize(
    ("rows", "units", "first"),
    [
        (
            [["(in millions)", "2023", "2022"], ["Cash", "$1", "$2"], ["Debt", "3", "4"]],
            "(in millions)",
            "(in millions)",
        ),
        (
            [["", "2023", "2022"], ["", "(Dollars in thousands)", ""], ["Cash", "$1", "$2"]],
            "(Dollars in thousands)",
            "(Dollars in thousands)",
        ),
        (
            [["As of", "2023", "2022"], ["", "$ millions", ""], ["Cash", "$1", "$2"]],
            "$ millions",
            "As of ($ millions)",
        ),
        (
            [["Cash by land (in EUR thousand)", ""], ["", "2023"], ["France", "1"], ["Spain", "2"]],
            "in EUR thousand",
            "Cash by land (in EUR thousand)",
        ),
    ],
)  # fmt: skip
def test_units_are_those_of_the_header_or_the_caption(
    rows: list[list[str]], units: str, first: str
) -> None:
    done = read("csv", csv(rows, ";"))
    assert done.text.splitlines()[0] == first
    (table,) = done.tables
    assert units in (table.units, table.caption[-len(units) - 1 : -1])
    assert ("2023",) in table.columns


def test_words_that_hold_a_scale_are_no_units() -> None:
    rows = [("Change in use", "Amount"), ("Millions of users", "12"), ("Shares in issue", "3")]
    (table,) = read("csv", csv(rows, ";")).tables
    assert table.units == ""
    assert table.rows == (("Millions of users",), ("Shares in issue",))


def test_a_column_of_what_is_not_unique_names_no_row() -> None:
    (table,) = read(
        "csv", csv([("City", "Year", "Sum"), ("Bonn", 2020, 1), ("Bonn", 2021, 2)])
    ).tables
    assert table.columns == (("City",), ("Year",), ("Sum",))
    assert table.rows == ((), ())


def test_a_row_without_values_in_a_list_of_records_names_no_group() -> None:
    done = read("csv", b"Name,Price\nDesk,1\nLamp,\nShelf,3\n")
    assert done.text == "Name: Desk | Price: 1\nName: Lamp\nName: Shelf | Price: 3"
    assert done.tables[0].rows == (("Desk",), ("Lamp",), ("Shelf",))


def test_groups_end_with_the_next_and_a_total() -> None:
    rows = [
        ("", "2023"), ("Assets", ""), ("Current assets:", ""), ("Cash", 1),
        ("Total current assets", 2), ("Land", 3), ("Liabilities:", ""), ("Debt", 4),
        ("Nothing below:", ""),
    ]  # fmt: skip
    done = read("csv", csv(rows))
    assert done.tables[0].rows == (
        ("Assets", "Current assets", "Cash"),
        ("Total current assets",),
        ("Land",),
        ("Liabilities", "Debt"),
        ("Nothing below",),
    )


def test_rows_and_columns_of_html_headers() -> None:
    done = read(
        "html",
        b"""<main><p>Here:</p><table><caption>Staff by site (in thousands)</caption>
        <tr><th>Region</th><th>Site</th><th>2022</th><th>2023</th></tr>
        <tr><th rowspan=2>EMEA</th><th>Berlin</th><td>1</td><td>2</td></tr>
        <tr><th>Paris</th><td>3</td><td>4</td></tr></table></main>""",
    )
    assert done.text == (
        "Here:\n\nStaff by site (in thousands)\nRegion › Site: EMEA › Berlin | 2022: 1 | 2023: 2\n"
        "Region › Site: EMEA › Paris | 2022: 3 | 2023: 4"
    )
    assert named(done)["EMEA › Paris", "2023"] == "4"
    assert done.tables[0].caption == "Staff by site (in thousands)"


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ("in|the data\nlen|the length of in", "in | the data\nlen | the length of in"),
        ("<b>Name</b>|<b>Task</b>\nAda|proofs", "Name: Ada | Task: proofs"),
        ("<b>Name</b>|<b>Task</b>\n<b>Ada</b>|<b>proofs</b>", "Name | Task\nAda | proofs"),
        (
            "<b>a</b>|<b>b</b>\n<b>c</b>|<b>d</b>\n<b>e</b>|<b>f</b>\ng|h",
            "a | b\nc | d\ne | f\ng | h",
        ),
        ("<b><strong>Who</strong></b>|<b>Task</b>\nAda|proofs", "Who: Ada | Task: proofs"),
        ("Name|Size\na|7 MB\nb|9 MB", "Name: a | Size: 7 MB\nName: b | Size: 9 MB"),
        (
            "Item|2023\nSales|5,000\nCosts|4,000",
            "Item: Sales | 2023: 5,000\nItem: Costs | 2023: 4,000",
        ),
        ("born|1999\ndied|2001\nwed|2000", "born | 1999\ndied | 2001\nwed | 2000"),
        ("v1|first\nv2|has 2 of\nv3|none", "v1 | first\nv2 | has 2 of\nv3 | none"),
        ("|Draft|Final\nAda|yes|no", "Ada | Draft: yes | Final: no"),
    ],
)
def test_a_table_of_html_without_header_cells_has_a_header_that_stands_out(
    rows: str, text: str
) -> None:
    cells = ("".join(f"<td>{cell}</td>" for cell in row.split("|")) for row in rows.split("\n"))
    table = "".join(f"<tr>{row}</tr>" for row in cells)
    said = "A paragraph stands above it, as long as one is. " * 3
    page = f"<h1>T</h1><p>{said}</p><table>{table}</table>"
    assert read("html", page.encode()).text.partition(f"{said.strip()}\n\n")[2] == text


def test_spans_of_html_are_bounded() -> None:
    wide = "<tr><td colspan=99999 rowspan=99999>x</td></tr>" * 3_000
    done = read("html", f"<main><table>{wide}<tr><td>a</td><td>1</td></tr></table></main>".encode())
    assert len(done.text) < 1_000_000
    assert "x" in done.text and "1" in done.text


def test_a_markdown_table_is_read_where_it_stands() -> None:
    text = (
        "# Fees\n\n| Plan | **Fee** a\\|b | Seats |\n|---|--:|---|\n| Basic | `$1,200` | 5 |\n"
        "| *Team*  |  | 20\n\n> | a | b |\n> |---|---|\n> | c | 1 |\n"
    )
    done = read("markdown", ("---\ntitle: T\n---\n" + text).encode())
    assert done.text.endswith(text)
    (table,) = done.tables
    assert done.text[table.start : table.end].startswith("| Plan |")
    assert table.columns == (("Fee a|b",), ("Seats",))
    assert named(done) == {
        ("Basic", "Fee a|b"): "`$1,200`",
        ("Basic", "Seats"): "5",
        ("Team", "Seats"): "20",
    }


def test_a_markdown_table_of_more_columns_than_a_spreadsheet_has_its_first() -> None:
    names, values = ("|".join(map(str, range(first, first + 17_000))) for first in (0, 1))
    done = read("markdown", f"{names}\n{'|'.join(['---'] * 17_000)}\n{values}".encode())
    (table,) = done.tables
    assert done.text.endswith("|17000") and len(table.columns) == 16_384


def test_a_chart_is_a_table() -> None:
    data: Any = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["Q1", "Q2"]
    data.add_series("Sales", (1.5, 2))
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    place = (Emu(0), Emu(0), Emu(9_000_000), Emu(3_000_000))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data)
    done = read("pptx", saved(deck))
    assert done.text == "Q1 | Sales: 1.5\nQ2 | Sales: 2"
    assert named(done) == {("Q1", "Sales"): "1.5", ("Q2", "Sales"): "2"}
