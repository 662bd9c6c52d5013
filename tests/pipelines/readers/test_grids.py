"""Grids: lines that say what their numbers are, cells with their spans, origins where they land."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.domain.tables import Table
from pipelines.readers import ReadText
from pipelines.readers.draft import Draft, TableDraft
from pipelines.readers.grids import GROUP, Entry, Grid, GridHead, GridRow, Path, one_table


def path(*texts: str) -> Path:
    return tuple(map(Entry, texts))


def row(label: Path, *cells: str, number: int | None = None) -> GridRow:
    return GridRow(label, tuple(map(Entry, cells)), number)


SALES = GridHead(
    (path("Three Months Ended", "July 1, 2023"), path("Three Months Ended", "June 25, 2022")),
    Entry("Net sales by category"),
    Entry("in millions"),
)


def add_grid(draft: Draft, grid: Grid, label: str = "", page: int | None = None) -> None:
    table = TableDraft(draft, grid.head, ("Note 2",))
    table.add(grid.rows, page=page, label=label)
    table.close()


def read(grid: Grid) -> ReadText:
    draft = Draft()
    add_grid(draft, grid, "page 7", 7)
    return draft.finish(None)


def values(done: ReadText, table: Table) -> dict[tuple[int, int], str]:
    return {(cell.row, cell.column): done.text[cell.start : cell.end] for cell in table.cells}


def test_a_line_says_what_its_numbers_are() -> None:
    rows = (
        row(path("Net sales", "Products"), "$60,584", "$63,355"),
        row(path("Total"), "", "82,959"),
    )
    done = read(Grid(SALES, rows))
    assert done.text.splitlines() == [
        "Net sales by category (in millions)",
        "Net sales › Products | Three Months Ended › July 1, 2023: $60,584"
        " | Three Months Ended › June 25, 2022: $63,355",
        "Total | Three Months Ended › June 25, 2022: 82,959",
    ]
    (table,) = done.tables
    assert (table.start, table.end, table.page) == (0, len(done.text), 7)
    assert (table.caption, table.units) == ("Net sales by category", "in millions")
    assert table.rows == (("Net sales", "Products"), ("Total",))
    assert table.columns[1] == ("Three Months Ended", "June 25, 2022")
    assert values(done, table) == {(0, 0): "$60,584", (0, 1): "$63,355", (1, 1): "82,959"}
    (section,) = done.sections
    assert (section.heading_path, section.page, section.label) == (("Note 2",), 7, "page 7")
    assert section.rows and section.context.startswith("Three Months Ended › July 1, 2023 | ")


@pytest.mark.parametrize(
    ("caption", "units", "line"),
    [
        ("Sales", "(in millions)", "Sales (in millions)"),
        ("Sales (in millions)", "in millions", "Sales (in millions)"),
        ("", "in millions", "(in millions)"),
        ("Sales", "", "Sales"),
    ],
)
def test_units_are_said_once(caption: str, units: str, line: str) -> None:
    head = GridHead((path("2023"),), Entry(caption), Entry(units))
    assert read(Grid(head, (row(path("Mac"), "1"),))).text == f"{line}\nMac | 2023: 1"


def test_every_section_of_a_long_table_tells_its_units() -> None:
    rows = tuple(row(path(f"Line {n}"), str(n), str(-n)) for n in range(50))
    done = read(Grid(SALES, rows))
    parts = [done.text[section.start : section.end] for section in done.sections]
    assert {part.splitlines()[0] for part in parts} == {"Net sales by category (in millions)"}
    assert all(len(part) < 2_200 and len(part.splitlines()) <= GROUP + 1 for part in parts)
    (table,) = done.tables
    assert values(done, table) == {
        (n, column): str(value) for n in range(50) for column, value in enumerate((n, -n))
    }


def test_a_corner_names_the_labels() -> None:
    head = GridHead((path("Price"),), corner=Entry("Item"))
    done = read(Grid(head, (row(path("Desk"), "100"),)))
    assert done.text == "Item: Desk | Price: 100"
    assert done.sections[0].context == "Item | Price"


def test_a_table_may_go_on_after_other_text() -> None:
    draft = Draft()
    draft.add("Page one.")
    table = TableDraft(draft, GridHead((path("2023"),)))
    table.add([row(path("Mac"), "1")], page=1, label="page 1")
    draft.add("A footnote.", page=1)
    table.add([row(path("iPad"), "2")], page=2, label="page 2")
    table.add([row(path("iPhone"), "3")], page=2, label="page 2")
    table.close()
    done = draft.finish(None)
    assert done.text == (
        "Page one.\n\nMac | 2023: 1\n\nA footnote.\n\niPad | 2023: 2\niPhone | 2023: 3"
    )
    (kept,) = done.tables
    assert values(done, kept) == {(0, 0): "1", (1, 0): "2", (2, 0): "3"}
    assert kept.page == 1
    assert [section.page for section in done.sections] == [None, 1, 1, 2, 2]


def test_the_cells_of_a_document_are_bounded_and_its_text_is_not() -> None:
    draft = Draft()
    draft.free_cells = 5
    for _ in range(2):
        rows = tuple(row(path(f"Line {n}"), "1", "2") for n in range(2))
        add_grid(draft, Grid(SALES, rows))
    done = draft.finish(None)
    assert [len(table.cells) for table in done.tables] == [4, 1]
    assert [len(table.rows) for table in done.tables] == [2, 1]
    assert done.text.count("Line 1") == 2


def test_long_headers_are_not_repeated_whole() -> None:
    head = GridHead((path("outer " * 40, "middle " * 40, "inner " * 40),))
    lines, _ = one_table(Grid(head, (row((), "1"), row((), "2"))))
    assert all(len(line) < 300 and "inner" in line for line in lines.text.splitlines())


WORDS = st.text(string.ascii_letters + "0123 €.", max_size=8).map(
    lambda text: " ".join(text.split())
)


@given(st.data(), st.integers(0, 3), st.integers(0, 45))
def test_what_lands_is_what_was_given(data: st.DataObject, width: int, height: int) -> None:
    def entry() -> Entry:
        text = data.draw(WORDS)
        return Entry(text, ("origin", text))

    columns = tuple((entry(), entry()) for _ in range(width))
    rows = tuple(
        GridRow((entry(),), tuple(entry() for _ in range(width)), number)
        for number in range(1, height + 1)
    )
    draft = Draft()
    draft.add("Before.")
    add_grid(draft, Grid(GridHead(columns, entry(), entry(), entry()), rows), "table 1, ")
    done = draft.finish(None)
    for start, end, origin in draft.landed:
        assert origin == ("origin", done.text[start:end])
    written = {origin for _, _, origin in draft.landed}
    for one in rows:
        assert {cell.origin for cell in (*one.path, *one.cells) if cell.text} <= written
    for table in done.tables:
        assert values(done, table) == {
            (index, column): cell.text
            for index, one in enumerate(rows)
            for column, cell in enumerate(one.cells)
            if cell.text
        }
