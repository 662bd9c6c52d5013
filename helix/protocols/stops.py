"""Stop sequences: the text of an answer up to the first one, also across deltas. Pure."""

from __future__ import annotations

from collections.abc import Sequence


class Stops:
    """Cuts a streamed answer at the first stop sequence; feed it all deltas, then call ``end``.

    Text that may be the beginning of a stop sequence is held back.
    """

    def __init__(self, sequences: Sequence[str]) -> None:
        self._sequences = [sequence for sequence in sequences if sequence]
        self._held = ""
        self._stopped = False

    def feed(self, delta: str) -> str:
        """The further text that no stop sequence can cut off any more."""
        if self._stopped or not self._sequences:
            return "" if self._stopped else delta
        text = self._held + delta
        found = [at for sequence in self._sequences if (at := text.find(sequence)) >= 0]
        if found:
            self._stopped, self._held = True, ""
            return text[: min(found)]
        kept = max(self._begun(text, sequence) for sequence in self._sequences)
        self._held = text[len(text) - kept :]
        return text[: len(text) - kept]

    def end(self) -> str:
        """The text that was held back."""
        held, self._held = self._held, ""
        return held

    @staticmethod
    def _begun(text: str, sequence: str) -> int:
        """How many characters at the end of ``text`` begin ``sequence``."""
        longest = min(len(sequence) - 1, len(text))
        return next((n for n in range(longest, 0, -1) if sequence.startswith(text[-n:])), 0)


def cut(text: str, sequences: Sequence[str]) -> str:
    """A whole text up to the first stop sequence."""
    stops = Stops(sequences)
    return stops.feed(text) + stops.end()
