"""The rate at which somebody asks, kept in one number for each of them."""

from __future__ import annotations

import time
from collections import OrderedDict

from helix.library.usage import Subject

_WINDOW = 60.0
_MOST_SUBJECTS = 65_536


class Rates:
    """Requests of the last minute, by the generic cell rate algorithm: one number a subject.

    A subject may ask ``most`` times at once, and then as often as keeps to ``most`` a minute.
    """

    def __init__(self, most_subjects: int = _MOST_SUBJECTS) -> None:
        self._due: OrderedDict[Subject, float] = OrderedDict()
        self._most_subjects = most_subjects

    def take(self, subject: Subject, most: int) -> float:
        """Count one request; 0, or the seconds to wait where it is one too many."""
        now = time.monotonic()
        due = max(now, self._due.get(subject, 0.0)) + _WINDOW / most
        if due - now > _WINDOW + 1e-6:
            return due - now - _WINDOW
        self._due[subject] = due
        self._due.move_to_end(subject)
        if len(self._due) > self._most_subjects:
            self._due.popitem(last=False)  # the one that has not asked for longest
        return 0.0
