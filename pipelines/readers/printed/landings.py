"""Where the words of a table are in its text: each with its span, and those that it left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from pipelines.readers.grids import Entry, Grid, GridRow, Landing
from pipelines.readers.printed.frame import Boxes
from pipelines.readers.printed.passages import Spans
from pipelines.readers.printed.tables import Origin
from pipelines.readers.printed.words import Word

_MOST_MARKS = 2  # words of an entry that are footnote marks, which a table keeps apart


@dataclass(slots=True)
class Landed:
    """The words of a table that are in the text, by page: their spans and boxes."""

    spans: list[tuple[int, int]] = field(default_factory=list)
    boxes: list[tuple[float, float, float, float]] = field(default_factory=list)

    def arrays(self) -> tuple[Spans, Boxes]:
        """Both, a row a word."""
        spans = np.array(self.spans, np.int64).reshape(-1, 2)
        return spans, np.array(self.boxes, np.float32).reshape(-1, 4)


def landed_words(
    landings: Iterable[Landing], text: str, start: int
) -> tuple[Mapping[int, Landed], set[Word]]:
    """The words of the entries that landed in ``text``, which begins at ``start``, by page; and all
    words of entries that are there but for a footnote's mark."""
    pages: dict[int, Landed] = {}
    whole: set[Word] = set()
    for landing in landings:
        origin = landing.origin
        if not isinstance(origin, Origin):
            continue
        page = pages.setdefault(origin.page, Landed())
        missing = 0
        at, end = landing.start - start, landing.end - start
        for word in origin.words:
            found = text.find(word.text, at, end) if word.text else -1
            if found < 0:
                missing += 1
                continue
            at = found + len(word.text)
            page.spans.append((start + found, start + at))
            page.boxes.append(word.box)
            whole.add(word)
        if missing <= _MOST_MARKS:
            whole.update(origin.words)
    return pages, whole


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
