"""Headings of text that stands out by its margin, as manual pages and RFCs are printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from pipelines.readers.outline import Heading, short_title
from pipelines.readers.section_numbers import TextLine

_FEWEST = 3
_LEAST_INDENTED = 0.6  # of the other lines: short manual pages have 0.7, long ones 0.95
_SHARE_OF_HEADINGS = 0.7  # of the lines at the margin; the others are text


def headings_of(lines: Sequence[TextLine]) -> Iterator[Heading]:
    """Headings: lines at the margin of a text whose body is moved in, and those between the two.

    None where the text is no such one. A section's number says the level of its heading.
    """
    body = _body_indent(lines)
    if not body:
        return
    opens = True
    for line, below in pairwise(lines):
        opens = (opens or line.is_apart) and _is_heading(line, below, body)
        if opens:
            level = len(line.number) or 1
            yield Heading(line.start, line.end, level + (line.indent > 0), short_title(line.text))


def _is_heading(line: TextLine, below: TextLine, body: int) -> bool:
    """True for a line further out than the body, with the body or another heading under it."""
    stands_out = line.indent < body and line.is_heading_like
    return stands_out and (below.indent > line.indent or (line.is_above_gap and below.indent == 0))


def _body_indent(lines: Sequence[TextLine]) -> int:
    """The indent of what stands under most lines at the margin; 0 where that is no heading's."""
    outer = [line for line in lines if not (line.indent or line.has_columns)]
    under = Counter(
        below.indent
        for line, below in pairwise(lines)
        if not line.indent and line.is_apart and line.is_heading_like and below.indent
    )
    heads = under.total()
    if heads < _FEWEST or heads < _SHARE_OF_HEADINGS * len(outer):
        return 0
    body, _ = under.most_common(1)[0]
    inner = sum(line.indent >= body for line in lines)
    return body if inner >= _LEAST_INDENTED * (len(lines) - heads) else 0
