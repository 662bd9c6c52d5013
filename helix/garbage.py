"""When Python looks for garbage: not in the middle of a load, and soon in a long run.

A full collection goes over every object there is. It begins when a quarter as many new ones have
survived the young collections as there are old ones.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_NEVER = 2**30
_lock = Lock()
_usual: list[tuple[int, int, int]] = []  # the thresholds to go back to, once for each block


@contextmanager
def no_full_collection() -> Iterator[None]:
    """Young collections only: a full one over 20,000 nodes stops every thread for 0.2 s and more.

    Nothing is set aside with ``gc.freeze``: its ``unfreeze`` would count as old, unexamined, all
    the young garbage there is, and a worker would grow by it with every file.
    """
    with _lock:
        _usual.append(_usual[0] if _usual else gc.get_threshold())
        gc.set_threshold(*_usual[0][:2], _NEVER)
    try:
        yield
    finally:
        with _lock:
            usual = _usual.pop()
            if not _usual:
                gc.set_threshold(*usual)


def settle() -> None:
    """Take what there is for what stays: modules and models are not gone over again.

    For a process that has started and will run long. What it makes from now on is then a larger
    part of what is gone over, so its garbage is found sooner.
    """
    if gc.get_freeze_count() == 0:  # a process may open more than one
        gc.collect()
        gc.freeze()
