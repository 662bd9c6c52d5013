"""The places of a table's words in its text: each with its span, and the words it left out."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pipelines.readers.grids import Entry, Grid, GridRow, Landing
from pipelines.readers.printed.frame import Boxes, no_boxes
from pipelines.readers.printed.passages import Spans
from pipelines.readers.printed.tables import Origin
from pipelines.readers.printed.words import CUT_MARKS, Word

_AROUND = f":.…*†‡⁰¹²³⁴⁵⁶⁷⁸⁹{CUT_MARKS}"
_MARK = re.compile(r"[(\[]?\w{1,2}[)\]]?|\W+")  # of a footnote, which a table keeps apart


@dataclass(slots=True)
class WordSpans:
    """The words of a table that are in the text, by page: their spans and boxes."""

    spans: list[tuple[int, int]] = field(default_factory=list)
    boxes: list[tuple[float, float, float, float]] = field(default_factory=list)

    def arrays(self) -> tuple[Spans, Boxes]:
        """Both, a row a word."""
        if not self.spans:
            return Spans(), no_boxes()
        starts, ends = (array("I", column) for column in zip(*self.spans, strict=True))
        return Spans(starts, ends), Boxes(*(array("f", c) for c in zip(*self.boxes, strict=True)))


def word_spans(
    landings: Iterable[Landing], text: str, start: int
) -> tuple[Mapping[int, WordSpans], set[Word]]:
    """The words of the entries that landed in ``text``, which begins at ``start``, by page; and
    which words those are, with the marks of footnotes beside them."""
    pages: dict[int, WordSpans] = {}
    whole: set[Word] = set()
    for landing in landings:
        origin = landing.origin
        if not isinstance(origin, Origin):
            continue
        page = pages.setdefault(origin.page, WordSpans())
        at, end = landing.start - start, landing.end - start
        for word in origin.words:
            first, last = _place(word.text, text, at, end)
            if first < 0:
                if _MARK.fullmatch(word.text):
                    whole.add(word)
                continue
            at = last
            page.spans.append((start + first, start + last))
            page.boxes.append(word.box)
            whole.add(word)
    return pages, whole


def _place(word: str, text: str, at: int, end: int) -> tuple[int, int]:
    """The span of a word in an entry's text, which may lack the colon after it; -1 if absent."""
    for part in (word, word.strip(_AROUND)):
        found = text.find(part, at, end) if part else -1
        if found >= 0:
            return found, found + len(part)
    return -1, -1


def words_of_grid(grid: Grid) -> Iterator[Word]:
    """The words that the entries of a table were read from."""
    head = grid.head
    for path in (*head.columns, (head.caption, head.units, head.corner)):
        yield from _words(path)
    yield from words_of_rows(grid.rows)


def words_of_rows(rows: Iterable[GridRow]) -> Iterator[Word]:
    """The words that the labels and cells of rows were read from."""
    for row in rows:
        yield from _words(row.path)
        yield from _words(row.cells)


def _words(entries: Iterable[Entry]) -> Iterator[Word]:
    for entry in entries:
        if entry.text and isinstance(entry.origin, Origin):
            yield from entry.origin.words
