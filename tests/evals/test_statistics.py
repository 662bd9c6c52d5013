"""Intervals, and the agreement of judges."""

from __future__ import annotations

import pytest

from evals.metrics.statistics import agreement, mean, wilson


def test_intervals_and_agreement() -> None:
    eight = wilson(8, 10)
    assert (round(eight.low, 4), round(eight.high, 4)) == (0.4902, 0.9433)
    assert (wilson(0, 20).low, wilson(20, 20).high) == (0, 1)
    assert round(wilson(20, 20).low, 4) == 0.8389
    with pytest.raises(ValueError, match="no share"):
        wilson(3, 2)
    values = [0.0, 1.0, 1.0, 0.5] * 10
    found = mean(values)
    assert found is not None and found == mean(values)
    assert found.low < found.value == 0.625 < found.high
    assert mean([]) is None
    # Cohen's own kind of table: both yes 20, first only 5, second only 10, both no 15
    one = [True] * 25 + [False] * 25
    other = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15
    table = agreement(one, other)
    assert table is not None and table.kappa is not None
    assert (table.raw, round(table.kappa, 6), table.n) == (0.7, 0.4, 50)
    certain = agreement([True], [True])
    assert certain is not None and certain.kappa is None
