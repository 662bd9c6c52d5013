"""Lines of a page: words that stand beside each other, from their boxes alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count, pairwise

from pipelines.readers.printed.frame import picked
from pipelines.readers.printed.words import WordColumns

_SPACE = 0.9  # of the size: a wider gap may be one between columns or cells
_WIDE = 2.5  # of the size: no justified line has such a gap
_BACK = -0.5  # of the size: kerned letters overlap, a word further left starts anew
_SHARED = 0.5  # of the lower one's height: words of a line share at least this


@dataclass(slots=True)
class Line:
    """Words beside each other: ``numbers`` are their places among the words of the page.

    ``size`` is that of most of it, and ``bold`` is whether all of it is. ``is_split`` is whether
    there are wide gaps in it, as between cells.
    """

    numbers: list[int]
    left: float
    top: float
    right: float
    bottom: float
    size: float
    bold: bool
    is_split: bool = False

    def text(self, words: WordColumns) -> str:
        """The words with a space between each two."""
        return " ".join([words.texts[number] for number in self.numbers])


def runs(words: WordColumns, numbers: Sequence[int]) -> list[Line]:
    """Words that follow each other in the file at the distance of a space, as pieces of lines.

    ``numbers`` go up.
    """
    if not numbers:
        return []
    given = list(numbers)
    bounds = [0, *_breaks(words, given), len(given)]
    return [_line(words, given[begin:end]) for begin, end in pairwise(bounds)]


def _breaks(words: WordColumns, numbers: list[int]) -> list[int]:
    """The places in ``numbers`` of words that do not go on after the one before."""
    columns = words.lefts, words.tops, words.rights, words.bottoms, words.sizes
    first, end = numbers[0], numbers[-1] + 1
    if len(numbers) == len(words):
        lefts, tops, rights, bottoms, sizes = columns
    elif end - first == len(numbers):
        lefts, tops, rights, bottoms, sizes = (column[first:end] for column in columns)
    else:
        lefts, tops, rights, bottoms, sizes = (list(picked(column, numbers)) for column in columns)
    # of most pairs this tells at once, as what is compared then only allows for more
    least = min(sizes)
    near, back = _SPACE * least, _BACK * least
    pairs = zip(count(1), lefts[1:], rights, tops[1:], tops, strict=False)
    may_be: Iterable[int] = [
        place
        for place, left, right, top, above in pairs
        if top != above or not back < left - right < near
    ]
    if least <= 1:  # the smallest size that a word has, whatever its height
        may_be = range(1, len(numbers))
    found = []
    for place in may_be:
        smaller, larger = sizes[place - 1], sizes[place]
        if larger < smaller:
            smaller, larger = larger, smaller
        if _BACK * larger < lefts[place] - rights[place - 1] < _SPACE * larger:
            shared = min(bottoms[place], bottoms[place - 1]) - max(tops[place], tops[place - 1])
            if shared > _SHARED * smaller:
                continue
        found.append(place)
    return found


def rows(lines: Iterable[Line]) -> list[list[Line]]:
    """Pieces at one height together, from left to right; the rows from the top down."""
    found: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: line.top + line.bottom):
        if found:
            first = found[-1][0]
            if first.bottom > line.top and shares_height(first, line):
                found[-1].append(line)
                continue
        found.append([line])
    for row in found:
        if len(row) > 1:
            row.sort(key=lambda line: line.left)
    return found


def merged(words: WordColumns, row: Sequence[Line]) -> Line:
    """The pieces of a row as one line."""
    if len(row) == 1:
        return row[0]
    numbers = [number for piece in row for number in piece.numbers]
    gaps = [right.left - left.right for left, right in pairwise(row)]
    if min(gaps) < 0:  # a raised mark in a line
        numbers.sort(key=words.lefts.__getitem__)
    line = _line(words, numbers)
    line.is_split = max(gaps) > _WIDE * line.size
    return line


def shares_height(one: Line, other: Line) -> bool:
    """True where two pieces are at one height."""
    shared = min(one.bottom, other.bottom) - max(one.top, other.top)
    return shared > _SHARED * min(one.bottom - one.top, other.bottom - other.top)


def _line(words: WordColumns, numbers: list[int]) -> Line:
    tops, bottoms, bold = words.tops, words.bottoms, words.bold
    if len(numbers) == 1:  # as cells of tables have it
        (one,) = numbers
        left, right, size = words.lefts[one], words.rights[one], words.sizes[one]
        return Line(numbers, left, tops[one], right, bottoms[one], size, bold[one])
    first, middle, last = numbers[0], numbers[len(numbers) // 2], numbers[-1]
    is_level = tops[first] == tops[middle] == tops[last]
    if is_level and bottoms[first] == bottoms[middle] == bottoms[last]:  # nearly every line
        left, right = words.lefts[first], words.rights[last]
        if left <= words.lefts[last]:
            is_bold = bold[first] and bold[middle] and bold[last]
            return Line(
                numbers, left, tops[first], right, bottoms[first], words.sizes[first], is_bold
            )
    return Line(
        numbers,
        min([words.lefts[number] for number in numbers]),
        min([tops[number] for number in numbers]),
        max([words.rights[number] for number in numbers]),
        max([bottoms[number] for number in numbers]),
        sorted([words.sizes[number] for number in numbers])[len(numbers) // 2],
        all(bold[number] for number in numbers),
    )
