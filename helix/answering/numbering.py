"""Source numbers for readers: by first use from 1, whatever the prompt numbered them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import AsyncGenerator, AsyncIterable, Mapping
from operator import itemgetter
from typing import Any

from helix.domain.citations import MARKER

_DIGITS = re.compile(r"[0-9]{1,9}")
_MAY_BE_MARKER = re.compile(r"\[[\s0-9,]*\Z")
_LONGEST = 80  # characters that are held back where they may begin a marker

Json = dict[str, Any]


class Renumbering:
    """Takes an answer as it streams; a number beyond its ``sources`` stays as the model wrote it.

    ``numbers`` has for each number of the prompt the reader's. Feeding all deltas, then ``end``,
    gives the whole text, however it was cut.
    """

    def __init__(self, sources: int) -> None:
        self.numbers: dict[int, int] = {}
        self._sources = sources
        self._held = ""
        self._read = 0
        self._shifts: list[tuple[int, int]] = [(0, 0)]  # where text from there on moved, and by

    def feed(self, delta: str) -> str:
        """What of the text so far is certain; what may be half a marker is held back."""
        text = self._held + delta
        begun = _MAY_BE_MARKER.search(text)
        cut = begun.start() if begun and len(text) - begun.start() <= _LONGEST else len(text)
        self._held = text[cut:]
        return self._renumbered(text[:cut])

    def end(self) -> str:
        """What was held back."""
        held, self._held = self._held, ""
        return self._renumbered(held)

    def number(self, n: int) -> int:
        """The reader's number of the prompt's ``n``."""
        return self.numbers.get(n, n)

    def place(self, offset: int) -> int:
        """Where in the readers' text a place of the model's text lies, both in characters."""
        at = bisect_right(self._shifts, offset, key=itemgetter(0)) - 1
        return offset + self._shifts[at][1]

    def _renumbered(self, text: str) -> str:
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


def renumbering_of(text: str, sources: int) -> tuple[str, Renumbering]:
    """A whole text for readers, and how it was renumbered."""
    made = Renumbering(sources)
    return made.feed(text) + made.end(), made


async def renumbered(deltas: AsyncIterable[str], sources: int) -> AsyncGenerator[str, None]:
    """The deltas of an answer for readers, none of them empty."""
    made = Renumbering(sources)
    async for delta in deltas:
        if ready := made.feed(delta):
            yield ready
    if ready := made.end():
        yield ready


def for_readers(told: Mapping[str, Any], sources: int) -> Json:
    """The JSON of an answer (``answer``, ``citations``, ``support``) with the readers' numbers.

    A text that is null, or gone with its document, leaves all as it is.
    """
    if not told["answer"] or told["abstained"]:
        return dict(told)
    text, made = renumbering_of(told["answer"], sources)
    citations = [{**one, "n": made.number(one["n"])} for one in told["citations"]]
    support = told["support"]
    statements = [_statement(one, made) for one in support["statements"]]
    return {
        **told,
        "answer": text,
        "citations": citations,
        "support": {**support, "statements": statements},
    }


def _statement(told: Json, made: Renumbering) -> Json:
    return {
        **told,
        "start": made.place(told["start"]),
        "end": made.place(told["end"]),
        "numbers": [made.number(n) for n in told["numbers"]],
        "spans": [{**span, "n": made.number(span["n"])} for span in told["spans"]],
    }
