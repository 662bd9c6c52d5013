"""The regions of a page with tables without a grid: lines whose numbers stand in columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from pipelines.readers.printed.table_columns import Columns
from pipelines.readers.printed.table_lines import Line, Piece
from pipelines.readers.printed.table_rules import Drawn
from pipelines.readers.printed.table_values import (
    is_enumerator,
    is_period,
    is_scale,
    is_unfinished_time,
)

_ROWS_APART = 3.6  # of a line's height: from a row of a table to its next
_MOST_BETWEEN = 6  # lines without a number between two rows: groups and labels of several lines
_MOST_PIECES = 100  # of a line; more are a drawing
_BESIDE_LABELS = 40.0  # points from the left of a table to where no label begins
_LONGEST_LABEL = 200  # characters of a line
_LEADS_TO = re.compile(r"\b(?:follows?|following|below|table)\b.*:$", re.IGNORECASE)
_CONTENTS = re.compile(
    r"(?:item|part|note|chapter|section|appendix|annex)\b|\d+(?:\.\d+)*\.?\s", re.I
)


@dataclass(slots=True)
class Region:
    """Lines ``first`` to ``last`` of a page, both included: the rows of a table below its header.

    ``columns`` are those of the numbers.
    """

    first: int
    last: int
    columns: Columns = field(default_factory=Columns)


def is_row(line: Line) -> bool:
    """True where a line has a number apart from its words, and is no item of a list."""
    values = [piece for piece in line.pieces if piece.kind == "value"]
    if not values:
        return False
    if not 1 < len(line.pieces) <= _MOST_PIECES:
        return False
    if len(values) == 1 and values[0] is line.pieces[0]:
        return not (is_enumerator(values[0].text) and values[0].text[-1] == ".")
    return True


def regions_of(lines: Sequence[Line], drawn: Drawn) -> list[Region]:
    """The regions of a page from the top; no two have a line in common."""
    found: list[Region] = []
    current: Region | None = None
    for index, line in enumerate(lines):
        if current and _goes_on(lines, current, index, drawn):
            if _is_row_of(line, current) or _is_bare_total(line, current):
                current.columns.add_row(line)
                current.last = index
        elif is_row(line):
            current = Region(index, index)
            current.columns.add_row(line)
            found.append(current)
        else:
            current = None
    for region in found:
        _without_header(lines, region)
    return [region for region in found if _is_table(lines, region)]


def _without_header(lines: Sequence[Line], region: Region) -> None:
    """Takes lines off the top that are a header with a number in it ("Level 1", "606")."""
    left = min(line.left for line in lines[region.first : region.last + 1])
    while region.first < region.last:
        line = lines[region.first]
        values = [piece.text.strip("()[]") for piece in line.pieces if piece.kind == "value"]
        if line.left < left + _BESIDE_LABELS or not all(v.isdigit() and len(v) < 4 for v in values):
            return
        region.first += 1


def _is_row_of(line: Line, region: Region) -> bool:
    """True where a line is a row of the region; a footnote below it begins with a number, too."""
    first = line.pieces[0]
    is_note = first.kind == "value" and line.pieces[-1].kind == "text" and len(line.pieces) == 2
    return is_row(line) and not (is_note and region.columns.at(first) is None)


def _is_bare_total(line: Line, region: Region) -> bool:
    return all(
        piece.kind != "text" and region.columns.at(piece) is not None for piece in line.pieces
    )


def _goes_on(lines: Sequence[Line], region: Region, index: int, drawn: Drawn) -> bool:
    """True where a line may be inside of the region, or be between two rows of it."""
    line, before = lines[index], lines[index - 1]
    height = max(line.height, before.height)
    if line.top - before.bottom > _ROWS_APART * height or index - region.last > _MOST_BETWEEN + 1:
        return False
    if _is_row_of(line, region):
        return not _begins_another(lines, region, index)
    if _is_bare_total(line, region):
        return not all(piece.kind == "either" for piece in line.pieces)
    return not (is_row(line) or _is_prose(line, region) or _is_header(line, region))


def _begins_another(lines: Sequence[Line], region: Region, index: int) -> bool:
    """True where the numbers of a row stand elsewhere than those of the region."""
    values = [piece for piece in lines[index].pieces if piece.kind == "value"]
    fitting = sum(region.columns.at(piece) is not None for piece in values)
    return index - region.last > 1 and 2 * fitting < len(values) and not fitting


def _is_prose(line: Line, region: Region) -> bool:
    """True where a line runs on where the numbers are, as no label does."""
    first = line.pieces[0]
    if len(line.text) > _LONGEST_LABEL:
        return True
    edge = region.columns.left
    if len(line.pieces) > 1 or first.left >= edge:
        return False
    covered = first.right - edge
    if covered <= 0:
        return False
    return not first.text.endswith(":") and (
        first.text.endswith(".") or covered > 0.4 * (region.columns.right - edge)
    )


def _is_header(line: Line, region: Region) -> bool:
    """True where a line without a row's number names columns anew, or leads to another table."""
    if is_scale(line.text) or _LEADS_TO.search(line.text):
        return True
    inside = [piece for piece in line.pieces if piece.left >= region.columns.left - 12]
    if not inside:
        return False
    label = line.pieces[0] if line.left < region.columns.left - 12 else None
    if label and not (label.bold or is_scale(label.text) or is_unfinished_time(label.text)):
        return all(piece.kind == "either" for piece in inside)
    if any(piece.kind == "either" or is_period(piece.text) for piece in inside):
        return True
    return len(inside) > 1 and not any(map(str.isdigit, "".join(p.text for p in inside)))


def _is_table(lines: Sequence[Line], region: Region) -> bool:
    rows = [line for line in lines[region.first : region.last + 1] if is_row(line)]
    values = [[piece for piece in row.pieces if piece.kind == "value"] for row in rows]
    most = max(map(len, values), default=0)
    if len(rows) < 2 and most < 2:
        return False
    if most > 1:
        return True
    return not (_is_contents(rows, values) or _counts_up(values) or _are_numbered(rows))


def _is_contents(rows: Sequence[Line], values: Iterable[Sequence[Piece]]) -> bool:
    """True where the only number of each line is that of a page."""
    pages = [_whole(row[-1].text) for row in values]
    if any(page is None or page > 5000 for page in pages):
        return False
    numbers = [page for page in pages if page is not None]
    rising = all(one <= other for one, other in pairwise(numbers))
    named = sum(bool(_CONTENTS.match(row.text)) for row in rows)
    return rising and (len(rows) >= 5 or 2 * named >= len(rows))


def _counts_up(values: Iterable[Sequence[Piece]]) -> bool:
    """True where the numbers are those of a list, of equations, or of lines."""
    numbers = [_whole(row[0].text.strip("().[]")) for row in values]
    if any(number is None for number in numbers):
        return False
    known = [number for number in numbers if number is not None]
    return all(other - one == 1 for one, other in pairwise(known))


def _are_numbered(rows: Sequence[Line]) -> bool:
    """True where texts stand behind numbers as sections or exhibits have them ("31.1")."""
    firsts = [row.pieces[0] for row in rows]
    return all(
        first.kind == "value" and first.text.replace(".", "").isdigit() for first in firsts
    ) and all(row.pieces[-1].kind == "text" for row in rows)


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else None
