"""The checks of what a source is made of."""

from __future__ import annotations

from typing import Any

import pytest

from helix.errors import BadRequest
from helix.library.source_forms import checked_source


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"address": "https://me:secret@host/x"}, "carries a password"),
        ({"address": " "}, "address is missing: a folder"),
        ({"name": "12"}, "no number alone"),
        ({"options": {"watch": "maybe"}}, "options.watch is true or false"),
        ({"options": {"speed": 1}}, "has no option 'speed'"),
        ({"include": [""]}, "patterns such as"),
        ({"every_seconds": 30}, "60 seconds to a year"),
        ({"max_age_days": 10**12}, "max_age_days is up to 36500"),
        ({"max_bytes": -1}, "max_bytes is a whole number"),
        ({"group_map": {"staff": []}}, "ids of one space or more"),
        ({"folder_keys": ["no key!"]}, "is no key of metadata"),
        ({"kind": "tape"}, "there is no kind of source 'tape'"),
    ],
)
def test_what_cannot_be_stored_is_told(given: dict[str, Any], said: str) -> None:
    with pytest.raises(BadRequest, match=said):
        checked_source({"kind": "folder", **given})


def test_what_is_not_given_is_not_there() -> None:
    checked = checked_source(
        {"kind": "folder", "name": " Crates ", "tags": None, "options": {"watch": "yes"},
         "group_map": {"staff": [2, 1, 2]}}
    )  # fmt: skip
    assert checked == {
        "kind": "folder", "name": "Crates", "options": {"watch": True},
        "group_map": {"staff": [1, 2]}
    }  # fmt: skip
