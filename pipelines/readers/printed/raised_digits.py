"""Superscript digits of a PDF page: what its boxes show raised and smaller behind a word."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from pipelines.readers.printed.characters import PageCharacters
from pipelines.readers.printed.frame import Column
from pipelines.readers.superscripts import superscript

_DIGITS = frozenset("0123456789")
_BEFORE_STOPS = re.compile(r"[0-9](?=[.,;:!?)\]]{1,3}(?:\s|$))")
_RUN = re.compile(r"[+−–-]?[0-9]{1,3}(?:,[0-9]{1,3}){0,9}\Z")
_LONGEST = 40  # characters of a run
_SMALLER = 0.85
"""Share of the height of a word's first character that a raised one has at most: TeX sets 0.7."""
_RISE = 0.15
"""Share of that height by which a raised one's foot stands higher at least: TeX raises by 0.36."""


class _Box(NamedTuple):
    left: float
    upper: float
    right: float
    lower: float

    @property
    def height(self) -> float:
        return self.upper - self.lower

    def is_raised_from(self, base: _Box) -> bool:
        """True for a smaller character behind ``base``, whose foot is higher but within it."""
        rise = self.lower - base.lower
        return (
            self.left > base.left and 0 < self.height < _SMALLER * base.height
            and _RISE * base.height < rise < base.height
        )  # fmt: skip


def with_superscripts(
    characters: PageCharacters, starts: Sequence[int], ends: Sequence[int], edges: Column
) -> str:
    """The text of a page with its raised digits as such, character for character.

    ``starts`` and ``ends`` are those of its words, ``edges`` the boxes of their first characters,
    then of their last ones: left, top, right, bottom of each in the file, y upwards.
    """
    text, middle = characters.text, len(edges) // 2
    feet = zip(edges[3:middle:4], edges[middle + 3 :: 4], strict=True)
    ending = {n: ends[n] - 1 for n, (first, last) in enumerate(feet) if first < last}
    for match in _BEFORE_STOPS.finditer(text):
        ending[max(bisect_right(starts, match.start()) - 1, 0)] = match.start()
    pieces, done = list[str](), 0
    for number in sorted(ending):
        if text[ending[number]] in _DIGITS:
            base = _Box(*edges[4 * number : 4 * number + 4])
            begin, run = _raised_run(characters, starts[number], ending[number], base)
            pieces += (text[done:begin], superscript(run))
            done = begin + len(run)
    return "".join((*pieces, text[done:]))


def _boxes(characters: PageCharacters, places: list[int]) -> list[_Box]:
    edges = characters.boxes(characters.numbers(places))
    return [_Box(*edges[at : at + 4]) for at in range(0, len(edges), 4)]


def _raised_run(characters: PageCharacters, first: int, end: int, base: _Box) -> tuple[int, str]:
    """The start of the raised digits that the word ends with at ``end``, and the digits."""
    begin = max(first + 1, end + 1 - _LONGEST)
    boxes = _boxes(characters, list(range(begin, end + 1)))
    raised = [one.is_raised_from(base) for one in boxes]
    begin = end + 1 - next((n for n, one in enumerate(reversed(raised)) if not one), len(raised))
    run = _RUN.search(characters.text, begin, end + 1)
    if run is None or run.start() > begin:
        return end + 1, ""
    return begin, run[0]
