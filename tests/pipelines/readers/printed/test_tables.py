"""Tables of a page: headers by path, rows with their groups, with lines and without."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

from pipelines.readers.grids import texts_of
from pipelines.readers.printed.rules import Rule
from pipelines.readers.printed.tables import FoundTable, Origin, find_tables, rows_below
from pipelines.readers.printed.words import Word
from tests.support.printed_pages import HEIGHT, drawn, opened, put, rules_of, words_of

Cells = dict[tuple[tuple[str, ...], tuple[str, ...]], str]


def tables_of(draw: Callable[[Canvas], None], page: int = 1) -> list[FoundTable]:
    with opened(drawn(draw)) as (shown, textpage):
        return find_tables(words_of(shown, textpage), rules_of(shown), page)


def cells_of(table: FoundTable) -> Cells:
    head = table.grid.head
    return {
        (texts_of(row.path), texts_of(head.columns[column])): entry.text
        for row in table.grid.rows
        for column, entry in enumerate(row.cells)
        if entry.text
    }


def put_right(canvas: Canvas, right: float, top: float, text: str) -> None:
    canvas.setFont("Helvetica", 10)
    canvas.drawRightString(right, HEIGHT - top - 10, text)


def put_middle(canvas: Canvas, middle: float, top: float, text: str) -> None:
    canvas.setFont("Helvetica-Bold", 10)
    canvas.drawCentredString(middle, HEIGHT - top - 10, text)


def put_line(canvas: Canvas, left: float, right: float, top: float) -> None:
    canvas.setLineWidth(0.7)
    canvas.line(left, HEIGHT - top, right, HEIGHT - top)


RIGHTS = (320, 400, 480, 560)


def put_row(canvas: Canvas, top: float, label: str, *values: str, indent: float = 0) -> None:
    put(canvas, 40 + indent, top, label)
    for right, value in zip(RIGHTS, values, strict=False):
        sign, _, number = value.rpartition(" ")
        if sign:
            put(canvas, right - 62, top, sign)
        put_right(canvas, right, top, number)


def statement(canvas: Canvas) -> None:
    """An income statement as filings print it: no grid, lines below headers and above totals."""
    put_middle(canvas, 300, 40, "STATEMENTS OF OPERATIONS")
    put_middle(canvas, 300, 54, "(In millions, except per share amounts)")
    put_middle(canvas, 325, 84, "Three Months Ended")
    put_middle(canvas, 485, 84, "Nine Months Ended")
    put_line(canvas, 250, 400, 98)
    put_line(canvas, 410, 560, 98)
    for middle, day, year in zip(
        (290, 370, 450, 530), ("July 1,", "June 25,") * 2, ("2023", "2022") * 2, strict=True
    ):
        put_middle(canvas, middle, 100, day)
        put_middle(canvas, middle, 110, year)
    put_row(canvas, 126, "Net sales:")
    put_row(canvas, 140, "Products", "$ 60,584", "$ 63,355", "$ 230,901", "$ 245,241", indent=10)
    put_row(canvas, 154, "Services (1)", "21,213", "19,604", "62,886", "58,941", indent=10)
    put_row(canvas, 168, "Total net sales", "81,797", "82,959", "293,787", "304,182", indent=20)
    put_row(canvas, 196, "Other income, net", "(265)", "(10)", "—", "(97)")
    put(canvas, 40, 240, "See the notes, which are part of these statements of operations.")


def test_a_statement_without_a_grid_has_its_headers_and_groups_by_path() -> None:
    (table,) = tables_of(statement)
    cells = cells_of(table)
    july, june = ("Three Months Ended", "July 1, 2023"), ("Nine Months Ended", "June 25, 2022")
    assert cells[("Net sales", "Products"), july] == "$60,584"
    assert cells[("Net sales", "Services"), june] == "58,941"
    assert cells[("Net sales", "Total net sales"), july] == "81,797"
    assert cells[("Other income, net",), june] == "(97)"
    assert len(cells) == 16
    assert table.grid.head.units.text == "(In millions, except per share amounts)"


def blocks_from_the_left(canvas: Canvas) -> None:
    """A sheet as spreadsheets print it: text at the left of its cells, of merged ones too."""
    for column, name in enumerate(("Actual", "Budget") * 2):
        put(canvas, 260 + 80 * column, 60, name)
        if column % 2 == 0:
            put(canvas, 260 + 80 * column, 42, str(2023 + column // 2))
    for number, label in enumerate(("Revenue", "Costs", "Research", "Taxes")):
        values = (f"{48 + number},210", f"{47 + number},000", f"{53 + number},140", "52,000")
        put_row(canvas, 76 + 14 * number, label, *values)
    put(canvas, 40, 200, "The research is explained below, with all that was begun in the year.")


def test_headers_at_the_left_of_merged_cells_stand_over_all_of_them() -> None:
    (table,) = tables_of(blocks_from_the_left)
    cells = cells_of(table)
    assert cells[("Revenue",), ("2023", "Budget")] == "47,000"
    assert cells[("Revenue",), ("2024", "Actual")] == "53,140"
    assert {column[0] for _, column in cells} == {"2023", "2024"}


def test_every_text_of_a_table_knows_its_words_and_its_page() -> None:
    (table,) = tables_of(statement, page=7)
    products = table.grid.rows[0]
    origin = products.cells[0].origin
    assert isinstance(origin, Origin) and origin.page == 7
    assert [word.text for word in origin.words] == ["$", "60,584"]
    assert origin.words[0].right < origin.words[1].left
    assert table.top < origin.words[0].top < origin.words[0].bottom < table.bottom


def test_the_text_around_a_table_is_not_taken() -> None:
    with opened(drawn(statement)) as (page, textpage):
        words = words_of(page, textpage)
        (table,) = find_tables(words, rules_of(page), 1)
    left = {word.text for index, word in enumerate(words) if index not in table.words}
    assert {"See", "notes,", "STATEMENTS"} <= left
    assert {"60,584", "Products", "(1)", "Three"}.isdisjoint(left)


def grid(canvas: Canvas) -> None:
    """Three columns in a grid, a header over two of them, a label of two lines."""
    edges, heights = (40, 200, 300, 400), (50, 70, 90, 130, 150)
    for top in heights:
        put_line(canvas, 200 if top == 70 else 40, 400, top)
    for edge in edges:
        first = 70 if edge == 300 else 50
        canvas.line(edge, HEIGHT - first, edge, HEIGHT - 150)
    put_middle(canvas, 300, 53, "Fiscal")
    put_middle(canvas, 250, 73, "2019")
    put_middle(canvas, 350, 73, "2018")
    put(canvas, 44, 95, "Cost of products sold", "and of services")
    put_right(canvas, 296, 107, "1,024")
    put_right(canvas, 396, 107, "980")
    put(canvas, 44, 133, "Regions")
    put_right(canvas, 296, 133, "Europe")


def test_a_grid_of_lines_gives_cells_of_several_lines_and_columns() -> None:
    (table,) = tables_of(grid)
    assert cells_of(table) == {
        (("Cost of products sold and of services",), ("Fiscal", "2019")): "1,024",
        (("Cost of products sold and of services",), ("Fiscal", "2018")): "980",
        (("Regions",), ("Fiscal", "2019")): "Europe",
    }


def prose(canvas: Canvas) -> None:
    text = "The company sold 1,200 units in 2023 and 1,100 in 2022, which is more."
    put(canvas, 40, 40, *[text] * 6)


def contents(canvas: Canvas) -> None:
    for number, (name, page) in enumerate(
        {"Financial Statements": 4, "Controls": 17, "Risk": 21}.items()
    ):
        put(canvas, 40, 40 + 14 * number, f"Item {number + 1}. {name}")
        put_right(canvas, 560, 40 + 14 * number, str(page))


def two_columns(canvas: Canvas) -> None:
    lines = [
        "These words stand in a column",
        "of text, beside another one,",
        "and are no table at all.",
    ]
    put(canvas, 40, 40, *lines * 3)
    put(canvas, 320, 40, *lines * 3)


def numbered(canvas: Canvas) -> None:
    for number in range(1, 6):
        put(canvas, 40, 30 + 14 * number, f"{number}.")
        put(canvas, 70, 30 + 14 * number, "An item of a list, which counts itself.")


@pytest.mark.parametrize("draw", [prose, contents, two_columns, numbered])
def test_what_is_no_table_stays_text(draw: Callable[[Canvas], None]) -> None:
    assert tables_of(draw) == []


def test_a_table_goes_on_over_the_page_and_its_repeated_header_is_dropped() -> None:
    (upper,), (lower,) = tables_of(statement, 1), tables_of(statement, 2)
    rows = rows_below(upper, lower)
    assert rows is not None
    assert texts_of(rows[0].path) == ("Net sales", "Products")
    assert rows_below(lower, upper) is None


def test_other_headers_or_columns_are_another_table() -> None:
    (upper,), (other,) = tables_of(statement, 1), tables_of(grid, 2)
    assert rows_below(upper, other) is None


def small(text: str, left: float, top: float) -> Word:
    return Word(text, left, top, left + 2, top + 3, 3)


HOSTILE = {
    "numbers as dust": [small("1,250", 3 * (n % 190), 4 * (n // 190)) for n in range(19_000)],
    "one line": [small("7.5", 9 * n, 10) for n in range(19_000)],
    "labels without end": [
        small("and" if n % 9 else "12.5", 0 if n % 9 else 400, 2 * n) for n in range(19_000)
    ],
}


def stairs(steps: int) -> list[Rule]:
    """Level and upright lines, each of which meets the next."""
    corners = [10.0 * step for step in range(steps)]
    return [
        line
        for at in corners
        for line in (Rule(at, at, at + 10, at + 1), Rule(at + 10, at, at + 11, at + 10))
    ]


@pytest.mark.parametrize("words", HOSTILE.values(), ids=HOSTILE)
def test_a_page_made_to_be_slow_is_read_in_time(words: list[Word]) -> None:
    begun = time.process_time()
    find_tables(words, stairs(1400), 1)
    assert time.process_time() - begun < 10


def test_a_chart_and_a_list_of_exhibits_are_no_tables() -> None:
    def chart(canvas: Canvas) -> None:
        for number in range(5):
            put(canvas, 60 + 90 * number, 300 - 23 * number, f"${number}.5")
            put(canvas, 90 + 90 * number, 300 - 23 * number, f"${number}.7")

    def exhibits(canvas: Canvas) -> None:
        for number in range(3):
            put(canvas, 40, 40 + 14 * number, f"31.{number}")
            put(canvas, 90, 40 + 14 * number, "Certification of the chief executive officer")

    assert tables_of(chart) == tables_of(exhibits) == []


def test_a_table_in_one_of_two_columns_of_text_has_no_cells_in_the_other() -> None:
    text = ["Patients who were treated early had", "better outcomes than those who were"] * 3
    rows = {"Age (years)": ("54.2", "51.9"), "Male": ("120", "98"), "Smokers": ("33", "41")}

    def page(canvas: Canvas) -> None:
        put(canvas, 40, 40, *text * 4)
        put(canvas, 320, 40, *text)
        put_right(canvas, 480, 124, "Treated")
        put_right(canvas, 550, 124, "Control")
        for number, (label, (one, other)) in enumerate(rows.items()):
            put(canvas, 320, 136 + 12 * number, label)
            put_right(canvas, 480, 136 + 12 * number, one)
            put_right(canvas, 550, 136 + 12 * number, other)
        put(canvas, 320, 210, *text)

    (table,) = tables_of(page)
    assert cells_of(table) == {
        ((label,), (name,)): value
        for label, values in rows.items()
        for name, value in zip(("Treated", "Control"), values, strict=True)
    }
    assert table.left > 300
