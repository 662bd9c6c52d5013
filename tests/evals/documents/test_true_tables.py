"""The truth of a table from its raw matrix, and the labels made by hand."""

from __future__ import annotations

from evals.documents.true_tables import is_value, labelled_tables, matrix_table

MATRIX = (
    ("", "", "Years Ended September 30,", ""),
    ("(in millions)", "2019", "2018", "2017"),
    ("Sales:", "", "", ""),
    ("Fixed price", "$  1,452.4", "$  1,146.2", "—"),
    ("Other(1)", "44.1", "(56.7)", ""),
    ("Total sales", "$1,496.5", "$1,202.9", "$1,107.7"),
    ("Employees", "120", "118", "117"),
)


def test_values_are_numbers_that_are_no_years_and_dashes() -> None:
    assert all(map(is_value, ("1,452.4", "$  44.1", "(56.7)", "(4)%", "12 %", "—", "€1", "-3")))
    assert not any(map(is_value, ("2019", "June 30, 2019", "Q1 2019", "US$000", "", "n/a")))


def test_a_matrix_becomes_cells_with_the_paths_that_its_print_shows() -> None:
    table = matrix_table(MATRIX)
    assert table is not None
    assert table.spans == (
        ((1, 3, "Years Ended September 30,"),),
        ((1, 1, "2019"), (2, 2, "2018"), (3, 3, "2017")),
    )
    by_text = {cell.text: cell for cell in table.cells}
    assert by_text["$ 1,452.4"].columns == (("Years Ended September 30,", "2019"),)
    assert by_text["$ 1,452.4"].rows == (("Sales:", "Fixed price"),)
    assert by_text["$1,107.7"].rows == (("Sales:", "Total sales"), ("Total sales",))
    assert by_text["120"].rows == (("Employees",),), "a total ends its group"
    assert len(table.cells) == 3 + 2 + 3 + 3
    indented = [row.cells[0] for row in table.rows if row.indented]
    assert indented == ["Fixed price", "Other(1)"]


def test_a_header_spans_its_block_or_runs_on_to_the_next() -> None:
    even = matrix_table(
        (("", "A", "", "B", ""), ("", "x", "y", "x", "y"), ("r", "1", "2", "3", "4"))
    )
    assert even is not None and even.spans[0] == ((1, 2, "A"), (3, 4, "B"))
    late = matrix_table((("", "", "A", ""), ("", "x", "y", "z"), ("r", "1", "2", "3")))
    assert late is not None and late.spans[0] == ((1, 3, "A"),)
    uneven = matrix_table((("", "A", "B", ""), ("", "x", "y", "z"), ("r", "1", "2", "3")))
    assert uneven is not None and uneven.spans[0] == ((1, 1, "A"), (2, 3, "B"))


def test_a_scale_may_be_in_the_path_of_a_column_and_is_no_group() -> None:
    rows = (("", "2019", "2018"), ("", "(in thousands)", ""), ("(In millions)", "", ""))
    table = matrix_table((*rows, ("r", "1", "2")))
    assert table is not None
    with_scale = ("2019", "(in thousands)")
    assert table.cells[0].columns == (with_scale, with_scale[:1]), "either is right"
    assert {cell.rows for cell in table.cells} == {(("r",),)}
    at_end = matrix_table((("", "2019 (in thousands)"), ("r", "1")))
    assert at_end is not None
    assert at_end.cells[0].columns == (("2019 (in thousands)",), ("2019",))
    assert matrix_table((("a", "b"), ("c", "d"))) is None


def test_a_corner_that_the_years_complete_may_be_in_their_paths() -> None:
    table = matrix_table((("Year ended June 30,", "2019", "2018"), ("r", "1", "2")))
    assert table is not None
    assert table.cells[0].columns == (("2019",), ("Year ended June 30,", "2019"))
    other = matrix_table((("Region", "2019"), ("r", "1")))
    assert other is not None and other.cells[0].columns == (("2019",),)


def test_a_table_ends_where_another_header_begins() -> None:
    head = (("", "2019", "2018"), ("A:", "", ""), ("r", "1", "2"), ("", "1", "2"), ("s", "3", "4"))
    table = matrix_table((*head, ("", "As of 2018", ""), ("t", "5", "6")))
    assert table is not None
    assert [cell.text for cell in table.cells] == ["1", "2", "1", "2", "3", "4"]
    assert table.cells[-1].rows == (("s",),), "a sum without a label ends its group"


def test_forty_tables_are_labelled_with_at_least_twelve_cells_each() -> None:
    tables = labelled_tables()
    assert len(tables) == 40
    assert min(len(table.cells) for table in tables) >= 12
    assert len({table.document for table in tables}) >= 15
    statement = next(one for one in tables if one.name == "cash and securities")
    with_date = ("July 1, 2023", "Adjusted Cost")
    assert statement.cells[0].columns == (with_date, with_date[1:]), "a date above may be left out"
