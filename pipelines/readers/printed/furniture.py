"""Running headers, footers and page numbers: recognised by their repetition over the pages.

A row is furniture only at the edge of its page's text and where other pages have the same: the
same text but for numbers, mostly set apart from the text; a page number that goes up with the
pages; the same text as on another page, at a place where many pages have a row set apart; or a
short text set apart at the place and in the size of most pages' furniture. Of two pages it has to
be at one place, and in letters smaller than those of the text. In letters much larger
than on the other pages the same text is the document's title. Where the edge is does
not matter: a page of three lines has its footer below the third. A table's header
that is repeated on the next pages is not set apart from its rows, and stays.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from statistics import median

from pipelines.readers.printed.frame import Column
from pipelines.readers.printed.page_numbers import labels_of
from pipelines.readers.printed.words import PageWords

_DEEP = 4  # rows looked at from each edge
_MOST_ROWS = 3  # of furniture at an edge; of rows that repeat their text, all
_MOST_WORDS_LOOKED_AT = 240  # in them
_LEAST_PAGES = 3  # with the same
_LEAST_SHARE = 0.27  # of all pages; "See accompanying notes" below each statement is no footer
_SET_APART = 1.55  # of the line's height from its foot to that of the next row
_ROW = 0.45  # of a line's height: feet of one row are less apart
_PLACE = 3.0  # points: furniture of two pages is at the same place
_RUNNING_SHARE = 0.4  # of the pages have a row set apart where chapters have running heads
_FACING = 2  # pages from one to the next on which a running head stands
_SAME_PLACE_SHARE = 0.3  # of the pages have furniture where a text is it by its place alone
_LONGEST = 200  # characters of a row of furniture
_LONGEST_BY_PLACE = 80
_MOST_WORDS_ALONE = 4  # of furniture on a page without any text
_SAME_SIZE = 0.25  # points
_LARGER = 1.3  # times the size of the same text on other pages: a title, of which those remind
_DIGITS = re.compile(r"\d+")

Place = tuple[bool, int, int, int, int]
"""The place of a row: its edge, height, size, and its left, its middle or its right."""


Key = tuple[bool, str]
"""An edge, and what rows of furniture at it have in common."""


@dataclass(eq=False, slots=True)
class EdgeRow:
    """A row at an edge of a page: its words by number and as text, and where it is.

    ``gap`` is from its foot to the foot of the next row inwards, in heights of the row;
    ``is_larger`` tells that its letters are larger than those of that row, ``is_small`` that they
    are smaller than those of the page's text.
    """

    page: int
    at_top: bool
    numbers: list[int]
    words: tuple[str, ...]
    text: str
    foot: float
    left: float
    right: float
    size: float
    gap: float
    is_larger: bool
    is_small: bool

    @property
    def places(self) -> Iterator[Place]:
        """The places of the row: by its height and size, and by its left, middle and right."""
        for kind, x in enumerate((self.left, (self.left + self.right) / 2, self.right)):
            yield self.at_top, *self.level, kind, round(x / _PLACE)

    @property
    def level(self) -> tuple[int, int]:
        """Its height on the page and its size, each rounded."""
        return round(self.foot / _PLACE), round(2 * self.size)


@dataclass(slots=True)
class Furniture:
    """The furniture of a page: the numbers of its words, its rows as text, its page number."""

    numbers: set[int] = field(default_factory=set)
    rows: tuple[str, ...] = ()
    label: str = ""


def edge_rows(page: PageWords, number: int) -> tuple[EdgeRow, ...]:
    """The first and the last rows of a page from its edges inwards; ``number`` is the page's."""
    feet = page.boxes.bottom.tolist()
    order: Sequence[int] = range(len(feet))
    if feet != sorted(feet):
        order = sorted(order, key=feet.__getitem__)
    if 1 in page.aside:
        order = [word for word in order if not page.aside[word]]
    first, last = order[:_MOST_WORDS_LOOKED_AT], order[: -_MOST_WORDS_LOOKED_AT - 1 : -1]
    return (
        *_described(page, number, first, at_top=True),
        *_described(page, number, last, at_top=False),
    )


def _described(
    page: PageWords, number: int, order: Sequence[int], *, at_top: bool
) -> Iterator[EdgeRow]:
    """The rows that are looked at among the words nearest to an edge, in their order from there."""
    lefts, _, rights, feet = page.boxes.columns
    text, starts, ends = page.text, page.starts, page.ends
    rows = list(_rows(order, feet, page.sizes))
    middle = page.sizes[len(page.sizes) // 2] if rows else 0.0
    for row, following in zip(rows[:_DEEP], [*rows[1:], ()], strict=False):
        numbers = sorted(row, key=lefts.__getitem__)
        foot, size = feet[numbers[0]], page.sizes[numbers[len(row) // 2]]
        # where nothing follows, there is nothing that it could be set apart from
        gap = abs(feet[following[0]] - foot) / size if following else 0.0
        first, end = numbers[0], numbers[0] + len(numbers)
        if page.is_plain and len(numbers) <= _LONGEST and numbers == list(range(first, end)):
            words = tuple(text[starts[first] : ends[end - 1]].split())
        else:
            words = tuple([text[starts[n] : ends[n]] for n in numbers[:_LONGEST]])
        right = max([rights[word] for word in numbers])
        yield EdgeRow(
            number, at_top, numbers, words, " ".join(words),
            foot, lefts[numbers[0]], right, size, gap,
            bool(following) and size > page.sizes[following[len(following) // 2]] + _SAME_SIZE,
            size < middle - _SAME_SIZE,
        )  # fmt: skip


def _rows(order: Sequence[int], feet: Column, sizes: Column) -> Iterator[Sequence[int]]:
    """The words of the first rows, one row more than is looked at."""
    starts: list[int] = []
    foot, least = 0.0, -1.0
    for place, word in enumerate(order):
        here = feet[word]
        if not -least <= here - foot <= least:
            starts.append(place)
            if len(starts) > _DEEP + 1:
                break
            foot, least = here, _ROW * sizes[word]
    else:
        starts.append(len(order))
    for first, end in pairwise(starts):
        yield order[first:end]


def furniture_of(edges: Sequence[Sequence[EdgeRow]]) -> list[Furniture]:
    """The furniture of each page, from the edge rows of all of them, numbered from 1."""
    rows = [row for page in edges for row in page if len(row.text) <= _LONGEST]
    labels = labels_of([(row.page, row.words) for row in rows], len(edges))
    known = _Known(dict(zip(rows, labels, strict=True)), len(edges))
    taken = [[row for top in (True, False) for row in _outer(page, top, known)] for page in edges]
    alone = [_numbers(page) <= _numbers(rows) for page, rows in zip(edges, taken, strict=True)]
    beside = Counter(  # pages that are nothing else may be alike; furniture stands beside text too
        key
        for rows, is_alone in zip(taken, alone, strict=True)
        if not is_alone
        for key in {known.keys[row] for row in rows}
    )
    found = []
    for rows, is_alone in zip(taken, alone, strict=True):
        sure = [
            row
            for row in rows
            if not is_alone
            or len(row.words) <= _MOST_WORDS_ALONE
            or beside[known.keys[row]] >= _LEAST_PAGES
        ]
        once = {tuple(row.numbers): row for row in sure}.values()
        furniture = Furniture(rows=tuple(row.text for row in once))
        for row in once:
            furniture.numbers.update(row.numbers)
            furniture.label = furniture.label or known.label(row)
        found.append(furniture)
    return found


def _numbers(rows: Sequence[EdgeRow]) -> set[int]:
    return {number for row in rows for number in row.numbers}


class _Known:
    """The furniture of all pages, known at an edge by text, by page number and by place."""

    def __init__(self, labels: Mapping[EdgeRow, str], pages: int) -> None:
        self._labels = labels
        self.keys = {row: _key(row, label) for row, label in labels.items()}
        self._sides: defaultdict[tuple[int, bool], list[EdgeRow]] = defaultdict(list)
        for row in labels:
            self._sides[row.page, row.at_top].append(row)
        repeated = self._repeated_keys(max(_LEAST_PAGES, _LEAST_SHARE * pages))
        sizes: defaultdict[Key, list[float]] = defaultdict(list)
        for row, key in self.keys.items():
            sizes[key].append(row.size)
        self._sizes = {key: median(sizes[key]) for key in repeated}
        self._running = set(self._running_heads(max(_LEAST_PAGES, _RUNNING_SHARE * pages)))
        if pages == 2:
            self._running.update(self._on_both_pages())
        counts = Counter(place for row in labels if self.is_sure(row) for place in row.places)
        least = max(_LEAST_PAGES, _SAME_PLACE_SHARE * pages)
        self._places = {place for place, count in counts.items() if count >= least}

    def label(self, row: EdgeRow) -> str:
        """The page number in a row, '' where it has none."""
        return self._labels.get(row, "")

    def is_sure(self, row: EdgeRow) -> bool:
        """True where the row is furniture by its text or its page number."""
        if self.is_repeated(row):
            return True
        is_short = len(row.words) <= _MOST_WORDS_ALONE
        return self.label(row) != "" and (is_short or row.gap >= _SET_APART)

    def is_repeated(self, row: EdgeRow) -> bool:
        """True where the row is furniture by its text."""
        usual = self._sizes.get(self.keys[row]) if row in self.keys else None
        return row in self._running or (usual is not None and row.size <= _LARGER * usual)

    def may_be(self, row: EdgeRow) -> bool:
        """True where the row is furniture if what follows is set apart from it."""
        if self.is_sure(row) or self.label(row):
            return True
        return len(row.text) <= _LONGEST_BY_PLACE and not self._places.isdisjoint(row.places)

    def _running_heads(self, least: float) -> Iterator[EdgeRow]:
        """Rows at a level where ``least`` pages have a row set apart, and most a text that a page
        near by has too.

        Letters larger than those of the row below are a heading's: slides repeat theirs.
        """
        heads = [row for side in self._sides.values() for row in takewhile(_is_head, side)]
        on: defaultdict[Key, list[EdgeRow]] = defaultdict(list)
        for row in heads:
            on[self.keys[row]].append(row)
        near = {
            row
            for rows in on.values()
            for one, following in pairwise(rows)
            if 0 < following.page - one.page <= _FACING
            for row in (one, following)
        }
        levels = Counter((row.at_top, *row.level) for row in heads)
        again = Counter((row.at_top, *row.level) for row in near)
        for row in near:
            level = (row.at_top, *row.level)
            if levels[level] >= least and 2 * again[level] >= levels[level]:
                yield row

    def _on_both_pages(self) -> Iterator[EdgeRow]:
        """Rows of a document of two pages, set apart, that both have at one place in small letters.

        A form's heading stands on both as well, in letters as large as the text or larger.
        """
        at: defaultdict[tuple[Key, Place], set[int]] = defaultdict(set)
        for row, key in self.keys.items():
            for place in row.places if row.is_small else ():
                at[key, place].add(row.page)

        def is_on_both(row: EdgeRow) -> bool:
            return any(len(at[self.keys[row], place]) == 2 for place in row.places)

        for side in self._sides.values():
            yield from _set_apart(takewhile(is_on_both, side))

    def _repeated_keys(self, least: float) -> set[Key]:
        """Keys on enough pages, and mostly set apart there."""
        where: defaultdict[Key, set[int]] = defaultdict(set)
        for row, key in self.keys.items():
            where[key].add(row.page)
        often = {key: len(pages) for key, pages in where.items() if len(pages) >= least}
        apart: Counter[Key] = Counter()
        for side in self._sides.values():
            group = takewhile(lambda row: self.keys[row] in often or self._labels[row] != "", side)
            apart.update({self.keys[row] for row in _set_apart(group)})
        return {key for key, count in often.items() if 2 * apart[key] >= count}


def _set_apart(rows: Iterable[EdgeRow]) -> list[EdgeRow]:
    """The rows from an edge inwards up to the last of them that is set apart from what follows."""
    group = list(rows)
    while group and group[-1].gap < _SET_APART:
        group.pop()
    return group


def _key(row: EdgeRow, label: str) -> Key:
    """The part that furniture of two pages shares: edge, and text without its page number.

    Lines of a text that differ in a number alone ("Its 40 farmers come early") are no furniture.
    """
    text = _DIGITS.sub("#", row.text) if label else row.text
    return row.at_top, text.casefold()


def _is_head(row: EdgeRow) -> bool:
    return row.gap >= _SET_APART and not row.is_larger


def _outer(page: Sequence[EdgeRow], at_top: bool, known: _Known) -> list[EdgeRow]:
    """The furniture of one edge: rows from there inwards, as long as they are known."""
    side = [row for row in page if row.at_top == at_top]
    taken = list(takewhile(known.may_be, side))
    while len(taken) > _MOST_ROWS and not known.is_repeated(taken[-1]):
        taken.pop()
    while taken and taken[-1].gap < _SET_APART and not known.is_sure(taken[-1]):
        taken.pop()
    return taken
