"""Stop sequences: the text of an answer up to the first one, also across deltas. Pure."""

from __future__ import annotations

from collections.abc import Sequence


class Stops:
    """Cuts a streamed answer at the first stop sequence; feed it all deltas, then call ``end``.

    Text that may be the beginning of a stop sequence is held back.
    """

    def __init__(self, sequences: Sequence[str]) -> None:
        self._sequences = [sequence for sequence in sequences if sequence]
        self._pending = ""
        self._is_ended = False

    def feed(self, delta: str) -> str:
        """The further text that no stop sequence can cut off any more."""
        if self._is_ended or not self._sequences:
            return "" if self._is_ended else delta
        text = self._pending + delta
        places = [at for sequence in self._sequences if (at := text.find(sequence)) >= 0]
        if places:
            self._is_ended, self._pending = True, ""
            return text[: min(places)]
        length = max(self._partial_length(text, sequence) for sequence in self._sequences)
        self._pending = text[len(text) - length :]
        return text[: len(text) - length]

    def end(self) -> str:
        """The text that was held back."""
        pending, self._pending = self._pending, ""
        return pending

    @staticmethod
    def _partial_length(text: str, sequence: str) -> int:
        """The number of characters at the end of ``text`` that begin ``sequence``."""
        longest = min(len(sequence) - 1, len(text))
        return next((n for n in range(longest, 0, -1) if sequence.startswith(text[-n:])), 0)


def truncated(text: str, sequences: Sequence[str]) -> str:
    """A whole text up to the first stop sequence."""
    stops = Stops(sequences)
    return stops.feed(text) + stops.end()
