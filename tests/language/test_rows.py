"""The scale of a number in a table's row: that of the line above it, percent, or neither."""

from __future__ import annotations

import pytest

from helix.language.rows import counted_in, rows_of, units_in

ABOVE = "Intangible assets (in millions)"


@pytest.mark.parametrize(
    ("row", "counted"),
    [
        ("Licences | Fair value: 232 | Note: 1", "million"),
        ("Licences | Weighted-Average Useful Lives (in years): 5.0 | Note: 1", ""),
        ("OEM | 2019 (As percentage of net revenues): 30 | Note: 1", "%"),
        ("Percentage of net revenues | 2019: 30 | 2018: 31", "%"),
        ("Percentage of net revenues | 2019: $30 | 2018: $31", ""),
        ("Sale of 20 percent of Acme | 2019: 30 | 2018: 31", ""),
        ("Growth (%) | 2019: 30 | 2018: 31", "%"),
    ],
)
def test_a_number_counts_what_its_own_names_say(row: str, counted: str) -> None:
    text = f"{ABOVE}\n{row}"
    ((found, above),) = rows_of(text)
    assert counted_in(found, found.cells[0], units_in(text, above)) == counted
