"""Lines of plain text as those who look for headings by their place see them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

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
