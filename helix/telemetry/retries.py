"""How often requests to models' services were tried again in this process."""

from __future__ import annotations

from collections import Counter
from threading import Lock


class Retries:
    """Counts by service; up from 0, from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: Counter[str] = Counter()

    def add(self, service: str) -> None:
        with self._lock:
            self._counts[service] += 1

    def counts(self) -> dict[str, int]:
        """By service."""
        with self._lock:
            return dict(self._counts)


_retries = Retries()


def retried(service: str) -> None:
    """A request to ``service`` is about to be tried again; the name is one of a few of ours."""
    _retries.add(service)


def retries() -> dict[str, int]:
    """By service: attempts after the first since this process started."""
    return _retries.counts()
