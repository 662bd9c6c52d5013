"""Thoughts in front of an answer, which vLLM, LM Studio or Groq may leave in its text."""

from __future__ import annotations

_OPEN, _CLOSE = "<think>", "</think>"


class ThoughtFilter:
    """Drops the ``<think>…</think>`` that an answer, read by its deltas, may begin with."""

    def __init__(self) -> None:
        self._held: str | None = ""  # None once the answer has begun
        self._awaited = _OPEN  # the tag that may come; none behind the thoughts

    def feed(self, delta: str) -> str:
        """The part of the answer that ``delta`` ends."""
        if self._held is None:
            return delta
        self._held += delta
        if self._awaited == _OPEN and self._held.lstrip().startswith(_OPEN):
            self._awaited = _CLOSE
        if self._awaited == _CLOSE:
            self._leave_thoughts(self._held)
        start = self._held.lstrip()
        if self._awaited == _CLOSE or not start or self._awaited.startswith(start):
            return ""
        said = self._held if self._awaited else start
        self._held = None
        return said

    def _leave_thoughts(self, held: str) -> None:
        """Hold what is behind the thoughts or, within them, what the end of them may begin with."""
        _, closed, behind = held.partition(_CLOSE)
        self._held = behind if closed else held[1 - len(_CLOSE) :]
        if closed:
            self._awaited = ""
