"""Rows of Markdown tables: their cells where they stand, and none where a bar is in doubt."""

from __future__ import annotations

import pytest

from helix.language.markdown_rows import table_rows

TABLE = (
    "Prices in euros\n\n| Plan | Price | Seats |\n|:--|--:|---|\n| Free | 0 | 1 |\n|Team|14|  |\n"
)


def test_each_cell_has_its_header_and_its_place() -> None:
    (free, above), (team, _) = table_rows(TABLE)
    assert TABLE[slice(*above)] == "Prices in euros"
    assert (free.corner, free.path) == ("Plan", ("Free",))
    assert [(cell.header, cell.value) for cell in free.cells] == [("Price", "0"), ("Seats", "1")]
    assert [(cell.header, cell.value) for cell in team.cells] == [("Price", "14")]
    for row in (free, team):
        assert TABLE[row.start : row.end].startswith("|")
        assert all(TABLE[cell.start : cell.end] == cell.value for cell in row.cells)


def test_a_row_of_numbers_has_no_label() -> None:
    ((row, _),) = table_rows("| No. | Task |\n|---|---|\n| 1 | Paint |")
    assert (row.corner, row.path) == ("", ())
    assert [cell.header for cell in row.cells] == ["No.", "Task"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a | b",
        "| Free | 0 |\n| Team | 14 |",  # a part of a table, without its header
        "| Plan | Price |\n|---|\n| Free | 0 |",
        "| Plan | Price |\n|---|---|\n| Free \\| Trial | 0 |",
        "| Plan | Price |\n|---|---|\n| `a|b` | 0 |",
        "| Plan | Price |\n|---|---|\n| Free | 0 | 1 |",
        "| Plan | Price |\n|---|---|\n\n| Free | 0 |",
    ],
)
def test_what_is_not_clear_is_no_row(text: str) -> None:
    assert list(table_rows(text)) == []


def test_rows_of_other_formats_are_among_them() -> None:
    ((row, _),) = table_rows("Plan: Free | Price: 0")
    assert (row.corner, row.path) == ("Plan", ("Free",))
