"""A Markdown table where it stands: the text stays as it is, its cells are spans of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from helix.domain.tables import Cell, Table
from helix.language.sentences import Span
from pipelines.readers.grids import texts_of
from pipelines.readers.table_heads import MOST_COLUMNS, Row
from pipelines.readers.tables import grids_of

_CELL = re.compile(r"(?:[^|\\]|\\.|\\$)*")


def table_in_place(text: str, lines: Sequence[Span], plain: Callable[[str], str]) -> Table | None:
    """The table of these lines of ``text``: headers, a delimiter row, and rows of cells.

    ``plain`` takes the marks off a cell, for what rows and columns are called. None where there is
    no row below the header.
    """
    spans = {number: _cells(text, *span) for number, span in enumerate(lines, 1) if number != 2}
    width = min(MOST_COLUMNS, len(spans[1]))
    rows = [
        # the delimiter row has no number, or the header would end at a gap
        Row(max(1, number - 1), [plain(text[a:b]) for a, b in cells[:width]], is_header=number == 1)
        for number, cells in spans.items()
    ]
    for grid, is_table in grids_of(rows):
        if not is_table:
            continue
        cells = [
            Cell(
                index,
                column,
                *spans[(row.number or 0) + 1][column + width - len(grid.head.columns)],
            )
            for index, row in enumerate(grid.rows)
            for column, entry in enumerate(row.cells)
            if entry.text
        ]
        paths = tuple(texts_of(row.path) for row in grid.rows)
        columns = tuple(map(texts_of, grid.head.columns))
        units = grid.head.units.text
        return Table(lines[0][0], lines[-1][1], paths, columns, tuple(cells), units=units)
    return None


def _cells(text: str, start: int, end: int) -> list[Span]:
    """The spans between the bars of a line; a bar after a backslash is text."""
    while start < end and text[start] in " \t":
        start += 1
    if text[start:end].startswith("|"):
        start += 1
    found: list[Span] = []
    while start < end:
        match = _CELL.match(text, start, end)
        stop = match.end() if match else end
        part = text[start:stop]
        if stop < end or part.strip():
            left = start + len(part) - len(part.lstrip())
            found.append((left, max(left, start + len(part.rstrip()))))
        start = stop + 1
    return found
