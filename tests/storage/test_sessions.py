"""The spaces of a transaction, as the settings that tell the database of them."""

from __future__ import annotations

import json
from bisect import bisect_right

from hypothesis import given
from hypothesis import strategies as st

from helix.storage.statements.sessions import spaces_as_settings


@given(st.lists(st.integers(0, 40)))
def test_an_id_is_in_a_run_if_an_odd_number_of_bounds_is_not_above_it(ids: list[int]) -> None:
    told = spaces_as_settings(tuple(ids))
    spaces, bounds = (json.loads(f"[{told[name][1:-1]}]") for name in ("spaces", "space_runs"))
    assert spaces == sorted(set(ids))
    assert {one for one in range(-1, 43) if bisect_right(bounds, one) % 2} == set(ids)


def test_ids_that_follow_each_other_are_one_run() -> None:
    told = spaces_as_settings((7, 0, 5, 6, *range(100, 1000)))
    assert told["space_runs"] == "{0,1,5,8,100,1000}"
