"""Source numbers for readers: by first use from 1, whatever the prompt numbered them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from helix.domain.citations import MARKER

_DIGITS = re.compile(r"[0-9]{1,9}")
_MAY_BE_MARKER = re.compile(r"\[[\s0-9,]*\Z")
_CLOSING = frozenset(".,;:!?…)]}»”’。，、；：！？）")
_LONGEST = 80  # characters that are held back where they may begin a marker

Json = dict[str, Any]


class MarkerRewriting:
    """Rewrites the markers of a streamed answer; feed it all deltas, then call ``end``.

    A marker that is divided between deltas is rewritten as a whole.
    """

    def __init__(self) -> None:
        self._held = ""

    def feed(self, delta: str) -> str:
        """The further text that can be sent now; what may be half a marker is held back."""
        if not self._held and "[" not in delta:  # most deltas
            return self._unmarked(delta)
        text = self._held + delta
        opened = _MAY_BE_MARKER.search(text)
        cut = opened.start() if opened and len(text) - opened.start() <= _LONGEST else len(text)
        self._held = text[cut:]
        return self._rewritten(text[:cut])

    def end(self) -> str:
        """The text that was held back."""
        held, self._held = self._held, ""
        return self._rewritten(held)

    def _unmarked(self, text: str) -> str:
        """``text``, which has no marker in it, as it is handed on."""
        return text

    def _rewritten(self, text: str) -> str:
        raise NotImplementedError


class Renumbering(MarkerRewriting):
    """Numbers sources for readers; a number beyond its ``sources`` stays as the model wrote it.

    ``numbers`` has for each number of the prompt the reader's.
    """

    def __init__(self, sources: int) -> None:
        super().__init__()
        self.numbers: dict[int, int] = {}
        self._sources = sources
        self._read = 0
        self._shifts: list[tuple[int, int]] = [(0, 0)]  # where text from there on moved, and by

    def number(self, n: int) -> int:
        """The reader's number of the prompt's ``n``."""
        return self.numbers.get(n, n)

    def numbered(self, n: int) -> int:
        """The reader's number of ``n``; a source that no marker has gets the next number."""
        return self.numbers.setdefault(n, len(self.numbers) + 1)

    def place(self, offset: int) -> int:
        """The offset in the readers' text of an offset in the model's text, both in characters."""
        at = bisect_right(self._shifts, offset, key=itemgetter(0)) - 1
        return offset + self._shifts[at][1]

    def _unmarked(self, text: str) -> str:
        self._read += len(text)
        return text

    def _rewritten(self, text: str) -> str:
        parts, position = [], 0
        for marker in MARKER.finditer(text):
            new = _DIGITS.sub(self._one, marker[0])
            parts += [text[position : marker.start()], new]
            position = marker.end()
            if shift := len(new) - len(marker[0]):
                self._shifts.append((self._read + position, self._shifts[-1][1] + shift))
        self._read += len(text)
        return "".join([*parts, text[position:]])

    def _one(self, digits: re.Match[str]) -> str:
        n = int(digits[0])
        if 1 <= n <= self._sources:
            n = self.numbers.setdefault(n, len(self.numbers) + 1)
        return str(n)


class KnownMarkers(MarkerRewriting):
    """Takes numbers out of markers that none of the ``sources`` has; ``dropped`` counts them.

    With a whole marker goes the space in front of it, unless a word or a marker follows directly.
    """

    def __init__(self, sources: int) -> None:
        super().__init__()
        self.dropped = 0
        self._sources = sources
        self._space = ""  # that ends the text so far
        self._is_left = False  # a marker behind it was taken out

    def end(self) -> str:
        given = super().end()
        return given if self._is_left else given + self._space

    def _unmarked(self, text: str) -> str:
        if not text:
            return ""
        if self._is_left and (text[0].isspace() or text[0] in _CLOSING):
            self._space = ""
        self._is_left = False
        whole = self._space + text
        given = whole.rstrip(" \t")
        self._space = whole[len(given) :]
        return given

    def _rewritten(self, text: str) -> str:
        given, position = "", 0
        for marker in MARKER.finditer(text):
            given += self._unmarked(text[position : marker.start()])
            known = self._known(marker)
            given += self._unmarked(known)
            self._is_left = not known
            position = marker.end()
        return given + self._unmarked(text[position:])

    def _known(self, marker: re.Match[str]) -> str:
        numbers = marker[1].split(",")
        known = [number for number in numbers if 1 <= int(number) <= self._sources]
        self.dropped += len(numbers) - len(known)
        if len(known) == len(numbers):
            return marker[0]
        return f"[{', '.join(number.strip() for number in known)}]" if known else ""


def renumbering_of(text: str, sources: int) -> tuple[str, Renumbering]:
    """A whole text for readers, and how it was renumbered."""
    made = Renumbering(sources)
    return made.feed(text) + made.end(), made


def for_readers(response: Mapping[str, Any], sources: int) -> Json:
    """The JSON of an answer (``answer``, ``citations``, ``support``) with the readers' numbers.

    The JSON stays as it is where its text is null, or was deleted with its document; and for an
    agent's answer, whose events had each source under its number before the answer began; and where
    code is written, whose `[1]` is no marker.
    """
    keeps = response.get("agent") or response.get("mode") == "write"
    if not response["answer"] or response["abstained"] or keeps:
        return dict(response)
    text, made = renumbering_of(response["answer"], sources)
    citations = [{**one, "n": made.numbered(one["n"])} for one in response["citations"]]
    support = response["support"]
    statements = [_statement(one, made) for one in support["statements"]]
    return {
        **response,
        "answer": text,
        "citations": citations,
        "support": {**support, "statements": statements},
    }


def _statement(statement: Json, made: Renumbering) -> Json:
    return {
        **statement,
        "start": made.place(statement["start"]),
        "end": made.place(statement["end"]),
        "numbers": [made.number(n) for n in statement["numbers"]],
        "spans": [{**span, "n": made.number(span["n"])} for span in statement["spans"]],
    }
