"""Full collections: put off while documents are written, and made in time all the same."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from helix.storage import garbage_collection
from helix.storage.garbage_collection import LONGEST_PAUSE_SECONDS, no_full_collection


class Clock:
    """A ``time`` whose seconds pass only where a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(garbage_collection, "time", clock)
    return clock


@pytest.fixture
def full() -> Iterator[list[int]]:
    """One entry for each full collection that has begun."""
    begun: list[int] = []

    def hear(phase: str, info: dict[str, Any]) -> None:
        if phase == "start" and info["generation"] == 2:
            begun.append(1)

    gc.callbacks.append(hear)
    yield begun
    gc.callbacks.remove(hear)


def test_the_thresholds_are_the_usual_ones_again_after_the_last_of_several_writes() -> None:
    usual = gc.get_threshold()
    with no_full_collection():
        with no_full_collection():
            assert gc.get_threshold()[2] > 10**6
        assert gc.get_threshold()[2] > 10**6
    assert gc.get_threshold() == usual


def test_a_short_write_makes_none(clock: Clock, full: list[int]) -> None:
    with no_full_collection():
        clock.now += LONGEST_PAUSE_SECONDS / 2
    assert full == []


def test_writes_that_always_overlap_make_one_now_and_then(clock: Clock, full: list[int]) -> None:
    with ExitStack() as first:
        first.enter_context(no_full_collection())
        for _ in range(10):  # the next begins before the one before it ends
            following = ExitStack()
            following.enter_context(no_full_collection())
            clock.now += LONGEST_PAUSE_SECONDS / 2
            first.close()
            first.push(following.pop_all())
    assert len(full) == 5
