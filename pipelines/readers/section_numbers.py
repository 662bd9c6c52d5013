"""Headings of plain text that are numbered one after the other, as contracts and standards are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pipelines.readers.outline import Heading, short_title

_LINE = re.compile(r"^([ \t]*+)(\S[^\r\n]*+)", re.MULTILINE)
_NUMBER = re.compile(r"((?:\d{1,3}|[A-Z](?=\.))(?:\.\d{1,3}){0,5})\.?[ \t]++(?=\S)")
_LABEL = re.compile(r"\S.{0,20}\.(?=[ ]{2}\S)")
"""A number or a word with one, which two spaces part from the heading: `Appendix A.  Grammar`."""
_COLUMNS = re.compile(r"\S {2,}\S|\t")
_STOPS = (".", ",", ":", ";", "。", "，", "：", "；")
_LONGEST = 100  # characters: a heading is a line, which nobody broke


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line with something visible, how far it is moved in, and the empty lines around it."""

    start: int
    end: int
    indent: int
    text: str
    is_apart: bool
    """No line stands right above it."""
    is_above_gap: bool
    """No line stands right below it."""

    @property
    def is_heading_like(self) -> bool:
        """True for a short line without a stop and without columns."""
        is_short = len(self.text) <= _LONGEST and not self.text.endswith(_STOPS)
        return is_short and not self.has_columns and any(map(str.isalpha, self.text))

    @property
    def has_columns(self) -> bool:
        """True where spaces divide the line, as in a row or a running head."""
        label = _LABEL.match(self.text)
        return bool(_COLUMNS.search(self.text, label.end() + 2 if label else 0))

    @property
    def number(self) -> tuple[str, ...]:
        """The parts of a section's number in front, none where there is none."""
        match = _NUMBER.match(self.text)
        return tuple(match[1].split(".")) if match else ()


def text_lines(text: str) -> Iterator[TextLine]:
    """The lines of ``text`` that are not empty, in order; tabs count up to each eighth column."""
    found = list(_LINE.finditer(text))
    ends = [text.count("\n", one.end(), two.start()) for one, two in pairwise(found)]
    gaps = [2, *ends, 2]
    for match, above, below in zip(found, gaps[:-1], gaps[1:], strict=True):
        indent = len(match[1].expandtabs())
        line = match[2].rstrip()
        yield TextLine(match.start(), match.end(), indent, line, above > 1, below > 1)


_FEWEST = 3
_MOST_STARTS = 20  # numbers 1 that are tried as the first: a list may stand in front
_MOST_TEXT_MISSING = 0.4  # of the headings have nothing under them: more of a mere list do

_Number = tuple[int, ...]


def headings_of(lines: Sequence[TextLine]) -> list[Heading]:
    """Headings: lines by themselves whose numbers go on from each other, `1`, `1.1`, `1.2`, `2`.

    Of several such rows the longest, if there is text under most of its numbers.
    """
    places = [place for place in range(len(lines)) if _stands_alone(lines, place)]
    numbers = {place: tuple(map(int, lines[place].number)) for place in places}
    starts = [place for place in places if numbers[place] in ((1,), (0,))][:_MOST_STARTS]
    rows = [_row(places, numbers, start) for start in starts]
    row = max(rows, key=len, default=[])
    bare = sum(one + 1 == other for one, other in pairwise(row))
    if len(row) < _FEWEST or bare > _MOST_TEXT_MISSING * len(row):
        return []
    return [_heading(lines[place], numbers[place]) for place in row]


def _heading(line: TextLine, number: _Number) -> Heading:
    return Heading(line.start, line.end, len(number), short_title(line.text))


def _row(places: Sequence[int], numbers: dict[int, _Number], start: int) -> list[int]:
    """Places from ``start`` on whose numbers go on from each other; others are passed over."""
    row = [start]
    for place in places:
        if place > start and _goes_on(numbers[row[-1]], numbers[place]):
            row.append(place)
    return row


def _goes_on(number: _Number, following: _Number) -> bool:
    """True for the first part of ``number``, and for the next after it or one that it is in."""
    if following[:-1] == number:
        return following[-1] in (0, 1)
    depth = len(following)
    return depth <= len(number) and following == (*number[: depth - 1], number[depth - 1] + 1)


def _stands_alone(lines: Sequence[TextLine], place: int) -> bool:
    """True for a numbered line at the margin with only headings that it is within around it."""
    line = lines[place]
    number = line.number
    if not number or line.indent or not line.is_heading_like or not all(map(str.isdigit, number)):
        return False
    above = lines[place - 1].number if place else ()
    below = lines[place + 1] if place + 1 < len(lines) else line
    is_under = bool(above) and number[:-1] == above
    return (line.is_apart or is_under) and (line.is_above_gap or below.number[:-1] == number)
