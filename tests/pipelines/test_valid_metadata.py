"""Metadata that a stranger says: what is usable of it, and never an error."""

from __future__ import annotations

from datetime import UTC, datetime

from pipelines.valid_metadata import valid_metadata


def test_what_is_no_metadata_is_left_out_and_what_is_long_is_cut() -> None:
    given = {
        "Mail date": datetime(2025, 3, 4, tzinfo=UTC), "to": ["a@x", "", {}], "empty": " ",
        "7": "no key", "long": "x" * 9_000, "day": "0000-00-00",
    }  # fmt: skip
    assert valid_metadata(given) == {
        "mail_date": "2025-03-04T00:00:00Z", "to": ["a@x"], "long": "x" * 500,
    }  # fmt: skip
