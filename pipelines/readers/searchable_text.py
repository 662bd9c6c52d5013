"""The text of a document that is searched: all but lists of contents, indexes and the like.

They stay in the text, where a reader finds them, and are in no section, so that no chunk has them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import itemgetter

from helix.domain.records import Section
from helix.language.navigation import navigation_spans
from helix.language.sentences import Span
from pipelines.readers import ReadText
from pipelines.readers.outline import trim


def without_navigation(read: ReadText) -> ReadText:
    """The same text with sections that leave its navigation out; as it is where that is all.

    Tables, and what is not cut, such as code, are never taken for navigation.
    """
    sections = read.sections or (Section(*trim(read.text, 0, len(read.text))),)
    kept = Spans(_kept_whole(read, sections))
    spans = Spans([span for span in navigation_spans(read.text) if not kept.meeting(*span)])
    if not spans:
        return read
    found = tuple(part for section in sections for part in _parts(read.text, section, spans))
    return replace(read, sections=found) if found else read


def _kept_whole(read: ReadText, sections: Sequence[Section]) -> list[Span]:
    kept = [(table.start, table.end) for table in read.tables]
    for section in sections:
        kept += [(section.start, section.end)] if section.rows else section.blocks
    apart: list[Span] = []
    for span in sorted(kept):
        if not apart or span[0] >= apart[-1][1]:
            apart.append(span)
        else:
            apart[-1] = apart[-1][0], max(apart[-1][1], span[1])
    return apart


class Spans(list[Span]):
    """Spans in order and apart, of a document that may have many thousands."""

    def meeting(self, start: int, end: int) -> list[Span]:
        """The spans that have a character between ``start`` and ``end``."""
        first = bisect_right(self, start, key=itemgetter(1))
        return self[first : bisect_left(self, end, key=itemgetter(0))]


def _parts(text: str, section: Section, spans: Spans) -> Iterator[Section]:
    """The section without what of it is in ``spans``: one part between each two of them."""
    within = spans.meeting(section.start, section.end)
    if not within:
        yield section
        return
    start = section.start
    for first, last in (*within, (section.end, section.end)):
        left, right = trim(text, start, max(start, first))
        if left < right and text[left:right].lstrip("# ") not in section.heading_path:
            blocks = tuple(block for block in section.blocks if left <= block[0] < right)
            yield replace(section, start=left, end=right, blocks=blocks)
        start = max(start, last)
