"""Bounds in seconds that a test can hold a program to on this machine as it is now."""

from __future__ import annotations

import os


def bound(seconds: float) -> float:
    """``seconds``; a minute where three processes and more wait for each core.

    A busy machine shows that the event comes, a free one that it comes in time.
    """
    busy = os.getloadavg()[0] >= 3 * (os.cpu_count() or 1)
    return max(seconds, 60.0) if busy else seconds
