"""Periods as texts name them, and the keys by which they compare."""

from __future__ import annotations

from datetime import date

import pytest

from helix.language.periods import asks_for_latest, ended, keys_until, periods, reported


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("revenue in the quarter ended July 1, 2023", "day:2023-07-01"),
        ("as of December 31, 2022", "day:2022-12-31"),
        ("the 3rd of May 2021", "day:2021-05-03"),
        ("on 2021-03-01", "day:2021-03-01"),
        ("Q3 2023", "quarter:2023-3"),
        ("3Q23", "quarter:2023-3"),
        ("Q1 FY24", "quarter:2024-1"),
        ("2022 Q3 AAPL", "quarter:2022-3"),
        ("the third quarter of fiscal 2023", "quarter:2023-3"),
        ("the third-quarter 2022 results", "quarter:2022-3"),
        ("fiscal 2023's third quarter", "quarter:2023-3"),
        ("the first half of 2023", "half:2023-1"),
        ("in June 2023", "month:2023-06"),
        ("in 2022", "annual:2022"),
        ("FY22", "annual:2022"),
    ],
)
def test_a_period_is_found_as_what_it_is_exactly(text: str, key: str) -> None:
    (found,) = periods(text)
    assert found.keys[0] == key
    assert text[found.start : found.end] in text


@pytest.mark.parametrize("text", ["$2,022", "2022%", "1.2022", "June 31, 2023", "part 20231"])
def test_a_number_is_no_period(text: str) -> None:
    assert all(not one.keys[0].startswith("day") for one in periods(text))
    assert [text[one.start : one.end] for one in periods(text)] in ([], ["2023"], ["June 31, 2023"])


def test_several_periods_come_in_their_order() -> None:
    text = "from Q1 2022 to the quarter ended July 1, 2023, and 2021"
    assert [one.keys[0] for one in periods(text)] == [
        "quarter:2022-1", "day:2023-07-01", "annual:2021"
    ]  # fmt: skip


def test_a_quarter_that_ends_in_the_next_month_is_of_the_one_before() -> None:
    keys = keys_until(date(2023, 7, 1), 3)
    assert {"quarter:2023-2", "month:2023-06", "day:2023-07-01", "year:2023"} <= set(keys)
    assert "annual:2023" not in keys


def test_a_year_that_ends_in_january_has_both_numbers() -> None:
    assert {"annual:2022", "annual:2023"} <= set(keys_until(date(2023, 1, 28), 12))
    assert "annual:2021" not in keys_until(date(2022, 12, 31), 12)


def test_what_has_ended_says_how_long_it_was() -> None:
    text = "For the Quarterly Period Ended September 30, 2022, and the year ended 31 March 2021"
    found = [(one.what, one.months, one.day) for one in ended(text)]
    assert found == [("quarter", 3, date(2022, 9, 30)), ("year", 12, date(2021, 3, 31))]


@pytest.mark.parametrize(
    ("period", "day"),
    [
        ("quarter ended July 1, 2023", date(2023, 7, 1)), ("Q3 2023", date(2023, 9, 28)),
        ("2022", date(2022, 12, 28)), ("spring", None),
    ],
)  # fmt: skip
def test_reports_are_ordered_by_the_end_of_their_period(period: str, day: date | None) -> None:
    assert reported(period)[1] == day


def test_the_latest_is_asked_for_by_its_words() -> None:
    assert asks_for_latest("the most recent 10-Q")
    assert not asks_for_latest("How late is a late fee?")
