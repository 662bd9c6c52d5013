"""Tables and CSV: no value is lost, each line names its columns, sections hold 20 rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.readers import ReadText, UnreadableFile, read
from pipelines.readers.draft import Draft
from pipelines.readers.grids import GROUP
from pipelines.readers.table_heads import Cells, Row
from pipelines.readers.tables import add_table, one_line, parts_of
from tests.support.sample_documents import Rows, csv, xlsx

CELL = st.text("abc12. :|€\n\u2028", max_size=6)
ROWS = st.lists(st.lists(CELL, max_size=5), max_size=60)
NAMES = st.lists(st.text("abcdef", min_size=1, max_size=6), min_size=2, max_size=5, unique=True)


def numbered(rows: Rows) -> Iterator[Row]:
    for number, row in enumerate(rows, 1):
        yield Row(number, [one_line(str(cell)) for cell in row])


def parts(done: ReadText) -> list[str]:
    return [done.text[section.start : section.end] for section in done.sections]


def labels(done: ReadText) -> list[str]:
    return [section.label for section in done.sections]


def assert_tiled(done: ReadText) -> None:
    """Sections are in order, none overlaps, and nothing but white space is outside them."""
    at = 0
    for section in done.sections:
        assert at <= section.start < section.end
        assert not done.text[at : section.start].strip()
        at = section.end
    assert at == len(done.text)


@given(ROWS)
def test_every_value_of_any_table_is_in_its_text(rows: list[list[str]]) -> None:
    draft = Draft()
    add_table(draft, numbered(rows))
    values = [one_line(cell) for row in rows for cell in row if one_line(cell)]
    if not values:
        with pytest.raises(UnreadableFile, match="empty"):
            draft.finish(None)
        return
    done = draft.finish(None)
    # the colon of a row that names the rows below it is left out
    assert all(value.removesuffix(":").rstrip() in done.text for value in values)
    assert_tiled(done)


@given(NAMES, st.integers(1, 65), st.booleans())
def test_each_line_names_its_columns_and_each_section_holds_twenty(
    names: list[str], count: int, titled: bool
) -> None:
    data = [[f"{row}.{column}" for column in range(len(names))] for row in range(count)]
    rows: list[list[str]] = [["A title"], [], names, *data] if titled else [names, *data]
    draft = Draft()
    add_table(draft, numbered(rows), ("Budget",), "sheet Budget, ")
    done = draft.finish(None)
    groups = [done.text[one.start : one.end].splitlines() for one in done.sections]
    assert [len(group) - titled for group in groups] == [
        min(GROUP, count - start) for start in range(0, count, GROUP)
    ]
    assert {section.context for section in done.sections} == {" | ".join(names)}
    assert all(section.rows and section.heading_path == ("Budget",) for section in done.sections)
    assert not titled or all(group.pop(0) == "A title" for group in groups)
    assert [line for group in groups for line in group] == [
        " | ".join(f"{name}: {value}" for name, value in zip(names, row, strict=True))
        for row in data
    ]


def test_a_table_is_read_no_further_than_it_must_be() -> None:
    taken = itertools.count(1)
    endless = (Row(number, ["a", f"{number}"]) for number in taken)
    assert len(next(parts_of(endless)).rows) == GROUP
    assert next(taken) < 4 * GROUP


@pytest.mark.parametrize(
    ("rows", "context"),
    [
        ([["Region", "2021", "2022"], ["EMEA", "12", "13"]], "Region | 2021 | 2022"),
        ([["", "Revenue", "Cost"], ["EMEA", "12", "13"]], "Revenue | Cost"),
        ([["Name", "City"], ["Ann", "Berlin"]], "Name | City"),
        ([["Ann", "12"], ["Ben", "13"]], ""),  # a number over numbers is one of them
        ([["1999", "Alien"], ["2003", "Oldboy"]], ""),
        ([["Notes", "Notes"], ["a", "b"]], ""),  # names no column
        ([["Name:", "Ann"], ["City:", "Berlin"]], ""),  # a form
        ([["a" * 121, "b"], ["1", "2"]], ""),
        ([["One column"], ["1"]], ""),
        ([["Only", "this"]], ""),
    ],
)
def test_a_header_is_known_by_its_look(rows: list[Cells], context: str) -> None:
    draft = Draft()
    add_table(draft, numbered(rows))
    assert draft.finish(None).sections[-1].context == context


def test_notes_of_several_cells_above_a_header_name_no_column() -> None:
    notes = [("Lots of", "people", "like", "", "to write"), ("here", "and", "", "", "there")]
    table = [("Name", "Trade", "Age", "Born", "Died"), ("Ann", "singer", 69, "1947-01-08", "2016")]
    done = read("xlsx", xlsx({"S": [*notes, *table, ("Ben", "author", 89, "1926-04-28", "2016")]}))
    assert done.sections[-1].context == "Name | Trade | Age | Born | Died"
    assert parts(done)[-1].splitlines()[0].endswith("Age: 69 | Born: 1947-01-08 | Died: 2016")


def test_a_note_below_another_may_have_merged_cells() -> None:
    rows = [
        Row(1, ["at", "the", "top", "of", "a sheet", ""]),
        Row(2, ["or", "merging", "", "", "", "cells"], {1: 4}),
        Row(3, ["Name", "Trade", "Age", "Kids", "Born", "Died"]),
        Row(4, ["Ann", "singer", "69", "TRUE", "1947-01-08", "2016-01-10"]),
    ]
    [*_, last] = parts_of(rows)
    assert [str(column[0].text) for column in last.head.columns][-1] == "Died"
    grouped = [
        Row(1, ["Region", "Sales", "", "Costs", ""], {1: 2, 3: 2}),
        Row(2, ["", "net", "gross", "own", "other"]),
        Row(3, ["EMEA", "1", "2", "3", "4"]),
    ]
    [only] = parts_of(grouped)
    assert [entry.text for entry in only.head.columns[0]] == ["Sales", "net"]


@pytest.mark.parametrize("first", ["Store", "1"])
def test_each_line_of_a_wide_row_names_its_row(first: str) -> None:
    """Else a number whose row's name is in another chunk is nobody's."""
    days = [f"Day {number}" for number in range(400)]
    stores = [[f"{first} {name}" if first == "Store" else first * 2, *days] for name in "ab"]
    done = read("csv", csv([["Key", *days], *[[one[0], *map(str, range(400))] for one in stores]]))
    lines = done.text.splitlines()
    assert len(lines) > 2 and max(map(len, lines)) < 2_000
    assert all(line.startswith(f"Key: {first}") for line in lines)
    (table,) = done.tables
    columns = [table.columns[cell.column][-1] for cell in table.cells if cell.row == 1]
    values = [done.text[cell.start : cell.end] for cell in table.cells if cell.row == 1]
    assert [f"Day {value}" for value in values[-400:]] == columns[-400:] == days


def test_a_list_of_words_keeps_its_header() -> None:
    rows = [("Name", "City"), ("Ann", "Berlin", "late"), ("Ben", "Ghent"), ("Cy", 12)]
    assert parts(read("xlsx", xlsx({"S": rows})))[-1].startswith("Name: Ann | City: Berlin")


def test_a_column_without_values_is_still_named() -> None:
    done = read("csv", csv([("Name", "Remarks"), ("Ann", ""), ("Ben", "")]))
    assert parts(done) == ["Name | Remarks", "Name: Ann\nName: Ben"]
    assert labels(done) == ["row 1", "rows 2-3"]


def test_a_second_table_below_the_first_has_its_own_header() -> None:
    first = [("Region", "Revenue"), ("EMEA", 12), ("APAC", 13), ()]
    second = [("Costs",), (), ("Item", "Price"), ("Desk", 100), ("Lamp", 20)]
    done = read("xlsx", xlsx({"S": [*first, *second]}))
    assert parts(done) == [
        "Region: EMEA | Revenue: 12\nRegion: APAC | Revenue: 13",
        "Costs",
        "Item: Desk | Price: 100\nItem: Lamp | Price: 20",
    ]


def test_a_gap_in_a_table_does_not_end_it() -> None:
    done = read("xlsx", xlsx({"S": [("Region", "Revenue"), ("EMEA", 12), (), ("APAC", 13)]}))
    assert parts(done) == ["Region: EMEA | Revenue: 12\nRegion: APAC | Revenue: 13"]
    assert labels(done) == ["sheet S, rows 2-4"]


# CSV


@given(
    st.sampled_from(",;\t|"),
    st.lists(st.lists(st.text('ab12 "\n,;\t', max_size=5), min_size=3, max_size=3), min_size=1),
)
def test_a_csv_gives_its_cells_back(delimiter: str, rows: list[list[str]]) -> None:
    others = set(",;\t|") - {delimiter}
    rows = [["".join(set(cell) - others) for cell in row] for row in rows]
    if not any(one_line(cell).strip('"') for row in rows for cell in row):
        return
    done = read("csv", csv([("First", "Second", "Third"), *rows], delimiter))
    assert_tiled(done)
    for cell in (one_line(cell) for row in rows for cell in row):
        assert cell in done.text


def test_delimiters_are_found() -> None:
    decimal = b"Name;Price\nDesk;1,50\nLamp;2,75\n"
    assert parts(read("csv", decimal)) == ["Name: Desk | Price: 1,50\nName: Lamp | Price: 2,75"]
    named = b"sep=|\nName|Price\nDesk|1\n"
    assert parts(read("csv", named)) == ["Name: Desk | Price: 1"]
    prose = b"Name of the thing\nDesk, old\nLamp\nChair\nShelf\n"
    assert parts(read("csv", prose)) == [prose.decode().strip()]


def test_a_csv_of_odd_rows_keeps_them() -> None:
    done = read("csv", b"\xef\xbb\xbfName,Price\r\nDesk,1,extra\r\n\r\nLamp\r\n,\r\nShelf,3\r\n")
    assert parts(done) == ["Name: Desk | Price: 1 | extra\nName: Lamp\nName: Shelf | Price: 3"]
    assert labels(done) == ["rows 2-6"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_csv_of_another_encoding(encoding: str) -> None:
    rows = [("Straße", "Gebühr"), *((f"Größe {n}", "Übermäßig schön für Mädchen") for n in (1, 2))]
    line = "Straße: Größe 1 | Gebühr: Übermäßig schön für Mädchen"
    assert read("csv", csv(rows, ";", encoding)).text.splitlines()[0] == line


def test_a_quoted_cell_may_have_lines() -> None:
    done = read("csv", b'Name,Note\n"Desk","one\ntwo, three"\n')
    assert parts(done) == ["Name: Desk | Note: one two, three"]


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b'Name,Note\nDesk,"never closed\nLamp,new\n', 'Name: Desk | Note: "never closed'),
        (b'Name,Note\nDesk,"a"b\nLamp,new\n', "Name: Desk | Note: ab"),
        (b'Name,Note\nPipe 5",old\nLamp,new\n', 'Name: Pipe 5" | Note: old'),
    ],
)
def test_stray_quotes_lose_no_row(data: bytes, line: str) -> None:
    assert parts(read("csv", data)) == [f"{line}\nName: Lamp | Note: new"]


def test_what_is_no_csv_is_refused() -> None:
    for data, reason in [
        (b"a,b\n1,\x002\n", "NUL"),
        (b"", "empty"),
        (b",,\n,,\n", "empty"),
        (b"a,b\n1," + b"x" * 1_000_001, "1,000,000"),
    ]:
        with pytest.raises(UnreadableFile, match=reason):
            read("csv", data)


def test_a_long_label_is_whole_in_the_first_line_of_its_row_alone() -> None:
    """Else a row of a megabyte would be a text of a hundred."""
    for label in ("L" * 10_000, "7" * 10_000):
        row = [label, *["x" * 1_490] * 20]
        text = read("csv", csv([["Key", *[f"Column {n}" for n in range(20)]], row, row])).text
        assert text.count(label) == 2 and len(text) < 100_000
