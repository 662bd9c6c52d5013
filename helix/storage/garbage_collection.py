"""The times at which Python looks for garbage: not during a load, and soon in a long run.

A full collection goes over every object there is. It begins when a quarter as many new ones have
survived the young collections as there are old ones.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock

LONGEST_PAUSE_SECONDS = 30.0
"""The longest that overlapping writes put full collections off: with 0.2 s each, under 1%."""
_NEVER = 2**30


class _Pause:
    """The writes under way that have full collections put off, in this process."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.writes = 0
        self.usual = (0, 0, 0)
        self.began = 0.0


_pause = _Pause()


@contextmanager
def no_full_collection() -> Iterator[None]:
    """Young collections only: a full one over 20,000 nodes stops every thread for 0.2 s and more.

    Writes that always overlap do not put it off for ever: where the last was longer ago than
    LONGEST_PAUSE_SECONDS, the next write to begin or end makes one.

    Nothing is set aside with ``gc.freeze``: its ``unfreeze`` would count as old, unexamined, all
    the young garbage there is, and a worker would grow by it with every file.
    """
    with _pause.lock:
        if _pause.writes == 0:
            _pause.usual, _pause.began = gc.get_threshold(), time.monotonic()
            gc.set_threshold(*_pause.usual[:2], _NEVER)
        _pause.writes += 1
    _collect_if_due()
    try:
        yield
    finally:
        _collect_if_due()
        with _pause.lock:
            _pause.writes -= 1
            if _pause.writes == 0:
                gc.set_threshold(*_pause.usual)


def _collect_if_due() -> None:
    with _pause.lock:
        due = time.monotonic() - _pause.began >= LONGEST_PAUSE_SECONDS
        if due:
            _pause.began = time.monotonic()
    if due:
        gc.collect()


@cache  # a process may open more than one server
def settle() -> None:
    """Take what there is for what stays: modules and models are not gone over again.

    For a process that has started and will run long. What it makes from now on is then a larger
    part of what is gone over, so its garbage is found sooner.
    """
    gc.collect()
    gc.freeze()
