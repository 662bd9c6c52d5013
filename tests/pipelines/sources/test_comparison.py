"""Removals that wait for a yes: more than a few, and more than a share, or all that there are."""

from __future__ import annotations

import pytest

from pipelines.sources.comparison import FEW, too_many


@pytest.mark.parametrize(
    ("gone", "documents", "most", "percent", "waits"),
    [
        (1, 3, 100, 20, False),  # a file deleted from a small folder
        (FEW, FEW + 1, 100, 20, False),
        (FEW + 1, FEW + 2, 100, 20, True),
        (FEW + 1, 5 * (FEW + 1), 100, 20, False),
        (3, 3, 100, 20, True),  # a mount that is away
        (1, 1, 100, 20, True),
        (3, 3, 100, 100, False),
        (1, 1000, 100, 0, True),  # nothing goes unasked
        (1, 1000, 0, 20, True),
        (101, 1000, 100, 20, True),
    ],
)
def test_a_few_go_and_many_or_all_wait(
    gone: int, documents: int, most: int, percent: int, waits: bool
) -> None:
    assert too_many(gone, documents, most, percent) is waits
