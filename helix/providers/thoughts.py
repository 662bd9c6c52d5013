"""Thoughts in front of an answer, which vLLM, LM Studio or Groq may leave in its text."""

from __future__ import annotations

_OPEN, _CLOSE = "<think>", "</think>"


class Spoken:
    """Reads one answer by its deltas, and gives those behind a first ``<think>…</think>``."""

    def __init__(self) -> None:
        self._held: str | None = ""  # None once the answer has begun

    def feed(self, delta: str) -> str:
        """The part of the answer that ``delta`` ends."""
        if self._held is None:
            return delta
        self._held += delta
        said, start = self._held, self._held.lstrip()
        if start.startswith(_OPEN):
            said = start = start.partition(_CLOSE)[2].lstrip()
        if not start or _OPEN.startswith(start):
            return ""
        self._held = None
        return said
