"""XLSX: sheets as tables, values as people write them, formulas, percent, and far cells."""

from __future__ import annotations

import datetime
import io
import itertools
import re
import zipfile
from collections.abc import Mapping

import openpyxl  # type: ignore[import-untyped]
import pytest

from helix.language.rows import counted_in, rows_of, units_in
from pipelines.readers import ReadText, UnreadableFile, read
from pipelines.readers.grids import GROUP
from tests.pipelines.readers.test_tables import assert_tiled, labels, parts
from tests.support.sample_documents import Rows, xlsx


def test_a_workbook_is_read_sheet_by_sheet() -> None:
    heard: list[tuple[int, int]] = []
    rows = [("Region", "Quarter", "Revenue"), *(("EMEA", f"Q{n}", n) for n in range(1, 42))]
    book: dict[str, Rows] = {
        "Budget": [(), *rows],
        "Empty": [],
        "Costs": [("Item", "Price"), ("Desk\nold", 1.5)],
    }
    done = read("xlsx", xlsx(book, title="Plan"), lambda *step: heard.append(step))
    assert done.title == "Plan"
    assert labels(done) == [
        "sheet Budget, rows 3-22",
        "sheet Budget, rows 23-42",
        "sheet Budget, row 43",
        "sheet Costs, row 2",
    ]
    assert parts(done)[0].startswith("Region: EMEA | Quarter: Q1 | Revenue: 1\nRegion: EMEA")
    assert parts(done)[-1] == "Item: Desk old | Price: 1.5"
    assert done.sections[0].context == "Region | Quarter | Revenue"
    assert [section.heading_path for section in done.sections] == [("Budget",)] * 3 + [("Costs",)]
    assert heard == [(1, 3), (2, 3), (3, 3)]
    assert_tiled(done)


def test_a_sheet_s_title_and_units_above_an_empty_row_are_its_table_s() -> None:
    above = [("City of Veld",), ("in thousands of euros",), ()]
    rows = [("Item", "Budget", "Actual"), ("Library", 1250, 1198), ("Museum", 2040, 2215)]
    done = read("xlsx", xlsx({"Budget": [*above, *rows]}))
    (table,) = done.tables
    assert table.caption == "City of Veld in thousands of euros"
    (part,) = parts(done)
    (row, line), *_ = rows_of(part)
    units = units_in(part, line)
    assert counted_in(row, row.cells[0], units) == "thousand"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12, "12"),
        (12.0, "12"),
        (0.1 + 0.2, "0.3"),
        (-1.5, "-1.5"),
        (123456789012345678, "123456789012346000"),  # 15 digits are all that a sheet keeps
        (0.0000125, "0.0000125"),
        (True, "TRUE"),
        (datetime.date(2024, 1, 5), "2024-01-05"),
        (datetime.datetime(2024, 1, 5, 14, 30), "2024-01-05 14:30"),
        (datetime.time(3, 4, 5), "03:04:05"),
        (datetime.timedelta(hours=30), "30:00:00"),
    ],
)
def test_values_are_written_as_people_do(value: object, text: str) -> None:
    assert read("xlsx", xlsx({"S": [("Key", "Value"), ("a", value)]})).text == (
        f"Key: a | Value: {text}"
    )


def test_more_styles_of_percent_than_a_path_takes() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Key", "Share"])
    for number in range(5_001):
        sheet.append([f"row {number}", 0.25])
        sheet.cell(number + 2, 2).number_format = f'0%"{number}"'
    out = io.BytesIO()
    book.save(out)
    assert read("xlsx", out.getvalue()).text.endswith("Key: row 5000 | Share: 25%")


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (0.0925, "0%", "9.25%"),
        (-0.14, "0.00%", "-14%"),
        (12, "0%", "1200%"),
        (0.5, '0.0%;[Red]-0.0%', "50%"),
        (0.5, '0.0"%"', "0.5"),
        ("n/a", "0%", "n/a"),
        (True, "0%", "TRUE"),
    ],
)  # fmt: skip
def test_a_share_is_written_as_percent(value: object, code: str, text: str) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for cell, content in {"C4": "Key", "D4": "Value", "C5": "a", "D5": value}.items():
        sheet[cell] = content
    sheet["D5"].number_format = code
    out = io.BytesIO()
    book.save(out)
    assert read("xlsx", out.getvalue()).text == f"Key: a | Value: {text}"


def test_merged_cells_offsets_and_charts() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for cell, value in {"C5": "Region", "D5": "Sum", "C6": "EMEA", "D6": 1, "D7": 2}.items():
        sheet[cell] = value
    sheet["C8"] = "APAC"
    sheet["D8"] = 3
    sheet.merge_cells("C6:C7")
    book.create_chartsheet("Chart")
    out = io.BytesIO()
    book.save(out)
    done = read("xlsx", out.getvalue())
    assert done.text == "Region: EMEA | Sum: 1\nRegion: EMEA | Sum: 2\nRegion: APAC | Sum: 3"
    assert labels(done) == ["sheet Sheet, rows 6-8"]


def test_a_formula_without_its_value_stands_for_it() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    cells = {"B4": "Item", "C4": "Cost", "D4": "Tax", "B5": "Pen", "C5": 2, "D5": "=C5*0.2",
             "B6": "Ink", "C6": 3, "D6": "=IF(C6<9,C6*0.2,1)", "B7": "All",
             "C7": "=SUM(C5:C6)"}  # fmt: skip
    for cell, value in cells.items():
        sheet[cell] = value
    out = io.BytesIO()
    book.save(out)
    counted = {
        b"<f>SUM(C5:C6)</f><v></v>": b"<f>SUM(C5:C6)</f><v>5</v>",
        b'r="D5">': b'r="D5" t="str">',  # its value is an empty text
    }
    saved = _changed(out.getvalue(), "xl/worksheets/sheet1.xml", counted)
    told = (
        "Item: Pen | Cost: 2{}\nItem: Ink | Cost: 3 | Tax: =IF(C6<9,C6*0.2,1)\nItem: All | Cost: {}"
    )
    plain = read("xlsx", out.getvalue())
    assert plain.text == told.format(" | Tax: =C5*0.2", "=SUM(C5:C6)")
    assert read("xlsx", saved).text == told.format("", "5")


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        (
            {"A1": "=NOW()", "C3": "Item", "D3": "Price", "C4": "Pen", "D4": 2, "F4": "=D4*2",
             "D5": "=SUM(D4:D4)"},
            "=NOW()\nItem: Pen | Price: 2 | =D4*2\nPrice: =SUM(D4:D4)",
        ),
        ({"B2": "=1+1", "B3": "=B2*2"}, "=1+1\n=B2*2"),
    ],
)  # fmt: skip
def test_formulas_without_their_values_stand_beside_all_that_have_one(
    cells: dict[str, object], text: str
) -> None:
    book, out = openpyxl.Workbook(), io.BytesIO()
    for place, value in cells.items():
        book.active[place] = value
    book.save(out)
    assert read("xlsx", out.getvalue()).text == text


ITEM, PEN, PRICE, INK = (
    f'<c t="inlineStr"><is>{text}</is></c>'
    for text in ("<t>Item</t>", "<t>Pen</t>", "<r><t>Pr</t></r><r><t>ice</t></r>", "<t>Ink</t>")
)
"""Cells without an address, as some exporters write them; one of rich text."""


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (
            f'<row r="1">{ITEM}{PRICE}</row><row r="2">{PEN}<c s="1"><v>0.25</v></c></row>',
            "Item: Pen | Price: 25%",
        ),
        (
            f'<row>{ITEM}{PRICE}</row><row>{PEN}<c s="1"><v>1</v></c></row>',
            "Item: Pen | Price: 100%",
        ),
        (
            f'<row r="3">{ITEM}<c/>{PRICE}</row><row>{PEN}<c/><c s="1"><v>0.5</v></c></row>'
            f'<row>{INK}<c/><c><f>1+1</f></c></row>',
            "Item: Pen | Price: 50%\nItem: Ink | Price: =1+1",
        ),
        (
            '<row><c r="C4" t="str"><v>Item</v></c><c t="str"><v>Price</v></c></row>'
            '<row><c r="C5" t="str"><v>Pen</v></c><c s="1"><v>0.5</v></c></row>',
            "Item: Pen | Price: 50%",
        ),
        (
            f'<row>{ITEM}{PRICE}</row><row>{PEN}<c t="d"><v>2024-01-05T00:00:00Z</v></c></row>'
            f'<row>{INK}<c t="d"><v>2024-01-05T14:30:00</v></c></row>',
            "Item: Pen | Price: 2024-01-05\nItem: Ink | Price: 2024-01-05 14:30",
        ),
        (
            f"<row>{ITEM}<!-- of a program -->{PRICE}</row><row>{PEN}<!-- and -->"
            "<c><f>SUM(<!-- it -->C1)</f></c></row><?a b?>"
            f'<row>{INK}<c t="d"><v>2024-01-05T14:30:00+02:00</v></c></row>',
            "Item: Pen | Price: =SUM(C1)\nItem: Ink | Price: 2024-01-05T14:30:00+02:00",
        ),
    ],
)  # fmt: skip
def test_cells_and_rows_need_not_name_their_place(rows: str, text: str) -> None:
    assert read("xlsx", _of_rows(rows)).text == text


@pytest.mark.parametrize("error", ["#DIV/0!", "#N/A", "#REF!", "#SPILL!", "#CALC!", "#NEW_ONE!"])
def test_an_error_is_read_as_it_is_shown(error: str) -> None:
    wrong = f'<c s="1" t="e"><f>1/0</f><v>{error}</v></c>'
    rows = f"<row>{ITEM}{PRICE}</row><row>{PEN}{wrong}</row><row>{INK}<c><v>3</v></c></row>"
    assert read("xlsx", _of_rows(rows)).text == f"Item: Pen | Price: {error}\nItem: Ink | Price: 3"


def test_days_count_from_1904_where_the_book_says_so() -> None:
    book = openpyxl.Workbook()
    book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    for row in (("Key", "Day"), ("a", datetime.date(2024, 1, 5))):
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    assert read("xlsx", out.getvalue()).text == "Key: a | Day: 2024-01-05"


def _of_rows(rows: str) -> bytes:
    """A workbook of one sheet with these rows; the cell style 1 is percent."""
    book = openpyxl.Workbook()
    book.active["A1"] = 0.5
    book.active["A1"].number_format = "0%"
    out = io.BytesIO()
    book.save(out)
    with zipfile.ZipFile(out) as saved:
        sheet = saved.read("xl/worksheets/sheet1.xml")
    (before,) = re.findall(rb"<sheetData>.*</sheetData>", sheet)
    after = f"<sheetData>{rows}</sheetData>".encode()
    return _changed(out.getvalue(), "xl/worksheets/sheet1.xml", {before: after})


def _changed(data: bytes, part: str, changes: Mapping[bytes, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(out, "w") as after:
        for name in before.namelist():
            content = before.read(name)
            for old, new in changes.items() if name == part else ():
                assert old in content
                content = content.replace(old, new)
            after.writestr(name, content)
    return out.getvalue()


def long_table(rows: int) -> ReadText:
    table = itertools.chain([("Key", "Name")], ((n, f"name {n}") for n in range(rows)))
    return read("xlsx", xlsx({"S": list(table)}))


def assert_long(rows: int) -> None:
    done = long_table(rows)
    assert len(done.sections) == rows // GROUP
    assert len(re.findall(r"^Key: \d+ \| Name: name \d+$", done.text, re.MULTILINE)) == rows
    assert labels(done)[-1] == f"sheet S, rows {rows - GROUP + 2}-{rows + 1}"


def test_a_long_sheet() -> None:
    assert_long(2_000)


@pytest.mark.soak
def test_a_sheet_of_100_000_rows() -> None:
    assert_long(100_000)


def test_a_cell_far_from_the_rest_is_refused_where_the_cells_between_do_not_fit() -> None:
    book = openpyxl.Workbook()
    book.active["A1"] = "Crate"
    for place, told in (("A1048576", None), ("XFD1048576", "1,048,576 rows and 16,384 columns")):
        book.active[place] = 7
        out = io.BytesIO()
        book.save(out)
        if told is None:
            assert read("xlsx", out.getvalue()).text == "Crate\n7"
            continue
        with pytest.raises(UnreadableFile, match=f"{told} with 3 cells in them: delete those far"):
            read("xlsx", out.getvalue())


def test_a_workbook_without_a_value_is_refused() -> None:
    with pytest.raises(UnreadableFile, match="empty"):
        read("xlsx", xlsx({"S": [], "T": [(None, " ")]}))
