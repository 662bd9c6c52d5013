"""Running headers, footers and page numbers: recognised by their repetition over the pages.

A row is furniture only at the edge of its page's text and where other pages have the same: the
same text but for numbers, mostly set apart from the text; a page number that goes up with the
pages; or a short text set apart at the place and in the size of most pages' furniture. Where the
edge is does not matter: a page of three lines has its footer below the third. A table's header
that is repeated on the next pages is not set apart from its rows, and stays.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipelines.readers.printed.page_numbers import labels_of
from pipelines.readers.printed.words import PageWords

_DEEP = 4  # rows looked at from each edge
_MOST_WORDS_LOOKED_AT = 240  # in them
_LEAST_PAGES = 3  # with the same
_LEAST_SHARE = 0.27  # of all pages; "See accompanying notes" below each statement is no footer
_SET_APART = 1.55  # of the line's height from its foot to that of the next row
_ROW = 0.45  # of a line's height: feet of one row are less apart
_PLACE = 3.0  # points: furniture of two pages is at the same place
_SAME_PLACE_SHARE = 0.3  # of the pages have furniture where a text is it by its place alone
_LONGEST = 200  # characters of a row of furniture
_LONGEST_BY_PLACE = 80
_MOST_WORDS_ALONE = 4  # of furniture on a page without any text
_DIGITS = re.compile(r"\d+")


Key = tuple[bool, str]


class EdgeRow(NamedTuple):
    """A row at an edge of a page: its words by number and as text, and where it is.

    ``gap`` is from its foot to the foot of the next row inwards, in heights of the row. ``key`` is
    what is the same in furniture of two pages: the edge, and the text but for numbers.
    """

    page: int
    at_top: bool
    numbers: tuple[int, ...]
    words: tuple[str, ...]
    text: str
    key: Key
    foot: float
    left: float
    right: float
    size: float
    gap: float

    @property
    def places(self) -> Iterator[tuple[bool, int, int, int, int]]:
        """Where it is: by its height and size, and by its left, its middle and its right."""
        foot, size = round(self.foot / _PLACE), round(2 * self.size)
        for kind, x in enumerate((self.left, (self.left + self.right) / 2, self.right)):
            yield self.at_top, foot, size, kind, round(x / _PLACE)


@dataclass(slots=True)
class Furniture:
    """What is furniture on a page: the numbers of its words, its rows as text, its page number."""

    numbers: set[int] = field(default_factory=set)
    rows: tuple[str, ...] = ()
    label: str = ""


def edge_rows(page: PageWords, number: int) -> tuple[EdgeRow, ...]:
    """The first and the last rows of a page from its edges inwards; ``number`` is the page's."""
    order = np.argsort(page.boxes[:, 3], kind="stable")
    if page.aside.any():
        order = order[~page.aside[order]]
    first, last = order[:_MOST_WORDS_LOOKED_AT], order[: -_MOST_WORDS_LOOKED_AT - 1 : -1]
    return (
        *_Edge(page, number, first).described(at_top=True),
        *_Edge(page, number, last).described(at_top=False),
    )


class _Edge:
    """The words nearest to an edge of a page, in their order from there, as rows."""

    def __init__(self, page: PageWords, number: int, order: NDArray[np.intp]) -> None:
        self._page, self._number = page, number
        self._order: list[int] = order.tolist()
        self._boxes: dict[int, list[float]] = dict(
            zip(self._order, page.boxes[order].tolist(), strict=True)
        )
        self._sizes: dict[int, float] = dict(
            zip(self._order, page.sizes[order].tolist(), strict=True)
        )

    def _rows(self) -> list[list[int]]:
        """The first rows, one more than are looked at."""
        rows: list[list[int]] = []
        foot, least = 0.0, -1.0
        for word in self._order:
            if abs(self._boxes[word][3] - foot) > least:
                if len(rows) > _DEEP:
                    break
                foot, least = self._boxes[word][3], _ROW * self._sizes[word]
                rows.append([])
            rows[-1].append(word)
        return rows

    def described(self, *, at_top: bool) -> Iterator[EdgeRow]:
        """The rows that are looked at; one more may be there for the distance to it."""
        boxes, sizes, page, rows = self._boxes, self._sizes, self._page, self._rows()
        for index, row in enumerate(rows[:_DEEP]):
            row.sort(key=lambda word: boxes[word][0])
            foot, size = boxes[row[0]][3], sizes[row[len(row) // 2]]
            gap = 0.0  # nothing follows that it could be set apart from
            if index + 1 < len(rows):
                gap = abs(boxes[rows[index + 1][0]][3] - foot) / size
            spans = page.spans[row[:_LONGEST]].tolist()
            words = tuple([page.text[start:end] for start, end in spans])
            text = " ".join(words)
            key = at_top, _DIGITS.sub("#", text).casefold()
            left, right = boxes[row[0]][0], max(boxes[word][2] for word in row)
            yield EdgeRow(
                self._number, at_top, tuple(row), words, text, key, foot, left, right, size, gap
            )


def furniture_of(edges: Sequence[Sequence[EdgeRow]]) -> list[Furniture]:
    """The furniture of each page, from the edge rows of all of them, numbered from 1."""
    rows = [row for page in edges for row in page if len(row.text) <= _LONGEST]
    labels = dict(
        zip(rows, labels_of([(row.page, row.words) for row in rows], len(edges)), strict=True)
    )
    known = _Known(
        _repeated(rows, labels, len(edges)), {row for row in rows if labels[row]}, len(edges)
    )
    known.learn_places(rows)
    found = []
    for page in edges:
        taken = [row for at_top in (True, False) for row in _outer(page, at_top, known)]
        left = {row.numbers for row in page}.difference(row.numbers for row in taken)
        if not left:  # a page that is one of many alike
            taken = [row for row in taken if len(row.words) <= _MOST_WORDS_ALONE]
        taken = list({row.numbers: row for row in taken}.values())
        furniture = Furniture(rows=tuple(row.text for row in taken))
        for row in taken:
            furniture.numbers.update(row.numbers)
            furniture.label = furniture.label or labels.get(row, "")
        found.append(furniture)
    return found


def _repeated(rows: Iterable[EdgeRow], labels: Mapping[EdgeRow, str], pages: int) -> set[Key]:
    """Keys on enough pages, and mostly set apart there."""
    where: defaultdict[Key, dict[int, EdgeRow]] = defaultdict(dict)
    for row in rows:
        where[row.key].setdefault(row.page, row)
    least = max(_LEAST_PAGES, _LEAST_SHARE * pages)
    often = {key: list(found.values()) for key, found in where.items() if len(found) >= least}
    by_page: defaultdict[tuple[int, bool], list[EdgeRow]] = defaultdict(list)
    for row in rows:
        by_page[row.page, row.at_top].append(row)
    apart: Counter[Key] = Counter()
    for side in by_page.values():
        group = list(takewhile(lambda row: row.key in often or labels[row] != "", side))
        while group and group[-1].gap < _SET_APART:
            group.pop()
        apart.update({row.key for row in group})
    return {key for key, found in often.items() if 2 * apart[key] >= len(found)}


class _Known:
    """What is furniture wherever it is at an edge: texts, rows with a page number, and places."""

    def __init__(self, keys: set[Key], numbered: set[EdgeRow], pages: int) -> None:
        self._keys = keys
        self._numbered = numbered
        self._least = max(_LEAST_PAGES, _SAME_PLACE_SHARE * pages)
        self._places: set[tuple[bool, int, int, int, int]] = set()

    def learn_places(self, rows: Iterable[EdgeRow]) -> None:
        """Where furniture is on enough pages."""
        counts = Counter(place for row in rows if self.is_sure(row) for place in row.places)
        self._places = {place for place, count in counts.items() if count >= self._least}

    def is_sure(self, row: EdgeRow) -> bool:
        """Whether the row is furniture by its text or its page number."""
        return row.key in self._keys or row in self._numbered

    def may_be(self, row: EdgeRow) -> bool:
        """Whether the row is furniture if what follows is set apart from it."""
        if self.is_sure(row):
            return True
        return len(row.text) <= _LONGEST_BY_PLACE and not self._places.isdisjoint(row.places)


def _outer(page: Sequence[EdgeRow], at_top: bool, known: _Known) -> list[EdgeRow]:
    """The furniture of one edge: rows from there inwards, as long as they are known."""
    taken = list(takewhile(known.may_be, (row for row in page if row.at_top == at_top)))
    while taken and taken[-1].gap < _SET_APART and not known.is_sure(taken[-1]):
        taken.pop()
    return taken
